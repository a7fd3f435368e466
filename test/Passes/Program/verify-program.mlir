// RUN: ds-opt %s --ds-verify-program | FileCheck %s

ds.variable @w {role = #ds.role<parameter>} : tensor<4xf32>

// CHECK-LABEL: func.func @accepts_constants_before_reads
func.func @accepts_constants_before_reads(%x: tensor<4xf32> {ds.name = "x"}) -> (tensor<4xf32> {ds.name = "y"}) {
  %one = arith.constant dense<1.0> : tensor<4xf32>
  %w = ds.read @w : tensor<4xf32>
  %y = arith.addf %w, %one : tensor<4xf32>
  ds.assign @w, %y : tensor<4xf32>
  return %x : tensor<4xf32>
}
