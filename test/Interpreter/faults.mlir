// Programs that a type checker refuses give wrong values or unequal copies here.
// RUN: ds-interpret %s --function plain --random > %t.plain
// RUN: ds-interpret %s --function relu_of_summands --random > %t.relu
// RUN: not diff %t.plain %t.relu
// RUN: not ds-interpret %s --function missing_all_reduce --random 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: not ds-interpret %s --function unknown_op --random 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not ds-interpret %s --function no_input 2>&1 | FileCheck %s --check-prefix=INPUT
// RUN: not ds-interpret %s --function out_of_range --input ids=7 --random 2>&1 | FileCheck %s --check-prefix=RANGE
// RUN: not ds-interpret %s --function flat_broadcast --random 2>&1 | FileCheck %s --check-prefix=FLAT
ds.mesh @mesh <tp = 2>

func.func @plain(%x: tensor<8xf32> {ds.name = "x"}) -> (tensor<8xf32> {ds.name = "y"}) {
  %zero = arith.constant dense<0.0> : tensor<8xf32>
  %y = arith.maximumf %x, %zero : tensor<8xf32>
  return %y : tensor<8xf32>
}

!summands = tensor<8xf32, #ds.layout<[{}], partial = {tp}>>
func.func @relu_of_summands(%x: !summands {ds.name = "x"}) -> (!summands {ds.name = "y"}) {
  %zero = arith.constant dense<0.0> : !summands
  %y = arith.maximumf %x, %zero : !summands
  return %y : !summands
}

// MISSING: error: ds.reduce must give equal copies on all ranks: ranks 0 and 1 must have equal bits
func.func @missing_all_reduce(%x: tensor<8xf32, #ds.layout<[{tp}]>> {ds.name = "x"}) -> tensor<f32> {
  %sum = ds.reduce %x {dims = array<i64: 0>, kind = #ds.reduction<sum>} : (tensor<8xf32, #ds.layout<[{tp}]>>) -> tensor<f32>
  return %sum : tensor<f32>
}

// UNKNOWN: error: 'math.cbrt' op has no semantics in the interpreter
func.func @unknown_op(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = math.cbrt %x : tensor<8xf32>
  return %y : tensor<8xf32>
}

// INPUT: error: has no value for input "x"
func.func @no_input(%x: tensor<8xf32> {ds.name = "x"}) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}

// RANGE: error: 'ds.gather_rows' op id must be in [-4, 4), got 7 (on rank 0)
func.func @out_of_range(%table: tensor<4x2xf32>, %ids: tensor<1xi64> {ds.name = "ids"}) -> tensor<1x2xf32> {
  %y = ds.gather_rows %table, %ids : (tensor<4x2xf32>, tensor<1xi64>) -> tensor<1x2xf32>
  return %y : tensor<1x2xf32>
}

// FLAT: error: 'ds.broadcast' op a tensor that is broadcast must not be flat, nor the result unless a scalar fills it (on rank 0)
func.func @flat_broadcast(%x: tensor<4xf32>, %s: tensor<f32>) -> tensor<3x4xf32, #ds.layout<[{}, {}], flat = {tp}>> {
  %a = ds.broadcast %s {dims = array<i64>} : (tensor<f32>) -> tensor<3x4xf32, #ds.layout<[{}, {}], flat = {tp}>>
  %b = ds.broadcast %x {dims = array<i64: 1>} : (tensor<4xf32>) -> tensor<3x4xf32, #ds.layout<[{}, {}], flat = {tp}>>
  return %b : tensor<3x4xf32, #ds.layout<[{}, {}], flat = {tp}>>
}
