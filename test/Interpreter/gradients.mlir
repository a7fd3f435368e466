// The gradient ops are the derivatives of their forward ops.
// RUN: ds-interpret %s --check-gradients --function attention --tolerance 1e-7 | FileCheck %s --check-prefix=ATTENTION
// RUN: ds-interpret %s --check-gradients --function cross_entropy --tolerance 1e-7
// RUN: ds-interpret %s --check-gradients --function convolution --tolerance 1e-7
// RUN: ds-interpret %s --check-gradients --function grouped_convolution --tolerance 1e-7
// RUN: ds-interpret %s --check-gradients --function max_pool --tolerance 1e-7
// RUN: ds-interpret %s --check-gradients --function gather_rows --tolerance 1e-7
// RUN: ds-interpret %s --check-gradients --function gather_elements --tolerance 1e-7
// RUN: ds-interpret %s --check-gradients --function rotary_embedding --tolerance 1e-7
// RUN: ds-interpret %s --check-gradients --function slice --tolerance 1e-7
// RUN: not ds-interpret %s --check-gradients --function wrong 2>&1 | FileCheck %s --check-prefix=WRONG
// RUN: not ds-interpret %s --check-gradients --function no_gradient 2>&1 | FileCheck %s --check-prefix=NONE

ds.variable @q {role = #ds.role<parameter>} : tensor<2x4x3x5xf64>
ds.variable @k {role = #ds.role<parameter>} : tensor<2x2x4x5xf64>
ds.variable @v {role = #ds.role<parameter>} : tensor<2x2x4x6xf64>

// ATTENTION: gradient of @q: error
// ATTENTION: gradient of @k: error
// ATTENTION: gradient of @v: error
func.func @attention(%bias: tensor<2x1x3x4xf64>, %g: tensor<2x4x3x6xf64>)
    -> (tensor<f64>, tensor<2x4x3x5xf64> {ds.gradient = @q}, tensor<2x2x4x5xf64> {ds.gradient = @k}, tensor<2x2x4x6xf64> {ds.gradient = @v}) {
  %q = ds.read @q : tensor<2x4x3x5xf64>
  %k = ds.read @k : tensor<2x2x4x5xf64>
  %v = ds.read @v : tensor<2x2x4x6xf64>
  %y = ds.attention %q, %k, %v, %bias {scale = 0.7 : f64, causal}
      : (tensor<2x4x3x5xf64>, tensor<2x2x4x5xf64>, tensor<2x2x4x6xf64>, tensor<2x1x3x4xf64>) -> tensor<2x4x3x6xf64>
  %loss = ds.matmul %y, %g {indices = "bhse,bhse->"} : (tensor<2x4x3x6xf64>, tensor<2x4x3x6xf64>) -> tensor<f64>
  %dq, %dk, %dv = ds.attention_grad %q, %k, %v, %g, %bias {scale = 0.7 : f64, causal}
      : (tensor<2x4x3x5xf64>, tensor<2x2x4x5xf64>, tensor<2x2x4x6xf64>, tensor<2x4x3x6xf64>, tensor<2x1x3x4xf64>)
      -> (tensor<2x4x3x5xf64>, tensor<2x2x4x5xf64>, tensor<2x2x4x6xf64>)
  return %loss, %dq, %dk, %dv : tensor<f64>, tensor<2x4x3x5xf64>, tensor<2x2x4x5xf64>, tensor<2x2x4x6xf64>
}

ds.variable @logits {role = #ds.role<parameter>} : tensor<5x7xf64>
func.func @cross_entropy(%labels: tensor<5xi64>, %g: tensor<5xf64>) -> (tensor<f64>, tensor<5x7xf64> {ds.gradient = @logits}) {
  %x = ds.read @logits : tensor<5x7xf64>
  %rows = ds.cross_entropy %x, %labels {ignore_index = -100 : i64} : (tensor<5x7xf64>, tensor<5xi64>) -> tensor<5xf64>
  %loss = ds.matmul %rows, %g {indices = "i,i->"} : (tensor<5xf64>, tensor<5xf64>) -> tensor<f64>
  %d = ds.cross_entropy_grad %x, %labels, %g {ignore_index = -100 : i64} : (tensor<5x7xf64>, tensor<5xi64>, tensor<5xf64>) -> tensor<5x7xf64>
  return %loss, %d : tensor<f64>, tensor<5x7xf64>
}

ds.variable @image {role = #ds.role<parameter>} : tensor<2x3x6x5xf64>
ds.variable @kernel {role = #ds.role<parameter>} : tensor<4x3x3x2xf64>
func.func @convolution(%g: tensor<2x4x3x4xf64>)
    -> (tensor<f64>, tensor<2x3x6x5xf64> {ds.gradient = @image}, tensor<4x3x3x2xf64> {ds.gradient = @kernel}) {
  %x = ds.read @image : tensor<2x3x6x5xf64>
  %w = ds.read @kernel : tensor<4x3x3x2xf64>
  %y = ds.convolution %x, %w {strides = array<i64: 2, 1>, pads = array<i64: 1, 0, 1, 1>, dilations = array<i64: 1, 2>}
      : (tensor<2x3x6x5xf64>, tensor<4x3x3x2xf64>) -> tensor<2x4x3x4xf64>
  %loss = ds.matmul %y, %g {indices = "bchw,bchw->"} : (tensor<2x4x3x4xf64>, tensor<2x4x3x4xf64>) -> tensor<f64>
  %dx = ds.convolution_grad_input %w, %g {strides = array<i64: 2, 1>, pads = array<i64: 1, 0, 1, 1>, dilations = array<i64: 1, 2>}
      : (tensor<4x3x3x2xf64>, tensor<2x4x3x4xf64>) -> tensor<2x3x6x5xf64>
  %dw = ds.convolution_grad_weight %x, %g {strides = array<i64: 2, 1>, pads = array<i64: 1, 0, 1, 1>, dilations = array<i64: 1, 2>}
      : (tensor<2x3x6x5xf64>, tensor<2x4x3x4xf64>) -> tensor<4x3x3x2xf64>
  return %loss, %dx, %dw : tensor<f64>, tensor<2x3x6x5xf64>, tensor<4x3x3x2xf64>
}

ds.variable @signal {role = #ds.role<parameter>} : tensor<2x4x6xf64>
ds.variable @filters {role = #ds.role<parameter>} : tensor<6x2x3xf64>
func.func @grouped_convolution(%g: tensor<2x6x6xf64>)
    -> (tensor<f64>, tensor<2x4x6xf64> {ds.gradient = @signal}, tensor<6x2x3xf64> {ds.gradient = @filters}) {
  %x = ds.read @signal : tensor<2x4x6xf64>
  %w = ds.read @filters : tensor<6x2x3xf64>
  %y = ds.convolution %x, %w {strides = array<i64: 1>, pads = array<i64: 1, 1>, dilations = array<i64: 1>, groups = 2 : i64}
      : (tensor<2x4x6xf64>, tensor<6x2x3xf64>) -> tensor<2x6x6xf64>
  %loss = ds.matmul %y, %g {indices = "bcs,bcs->"} : (tensor<2x6x6xf64>, tensor<2x6x6xf64>) -> tensor<f64>
  %dx = ds.convolution_grad_input %w, %g {strides = array<i64: 1>, pads = array<i64: 1, 1>, dilations = array<i64: 1>, groups = 2 : i64}
      : (tensor<6x2x3xf64>, tensor<2x6x6xf64>) -> tensor<2x4x6xf64>
  %dw = ds.convolution_grad_weight %x, %g {strides = array<i64: 1>, pads = array<i64: 1, 1>, dilations = array<i64: 1>, groups = 2 : i64}
      : (tensor<2x4x6xf64>, tensor<2x6x6xf64>) -> tensor<6x2x3xf64>
  return %loss, %dx, %dw : tensor<f64>, tensor<2x4x6xf64>, tensor<6x2x3xf64>
}

func.func @max_pool(%g: tensor<2x3x3x3xf64>) -> (tensor<f64>, tensor<2x3x6x5xf64> {ds.gradient = @image}) {
  %x = ds.read @image : tensor<2x3x6x5xf64>
  %y = ds.max_pool %x {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>}
      : (tensor<2x3x6x5xf64>) -> tensor<2x3x3x3xf64>
  %loss = ds.matmul %y, %g {indices = "bchw,bchw->"} : (tensor<2x3x3x3xf64>, tensor<2x3x3x3xf64>) -> tensor<f64>
  %dx = ds.max_pool_grad %x, %g {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>}
      : (tensor<2x3x6x5xf64>, tensor<2x3x3x3xf64>) -> tensor<2x3x6x5xf64>
  return %loss, %dx : tensor<f64>, tensor<2x3x6x5xf64>
}

ds.variable @table {role = #ds.role<parameter>} : tensor<5x3xf64>
func.func @gather_rows(%ids: tensor<2x4xi64>, %g: tensor<2x4x3xf64>) -> (tensor<f64>, tensor<5x3xf64> {ds.gradient = @table}) {
  %t = ds.read @table : tensor<5x3xf64>
  %y = ds.gather_rows %t, %ids : (tensor<5x3xf64>, tensor<2x4xi64>) -> tensor<2x4x3xf64>
  %loss = ds.matmul %y, %g {indices = "bsw,bsw->"} : (tensor<2x4x3xf64>, tensor<2x4x3xf64>) -> tensor<f64>
  %d = ds.scatter_add_rows %ids, %g : (tensor<2x4xi64>, tensor<2x4x3xf64>) -> tensor<5x3xf64>
  return %loss, %d : tensor<f64>, tensor<5x3xf64>
}

func.func @gather_elements(%ids: tensor<5x2xi64>, %g: tensor<5x2xf64>) -> (tensor<f64>, tensor<5x3xf64> {ds.gradient = @table}) {
  %t = ds.read @table : tensor<5x3xf64>
  %y = ds.gather_elements %t, %ids {dim = 1 : i64} : (tensor<5x3xf64>, tensor<5x2xi64>) -> tensor<5x2xf64>
  %loss = ds.matmul %y, %g {indices = "ij,ij->"} : (tensor<5x2xf64>, tensor<5x2xf64>) -> tensor<f64>
  %d = ds.scatter_elements %ids, %g {dim = 1 : i64} : (tensor<5x2xi64>, tensor<5x2xf64>) -> tensor<5x3xf64>
  return %loss, %d : tensor<f64>, tensor<5x3xf64>
}

// The adjoint of a rotation is the rotation back.
ds.variable @rows {role = #ds.role<parameter>} : tensor<2x3x4xf64>
func.func @rotary_embedding(%c: tensor<3x2xf64>, %s: tensor<3x2xf64>, %g: tensor<2x3x4xf64>) -> (tensor<f64>, tensor<2x3x4xf64> {ds.gradient = @rows}) {
  %x = ds.read @rows : tensor<2x3x4xf64>
  %y = ds.rotary_embedding %x, %c, %s : (tensor<2x3x4xf64>, tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<2x3x4xf64>
  %loss = ds.matmul %y, %g {indices = "bsw,bsw->"} : (tensor<2x3x4xf64>, tensor<2x3x4xf64>) -> tensor<f64>
  %minus = arith.negf %s : tensor<3x2xf64>
  %d = ds.rotary_embedding %g, %c, %minus : (tensor<2x3x4xf64>, tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<2x3x4xf64>
  return %loss, %d : tensor<f64>, tensor<2x3x4xf64>
}

// The adjoint of a slice is a pad.
func.func @slice(%g: tensor<2x2xf64>) -> (tensor<f64>, tensor<5x3xf64> {ds.gradient = @table}) {
  %t = ds.read @table : tensor<5x3xf64>
  %y = ds.slice %t {offsets = array<i64: 1, 0>, strides = array<i64: 2, 1>} : (tensor<5x3xf64>) -> tensor<2x2xf64>
  %loss = ds.matmul %y, %g {indices = "ij,ij->"} : (tensor<2x2xf64>, tensor<2x2xf64>) -> tensor<f64>
  %d = ds.pad %g {low = array<i64: 1, 0>, interior = array<i64: 1, 0>} : (tensor<2x2xf64>) -> tensor<5x3xf64>
  return %loss, %d : tensor<f64>, tensor<5x3xf64>
}

// WRONG: error: gradient of @table must agree with finite differences
func.func @wrong(%g: tensor<5x3xf64>) -> (tensor<f64>, tensor<5x3xf64> {ds.gradient = @table}) {
  %t = ds.read @table : tensor<5x3xf64>
  %e = math.exp %t : tensor<5x3xf64>
  %loss = ds.matmul %e, %g {indices = "ij,ij->"} : (tensor<5x3xf64>, tensor<5x3xf64>) -> tensor<f64>
  return %loss, %g : tensor<f64>, tensor<5x3xf64>
}

// NONE: error: 'func.func' op must have a result with ds.gradient
func.func @no_gradient(%g: tensor<f64>) -> tensor<f64> {
  return %g : tensor<f64>
}
