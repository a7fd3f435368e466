// RUN: ds-opt %s --ds-verify-kernels | FileCheck %s

// CHECK-LABEL: func.func @elementwise_ops_in_a_kernel
func.func @elementwise_ops_in_a_kernel(%x: tensor<8x4xf32>, %w: tensor<4x4xf32>) -> tensor<8x4xf32> {
  // CHECK: ds.matmul
  %m = ds.matmul %x, %w {indices = "mk,kn->mn"} : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %y = ds.kernel(%m) : (tensor<8x4xf32>) -> tensor<8x4xf32> {
  ^bb0(%a: tensor<8x4xf32>):
    %e = math.exp %a : tensor<8x4xf32>
    ds.yield %e : tensor<8x4xf32>
  }
  return %y : tensor<8x4xf32>
}

// CHECK-LABEL: func.func @constants_outside
func.func @constants_outside() -> tensor<8xf32> {
  // CHECK: arith.constant
  %0 = arith.constant dense<1.0> : tensor<8xf32>
  return %0 : tensor<8xf32>
}
