// RUN: ds-interpret %s --function floats --input x=-1.5,0,2.5 | FileCheck %s --check-prefix=FLOATS
// RUN: ds-interpret %s --function integers --input x=-7,3,127 | FileCheck %s --check-prefix=INTEGERS
// RUN: ds-interpret %s --function activations --input x=-1,0,2 | FileCheck %s --check-prefix=ACTIVATIONS
// RUN: ds-interpret %s --function rounds --input x=0.1 --round f32 | FileCheck %s --check-prefix=ROUNDS
// RUN: ds-interpret %s --function rounds --input x=0.1 | FileCheck %s --check-prefix=EXACT

// FLOATS: sum = [3] -0.5 1 3.5
// FLOATS: exp = [3] 0.22313 1 12.1825
// FLOATS: positive = [3] 0 0 1
// FLOATS: relu = [3] 0 0 2.5
// FLOATS: integer = [3] -1 0 2
func.func @floats(%x: tensor<3xf32> {ds.name = "x"})
    -> (tensor<3xf32> {ds.name = "sum"}, tensor<3xf32> {ds.name = "exp"}, tensor<3xi1> {ds.name = "positive"},
        tensor<3xf32> {ds.name = "relu"}, tensor<3xi32> {ds.name = "integer"}) {
  %one = arith.constant dense<1.0> : tensor<3xf32>
  %zero = arith.constant dense<0.0> : tensor<3xf32>
  %sum = arith.addf %x, %one : tensor<3xf32>
  %exp = math.exp %x : tensor<3xf32>
  %positive = arith.cmpf ogt, %x, %zero : tensor<3xf32>
  %relu = arith.select %positive, %x, %zero : tensor<3xi1>, tensor<3xf32>
  %integer = arith.fptosi %x : tensor<3xf32> to tensor<3xi32>
  return %sum, %exp, %positive, %relu, %integer : tensor<3xf32>, tensor<3xf32>, tensor<3xi1>, tensor<3xf32>, tensor<3xi32>
}

// INTEGERS: wrapped = [3] -6 4 -128
// INTEGERS: floored = [3] -4 1 63
// INTEGERS: remainder = [3] -1 1 1
// INTEGERS: unsigned = [3] 249 3 127
// INTEGERS: above = [3] 1 0 0
func.func @integers(%x: tensor<3xi8> {ds.name = "x"})
    -> (tensor<3xi8> {ds.name = "wrapped"}, tensor<3xi8> {ds.name = "floored"}, tensor<3xi8> {ds.name = "remainder"},
        tensor<3xi32> {ds.name = "unsigned"}, tensor<3xi1> {ds.name = "above"}) {
  %one = arith.constant dense<1> : tensor<3xi8>
  %two = arith.constant dense<2> : tensor<3xi8>
  %high = arith.constant dense<127> : tensor<3xi8>
  %wrapped = arith.addi %x, %one : tensor<3xi8>
  %floored = arith.floordivsi %x, %two : tensor<3xi8>
  %remainder = arith.remsi %x, %two : tensor<3xi8>
  %unsigned = arith.extui %x : tensor<3xi8> to tensor<3xi32>
  %above = arith.cmpi ugt, %x, %high : tensor<3xi8>
  return %wrapped, %floored, %remainder, %unsigned, %above : tensor<3xi8>, tensor<3xi8>, tensor<3xi8>, tensor<3xi32>, tensor<3xi1>
}

// ACTIVATIONS: erf = [3] -0.158655 0 1.9545
// ACTIVATIONS: tanh = [3] -0.158808 0 1.9546
// ACTIVATIONS: silu = [3] -0.268941 0 1.76159
func.func @activations(%x: tensor<3xf32> {ds.name = "x"})
    -> (tensor<3xf32> {ds.name = "erf"}, tensor<3xf32> {ds.name = "tanh"}, tensor<3xf32> {ds.name = "silu"}) {
  %erf = ds.gelu %x {kind = #ds.gelu_kind<erf>} : (tensor<3xf32>) -> tensor<3xf32>
  %tanh = ds.gelu %x {kind = #ds.gelu_kind<tanh>} : (tensor<3xf32>) -> tensor<3xf32>
  %silu = ds.silu %x : (tensor<3xf32>) -> tensor<3xf32>
  return %erf, %tanh, %silu : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
}

// ROUNDS: error = [] 0
// EXACT: error = [] 1.49012e-09
func.func @rounds(%x: tensor<f64> {ds.name = "x"}) -> (tensor<f64> {ds.name = "error"}) {
  %f32 = arith.truncf %x : tensor<f64> to tensor<f32>
  %f64 = arith.extf %f32 : tensor<f32> to tensor<f64>
  %tenth = arith.constant dense<0.10000000149011612> : tensor<f64>
  %error = arith.subf %tenth, %f64 : tensor<f64>
  return %error : tensor<f64>
}
