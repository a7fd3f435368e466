// RUN: ds-opt %s --ds-build-mesh=axes=dp=4,tp=2 | FileCheck %s --check-prefixes=CHECK,GIVEN --implicit-check-not=ds.mesh
// RUN: ds-opt %s --ds-build-mesh=axes=tp=2,dp=4 | FileCheck %s --check-prefixes=CHECK,SWAPPED --implicit-check-not=ds.mesh
// RUN: ds-opt %s --ds-build-mesh | FileCheck %s --check-prefixes=CHECK,DEFAULT --implicit-check-not=ds.mesh
// RUN: ds-opt %s --ds-build-mesh=axes=dp=4,tp=2 | ds-opt --ds-build-mesh=axes=dp=4,tp=2 | FileCheck %s --check-prefixes=CHECK,GIVEN --implicit-check-not=ds.mesh

// The first axis is major; a mesh that says the same is left as the only one.
// GIVEN:   ds.mesh @mesh <dp = 4, tp = 2>{{$}}
// SWAPPED: ds.mesh @mesh <tp = 2, dp = 4>{{$}}
// DEFAULT: ds.mesh @mesh <dp = 1>{{$}}

// CHECK-NEXT: ds.variable @w {role = #ds.role<buffer>} : tensor<8xf32>{{$}}
ds.variable @w {role = #ds.role<buffer>} : tensor<8xf32>

// CHECK-NEXT: func.func @is_left_alone(%[[X:.*]]: tensor<8xf32>) -> tensor<8xf32> {
func.func @is_left_alone(%x: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK-NEXT: return %[[X]]
  return %x : tensor<8xf32>
}
