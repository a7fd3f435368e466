// Of a row of equal numbers the mean leaves nothing, though the deviation would make it a thousand times as large.
// RUN: ds-opt %s --check-each-pass --check-tolerance=1e-7 --pass-pipeline='builtin.module(func.func(ds-decompose-composites))' -o %t

func.func @row_of_equal_numbers(%x: tensor<5xf32>, %scale: tensor<3xf32>, %bias: tensor<3xf32>) -> tensor<5x3xf32> {
  %row = ds.broadcast %x {dims = array<i64: 0>} : (tensor<5xf32>) -> tensor<5x3xf32>
  %0 = ds.layer_norm %row, %scale, %bias {epsilon = 1.0e-06 : f64} : (tensor<5x3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<5x3xf32>
  return %0 : tensor<5x3xf32>
}
