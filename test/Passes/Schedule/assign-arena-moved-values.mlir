// RUN: ds-opt %s --pass-pipeline='builtin.module(ds-assign-arena,func.func(ds-verify-schedule))' | FileCheck %s

// A new value of a variable whose old one is still read cannot take its place: ds.assign copies it at the end. Until then no other result may
// lie where it lies, a result of the same kernel least of all.
!row = tensor<64xf32>
ds.variable @w {role = #ds.role<parameter>} : !row

// CHECK-LABEL: func.func @step
func.func @step(%x: !row) -> !row {
  %w = ds.read @w : !row
  %a = ds.kernel(%x) : (!row) -> !row {
  ^bb0(%0: !row):
    %1 = math.exp %0 : !row
    ds.yield %1 : !row
  }
  // CHECK: ds.kernel{{.*}} {ds.buffers = array<i64: [[NEW:[0-9]+]], [[OTHER:[0-9]+]]>}
  %n:2 = ds.kernel(%a, %w) : (!row, !row) -> (!row, !row) {
  ^bb0(%0: !row, %1: !row):
    %2 = arith.addf %0, %1 : !row
    %3 = arith.mulf %0, %1 : !row
    ds.yield %2, %3 : !row, !row
  }
  // CHECK: ds.kernel{{.*}} {ds.buffers = array<i64: [[OTHER]]>}
  %y = ds.kernel(%n#1, %w) : (!row, !row) -> !row {
  ^bb0(%0: !row, %1: !row):
    %2 = arith.addf %0, %1 : !row
    ds.yield %2 : !row
  }
  // CHECK: ds.assign @w
  ds.assign @w, %n#0 : !row
  return %y : !row
}
