// A label that the program computes is not checked when data are loaded. Written out, the loss of a label that is no class
// and not ignored is NaN, as is its gradient; it is never another class, whatever the width.
// RUN: ds-opt %s --pass-pipeline='builtin.module(func.func(ds-decompose-composites))' -o %t
// RUN: ds-interpret %t --function wide --input x=0,1,2 --input labels=1,-100,3,-1,1099511627777 | FileCheck %s --check-prefix=WIDE
// RUN: ds-interpret %t --function narrow --input x=0 --input labels=1,-100,-1 | FileCheck %s --check-prefix=NARROW

// WIDE: loss = [5] 1.40761 0 nan nan nan
// WIDE: gradient = [5, 3] 0.0900306 -0.755272 0.665241 0 0 0 nan nan nan nan nan nan nan nan nan
func.func @wide(%x: tensor<3xf32> {ds.name = "x"}, %labels: tensor<5xi64> {ds.name = "labels"})
    -> (tensor<5xf32> {ds.name = "loss"}, tensor<5x3xf32> {ds.name = "gradient"}) {
  %one = arith.constant dense<1.0> : tensor<5xf32>
  %rows = ds.broadcast %x {dims = array<i64: 1>} : (tensor<3xf32>) -> tensor<5x3xf32>
  %loss = ds.cross_entropy %rows, %labels {ignore_index = -100 : i64} : (tensor<5x3xf32>, tensor<5xi64>) -> tensor<5xf32>
  %gradient = ds.cross_entropy_grad %rows, %labels, %one {ignore_index = -100 : i64} : (tensor<5x3xf32>, tensor<5xi64>, tensor<5xf32>) -> tensor<5x3xf32>
  return %loss, %gradient : tensor<5xf32>, tensor<5x3xf32>
}

// 300 classes, more than eight bits hold; an ignore_index that no label can have.
// NARROW: loss = [3] 5.70378 nan nan
func.func @narrow(%x: tensor<300xf32> {ds.name = "x"}, %labels: tensor<3xi8> {ds.name = "labels"}) -> (tensor<3xf32> {ds.name = "loss"}) {
  %rows = ds.broadcast %x {dims = array<i64: 1>} : (tensor<300xf32>) -> tensor<3x300xf32>
  %loss = ds.cross_entropy %rows, %labels {ignore_index = -1000 : i64} : (tensor<3x300xf32>, tensor<3xi8>) -> tensor<3xf32>
  return %loss : tensor<3xf32>
}
