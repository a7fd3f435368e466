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

// A rotation, and a product that adds to what is there, may write over that operand.

ds.arena of @works_in_place bytes 896 lower_bound 0 peak 0 "" largest [] {
  ds.buffer 0 "x" at 0 bytes 256 live 0 to 2
  ds.buffer 1 "angles" at 256 bytes 128 live 0 to 2
  ds.buffer 2 "a" at 384 bytes 256 live 0 to 2
  ds.buffer 3 "b" at 640 bytes 256 live 0 to 2
}
// CHECK-LABEL: func.func @works_in_place
func.func @works_in_place(%x: tensor<8x8xf32> {ds.buffer = 0 : i64}, %angles: tensor<8x4xf32> {ds.buffer = 1 : i64},
                          %a: tensor<8x8xf32> {ds.buffer = 2 : i64},
                          %b: tensor<8x8xf32> {ds.buffer = 3 : i64}) -> tensor<8x8xf32> {
  // CHECK: ds.rotary_embedding {{.*}}ds.buffers = array<i64: 0>
  // CHECK: ds.fused_matmul {{.*}}ds.buffers = array<i64: 0>
  %r = ds.rotary_embedding %x, %angles, %angles {ds.buffers = array<i64: 0>}
      : (tensor<8x8xf32>, tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x8xf32>
  %y = ds.fused_matmul %a, %b, %r {indices = "sk,kn->sn", operandSegmentSizes = array<i32: 1, 1, 0, 1>, ds.buffers = array<i64: 0>}
      : (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}
