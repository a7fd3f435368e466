// RUN: ds-opt %s --verify-roundtrip | FileCheck %s

// CHECK: ds.variable @"model::wte.weight" {initial = #ds.file_range<"train.onnx", 64, 512>, role = #ds.role<parameter>} : tensor<32x4xf32>
ds.variable @"model::wte.weight" {role = #ds.role<parameter>, initial = #ds.file_range<"train.onnx", 64, 512>} : tensor<32x4xf32>
ds.variable @running_mean {role = #ds.role<buffer>} : tensor<4xf32>

// CHECK-LABEL: func.func @reads_once_and_assigns_at_the_end
func.func @reads_once_and_assigns_at_the_end() -> tensor<32x4xf32> {
  // CHECK: ds.read @"model::wte.weight"
  %w = ds.read @"model::wte.weight" : tensor<32x4xf32>
  %m = ds.read @running_mean : tensor<4xf32>
  // CHECK: ds.assign @running_mean
  ds.assign @running_mean, %m : tensor<4xf32>
  return %w : tensor<32x4xf32>
}
