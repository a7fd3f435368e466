// RUN: ds-interpret %s --function shapes --input x=0,1,2,3,4,5 | FileCheck %s
// RUN: ds-interpret %s --function reductions --input x=0,1,2,3,4,5 | FileCheck %s --check-prefix=REDUCE
// RUN: ds-interpret %s --function parts --input x=0,1,2,3,4,5,6,7 --input i=1 | FileCheck %s --check-prefix=PARTS
// RUN: ds-interpret %s --function split_parts --input x=0,1,2,3,4,5,6,7 --input i=1 | FileCheck %s --check-prefix=PARTS
ds.mesh @mesh <dp = 3>

// CHECK: transposed = [3, 2] 0 3 1 4 2 5
// CHECK: reshaped = [3, 2] 0 1 2 3 4 5
// CHECK: broadcast = [2, 2, 3] 0 1 2 3 4 5 0 1 2 3 4 5
// CHECK: reversed = [2, 2] 2 0 5 3
// CHECK: padded = [2, 7] 0 0 0 1 0 2 0 0 3 0 4 0 5 0
// CHECK: joined = [2, 5] 0 1 2 2 0 3 4 5 5 3
// CHECK: iota = [2, 3] 0 1 2 0 1 2
func.func @shapes(%x: tensor<2x3xf32> {ds.name = "x"})
    -> (tensor<3x2xf32> {ds.name = "transposed"}, tensor<3x2xf32> {ds.name = "reshaped"}, tensor<2x2x3xf32> {ds.name = "broadcast"},
        tensor<2x2xf32> {ds.name = "reversed"}, tensor<2x7xf32> {ds.name = "padded"}, tensor<2x5xf32> {ds.name = "joined"},
        tensor<2x3xi64> {ds.name = "iota"}) {
  %transposed = ds.transpose %x {permutation = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %reshaped = ds.reshape %x : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %broadcast = ds.broadcast %x {dims = array<i64: 1, 2>} : (tensor<2x3xf32>) -> tensor<2x2x3xf32>
  %reversed = ds.slice %x {offsets = array<i64: 0, 2>, strides = array<i64: 1, -2>} : (tensor<2x3xf32>) -> tensor<2x2xf32>
  %padded = ds.pad %x {low = array<i64: 0, 1>, interior = array<i64: 0, 1>} : (tensor<2x3xf32>) -> tensor<2x7xf32>
  %joined = ds.concat %x, %reversed {dim = 1 : i64} : (tensor<2x3xf32>, tensor<2x2xf32>) -> tensor<2x5xf32>
  %iota = ds.iota {dim = 1 : i64} : () -> tensor<2x3xi64>
  return %transposed, %reshaped, %broadcast, %reversed, %padded, %joined, %iota
      : tensor<3x2xf32>, tensor<3x2xf32>, tensor<2x2x3xf32>, tensor<2x2xf32>, tensor<2x7xf32>, tensor<2x5xf32>, tensor<2x3xi64>
}

// REDUCE: sum = [3] 3 5 7
// REDUCE: max = [2] 2 5
// REDUCE: all = [] 15
func.func @reductions(%x: tensor<2x3xf32> {ds.name = "x"})
    -> (tensor<3xf32> {ds.name = "sum"}, tensor<2xf32> {ds.name = "max"}, tensor<f32> {ds.name = "all"}) {
  %sum = ds.reduce %x {dims = array<i64: 0>, kind = #ds.reduction<sum>} : (tensor<2x3xf32>) -> tensor<3xf32>
  %max = ds.reduce %x {dims = array<i64: 1>, kind = #ds.reduction<max>} : (tensor<2x3xf32>) -> tensor<2xf32>
  %all = ds.reduce %x {dims = array<i64: 0, 1>, kind = #ds.reduction<sum>} : (tensor<2x3xf32>) -> tensor<f32>
  return %sum, %max, %all : tensor<3xf32>, tensor<2xf32>, tensor<f32>
}

// PARTS: part = [4] 4 5 6 7
func.func @parts(%x: tensor<8xi64> {ds.name = "x"}, %i: index {ds.name = "i"}) -> (tensor<4xi64> {ds.name = "part"}) {
  %part = ds.take_part %x[%i] {parts = 2} : tensor<8xi64> -> tensor<4xi64>
  return %part : tensor<4xi64>
}

// Four elements over three ranks: 2, 2, 0.
func.func @split_parts(%x: tensor<8xi64, #ds.layout<[(2)(4{dp})]>> {ds.name = "x"}, %i: index {ds.name = "i"})
    -> (tensor<4xi64, #ds.layout<[{dp}]>> {ds.name = "part"}) {
  %part = ds.take_part %x[%i] {parts = 2} : tensor<8xi64, #ds.layout<[(2)(4{dp})]>> -> tensor<4xi64, #ds.layout<[{dp}]>>
  return %part : tensor<4xi64, #ds.layout<[{dp}]>>
}
