// RUN: ds-opt %s --ds-assign-data-parallel | FileCheck %s
// RUN: ds-opt %s --ds-assign-data-parallel=axis=tp | FileCheck %s --check-prefix=AXIS
// RUN: not ds-opt %s --ds-assign-data-parallel=axis=pp 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// UNKNOWN: error: the mesh has no axis "pp"
ds.mesh @mesh <dp = 2, tp = 2>

// CHECK-LABEL: func.func @spreads_the_samples
// CHECK-SAME:  tensor<8x4xf32> {ds.layout = #ds.layout<[{dp}, {}]>, ds.name = "x"}
// AXIS-LABEL:  func.func @spreads_the_samples
// AXIS-SAME:   tensor<8x4xf32> {ds.layout = #ds.layout<[{tp}, {}]>, ds.name = "x"}
func.func @spreads_the_samples(%x: tensor<8x4xf32> {ds.name = "x"}) {
  return
}

// CHECK-LABEL: func.func @cuts_parts_in_sample_order
// CHECK-SAME:  tensor<8x4xf32> {ds.layout = #ds.layout<[(2)(4{dp}), {}]>, ds.name = "x"}
func.func @cuts_parts_in_sample_order(%x: tensor<8x4xf32> {ds.name = "x"}, %i: index) -> tensor<4x4xf32> {
  %0 = ds.take_part %x[%i] {parts = 2} : tensor<8x4xf32> -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// CHECK-LABEL: func.func @leaves_scalars_hints_and_unnamed_arguments_alone
// CHECK-SAME:  (%{{.*}}: tensor<f32> {ds.name = "rate"}, %{{.*}}: tensor<8x4xf32> {ds.layout = #ds.layout<[{}, {tp}]>, ds.name = "x"}, %{{.*}}: tensor<8xf32>)
func.func @leaves_scalars_hints_and_unnamed_arguments_alone(
    %rate: tensor<f32> {ds.name = "rate"}, %x: tensor<8x4xf32> {ds.name = "x", ds.layout = #ds.layout<[{}, {tp}]>}, %y: tensor<8xf32>) {
  return
}
