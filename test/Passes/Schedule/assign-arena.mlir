// RUN: ds-opt %s --ds-assign-arena --remarks-filter-analyse='ds-.*' --remark-format=emitRemark 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t.remarks

!big = tensor<1024xf32>
!row = tensor<64xf32>
!sum = tensor<64xf32, #ds.layout<[{}], partial = {dp}>>
ds.mesh @mesh <dp = 2>

// CHECK: ds.variable @w {ds.buffer = 0 : i64
ds.variable @w {role = #ds.role<parameter>} : !row

// CHECK:      ds.arena of @step bytes 12288 lower_bound 8704 peak 3 "kernel" largest {{.*}} {
// CHECK-NEXT:   ds.buffer 0 "w" at {{[0-9]+}} bytes 256 live 0 to 7

// REMARK:      remark: [Analysis] arena {{.*}}Remark=12288, Remark=" bytes, at least ", Remark=8704,
// REMARK:      remark: [Analysis] peak {{.*}}Remark="the largest live set is at ", Remark=kernel
// REMARK:      remark: [Analysis] live at the peak {{.*}}Remark=argument, Remark=", ", Remark=4096,
// REMARK:      remark: [Analysis] live at the peak {{.*}}Remark=kernel, Remark=", ", Remark=4096,

// CHECK-LABEL: func.func @step
// CHECK-SAME:  (%{{.*}}: tensor<1024xf32> {ds.buffer = [[X:[0-9]+]] : i64}, %{{.*}}: {{.*}}{ds.buffer = [[G:[0-9]+]] : i64})
func.func @step(%x: !big, %g: !sum) -> !big {
  // A read renames the variable's memory.
  // CHECK: ds.read @w {ds.buffers = array<i64: 0>}
  %w = ds.read @w : !row
  // The collective's destination is its own.
  // CHECK: ds.wait {{.*}} {ds.buffers = array<i64: [[SUMMED:[0-9]+]]>}
  %t = ds.start all_reduce %g over "dp" : !sum -> [!row]
  %r = ds.wait %t, %g : !sum -> !row
  // The argument is not written over; its copy is, in the next kernel.
  // CHECK: ds.kernel{{.*}} attributes {ds.buffers = array<i64: [[A:[0-9]+]]>}
  %a = ds.kernel(%x) : (!big) -> !big {
  ^bb0(%0: !big):
    %1 = math.exp %0 : !big
    ds.yield %1 : !big
  }
  // CHECK: ds.kernel{{.*}} attributes {ds.buffers = array<i64: [[A]]>}
  %b = ds.kernel(%a) : (!big) -> !big {
  ^bb0(%0: !big):
    %1 = math.sin %0 : !big
    ds.yield %1 : !big
  }
  // The new value of the variable takes the place of the old one.
  // CHECK: ds.kernel{{.*}} attributes {ds.buffers = array<i64: 0>}
  %n = ds.kernel(%w, %r) : (!row, !row) -> !row {
  ^bb0(%0: !row, %1: !row):
    %2 = arith.addf %0, %1 : !row
    ds.yield %2 : !row
  }
  ds.assign @w, %n : !row
  return %b : !big
}
