// RUN: ds-opt %s --check-each-pass --canonicalize --cse | FileCheck %s
// RUN: not ds-opt %s --check-each-pass --canonicalize --test-ds-break-values --cse 2>&1 | FileCheck %s --check-prefix=BROKEN
// RUN: not ds-opt %s --check-each-pass --pass-pipeline='builtin.module(func.func(canonicalize,test-ds-break-values))' 2>&1 | FileCheck %s --check-prefix=BROKEN
// RUN: ds-opt %s --test-ds-break-values | FileCheck %s --check-prefix=UNSEEN

// CHECK-LABEL: func.func @adds_twice
// CHECK-COUNT-1: arith.addf
// CHECK-NOT:     arith.addf
// BROKEN: error: pass "test-ds-break-values" must keep the values of @adds_twice, but changed result "y" by {{[0-9.e+-]+}} of its largest entry
// BROKEN-NOT: error
// UNSEEN: arith.subf
ds.variable @w {role = #ds.role<parameter>} : tensor<4x2xf32>
func.func @adds_twice(%x: tensor<3xi64> {ds.name = "x"}) -> (tensor<3x2xf32> {ds.name = "y"}) {
  %w = ds.read @w : tensor<4x2xf32>
  %a = ds.gather_rows %w, %x : (tensor<4x2xf32>, tensor<3xi64>) -> tensor<3x2xf32>
  %b = ds.gather_rows %w, %x : (tensor<4x2xf32>, tensor<3xi64>) -> tensor<3x2xf32>
  %y = arith.addf %a, %b : tensor<3x2xf32>
  return %y : tensor<3x2xf32>
}
