// RUN: ds-opt %s --ds-verify-schedule | FileCheck %s

ds.mesh @mesh <dp = 2>

// CHECK-LABEL: func.func @a_start_with_its_wait_and_work_in_kernels
func.func @a_start_with_its_wait_and_work_in_kernels(%x: tensor<8xf32, #ds.layout<[{}], partial = {dp}>>) -> tensor<8xf32> {
  // CHECK: ds.start all_reduce
  // CHECK: ds.wait
  // CHECK: ds.kernel
  %t = ds.start all_reduce %x over "dp" : tensor<8xf32, #ds.layout<[{}], partial = {dp}>> -> [tensor<8xf32>]
  %w = ds.wait %t, %x : tensor<8xf32, #ds.layout<[{}], partial = {dp}>> -> tensor<8xf32>
  %k = ds.kernel(%w) : (tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%a: tensor<8xf32>):
    %e = math.exp %a : tensor<8xf32>
    ds.yield %e : tensor<8xf32>
  }
  return %k : tensor<8xf32>
}

// CHECK-LABEL: func.func @leaves_index_arithmetic_and_constants_alone
func.func @leaves_index_arithmetic_and_constants_alone(%i: index) -> tensor<8xf32> {
  // CHECK: arith.addi
  %c1 = arith.constant 1 : index
  %j = arith.addi %i, %c1 : index
  %0 = arith.constant dense<1.0> : tensor<8xf32>
  return %0 : tensor<8xf32>
}
