// RUN: ds-opt %s --split-input-file --verify-diagnostics --ds-verify-kernels

func.func @exp_outside_of_a_kernel(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{'math.exp' op must be inside a ds.kernel}}
  %0 = math.exp %x : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @broadcast_outside_of_a_kernel(%x: tensor<4xf32>) -> tensor<8x4xf32> {
  // expected-error @below {{'ds.broadcast' op must be inside a ds.kernel}}
  %0 = ds.broadcast %x {dims = array<i64: 1>} : (tensor<4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

func.func @composite(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  // expected-error @below {{'ds.softmax' op must be decomposed}}
  %0 = ds.softmax %x {dim = 1 : i64} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

func.func @kernel_that_uses_a_fold(%x: tensor<8x4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'ds.kernel' op must only yield what it folds over rows}}
  %0 = ds.kernel(%x) : (tensor<8x4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<8x4xf32>):
    %s = ds.reduce %a {dims = array<i64: 0>, kind = #ds.reduction<sum>} : (tensor<8x4xf32>) -> tensor<4xf32>
    %e = math.exp %s : tensor<4xf32>
    ds.yield %e : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}
