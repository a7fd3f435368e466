// RUN: ds-opt %s --verify-roundtrip | FileCheck %s

// CHECK:      ds.arena of @step bytes 8192 lower_bound 4352 peak 1 "matmul" largest [0, 1] {
// CHECK-NEXT:   ds.buffer 0 "weight" at 0 bytes 4096 live 0 to 1
// CHECK-NEXT:   ds.buffer 1 "empty shard" at 8192 bytes 0 live 1 to 1
// CHECK-NEXT: }
ds.arena of @step bytes 8192 lower_bound 4352 peak 1 "matmul" largest [0, 1] {
  ds.buffer 0 "weight" at 0 bytes 4096 live 0 to 1
  ds.buffer 1 "empty shard" at 8192 bytes 0 live 1 to 1
}

// CHECK-LABEL: func.func @step() {
func.func @step() {
  return
}
