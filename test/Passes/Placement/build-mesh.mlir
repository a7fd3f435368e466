// RUN: ds-opt %s --ds-build-mesh=axes=dp=4,tp=2 | FileCheck %s
// RUN: ds-opt %s --ds-build-mesh | FileCheck %s --check-prefix=DEFAULT
// RUN: ds-opt %s --ds-build-mesh=axes=dp=4,tp=2 | ds-opt --ds-build-mesh=axes=dp=4,tp=2 | FileCheck %s

// The first axis is major; a mesh that says the same is left as the only one.
// CHECK-COUNT-1: ds.mesh @mesh <dp = 4, tp = 2>
// CHECK-NOT:     ds.mesh
// DEFAULT-COUNT-1: ds.mesh @mesh <dp = 1>

// CHECK: ds.variable @w
ds.variable @w {role = #ds.role<buffer>} : tensor<8xf32>

// CHECK: func.func @is_left_alone(%[[X:.*]]: tensor<8xf32>)
func.func @is_left_alone(%x: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK-NEXT: return %[[X]]
  return %x : tensor<8xf32>
}
