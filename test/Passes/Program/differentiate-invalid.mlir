// RUN: ds-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(ds-differentiate)'

// expected-error @below {{must have the loss as its one result, got 2 results}}
func.func @forward(%x: tensor<f32> {ds.name = "x"}) -> (tensor<f32> {ds.name = "a"}, tensor<f32> {ds.name = "b"}) {
  return %x, %x : tensor<f32>, tensor<f32>
}

// -----

// expected-error @below {{loss must be a scalar float tensor, got 'tensor<2xf32>'}}
func.func @forward(%x: tensor<2xf32> {ds.name = "x"}) -> (tensor<2xf32> {ds.name = "loss"}) {
  return %x : tensor<2xf32>
}

// -----

ds.variable @w {role = #ds.role<parameter>} : tensor<f32>
func.func @forward() -> (tensor<f32> {ds.name = "loss"}) {
  %w = ds.read @w : tensor<f32>
  // expected-error @below {{'math.atan' op has no gradient rule, but the loss depends on a trainable variable through it}}
  %y = math.atan %w : tensor<f32>
  return %y : tensor<f32>
}

// -----

ds.variable @w {role = #ds.role<parameter>} : tensor<2xf32>
func.func @forward() -> (tensor<f32> {ds.name = "loss"}) {
  %w = ds.read @w : tensor<2xf32>
  // expected-error @below {{'ds.slice' op with a stride of 0 has no gradient}}
  %x = ds.slice %w {offsets = array<i64: 1>, strides = array<i64: 0>} : (tensor<2xf32>) -> tensor<3xf32>
  %y = ds.reduce %x {dims = array<i64: 0>, kind = #ds.reduction<sum>} : (tensor<3xf32>) -> tensor<f32>
  return %y : tensor<f32>
}
