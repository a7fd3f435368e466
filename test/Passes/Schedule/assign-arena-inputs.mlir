// RUN: ds-opt %s --ds-assign-arena | FileCheck %s
// An input is in memory when the first instruction runs, even if nothing reads it: until then a read and a constant, which
// are no instructions, do not end its life.

!row = tensor<64xf32>
ds.mesh @mesh <dp = 1>
ds.variable @w {role = #ds.role<parameter>} : !row

// CHECK: ds.buffer {{[0-9]+}} "argument" at {{[0-9]+}} bytes 256 live 0 to 2
func.func @step(%unused: !row) -> !row {
  %w = ds.read @w : !row
  %c = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %a = ds.kernel(%w) : (!row) -> !row {
  ^bb0(%0: !row):
    %1 = math.exp %0 : !row
    ds.yield %1 : !row
  }
  %b = ds.kernel(%a) : (!row) -> !row {
  ^bb0(%0: !row):
    %1 = math.sin %0 : !row
    ds.yield %1 : !row
  }
  return %b : !row
}
