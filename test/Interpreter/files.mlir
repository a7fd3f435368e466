// Inputs from .npy files, variables from file ranges and .safetensors files.
// RUN: rm -rf %t && mkdir %t
// RUN: python3 %S/Inputs/make-tensors.py %t
// RUN: ds-interpret %s --function sum --model-dir %t --input 'x=%t/x.npy[1]' --compare 'y=%t/y.npy[1]' | FileCheck %s
// RUN: ds-interpret %s --function sum --model-dir %t --input 'x=%t/x.npy[*]' --compare 'y=%t/y.npy[*]' --steps 2 --quiet | FileCheck %s --check-prefix=STEPS
// RUN: ds-interpret %s --function sum --variables %t/w.safetensors --input x=0 | FileCheck %s --check-prefix=SAFE
// RUN: not ds-interpret %s --function sum --model-dir %t --input x=0 --compare y=5 2>&1 | FileCheck %s --check-prefix=DIFFERS
// RUN: not ds-interpret %s --function sum --model-dir %t --input 'x=%t/x.npy[2]' 2>&1 | FileCheck %s --check-prefix=ENTRY
// RUN: not ds-interpret %s --function outside --model-dir %t 2>&1 | FileCheck %s --check-prefix=OUTSIDE
// RUN: not ds-interpret %s --function beyond --model-dir %t 2>&1 | FileCheck %s --check-prefix=BEYOND

ds.variable @model.w {role = #ds.role<parameter>, initial = #ds.file_range<"w.bin", 4, 12>} : tensor<3xf32>
ds.variable @up {role = #ds.role<parameter>, initial = #ds.file_range<"../w.bin", 4, 12>} : tensor<3xf32>
ds.variable @long {role = #ds.role<parameter>, initial = #ds.file_range<"w.bin", 8, 12>} : tensor<3xf32>

// CHECK: y = [3] 11 22 33
// CHECK: step 0: y: error 0.00e+00
// STEPS: step 0: y: error 0.00e+00
// STEPS: step 1: y: error 0.00e+00
// SAFE: y = [3] 7 8 9
// DIFFERS: error: step 0: y must be within the tolerance of the expected values
// ENTRY: error: input "x": entry 2 must be inside dim 0 of 2
func.func @sum(%x: tensor<3xf32> {ds.name = "x"}) -> (tensor<3xf32> {ds.name = "y"}) {
  %w = ds.read @model.w : tensor<3xf32>
  %y = arith.addf %x, %w : tensor<3xf32>
  return %y : tensor<3xf32>
}

// OUTSIDE: error: 'ds.variable' op path "../w.bin" must stay inside the model's folder
func.func @outside() -> tensor<3xf32> {
  %w = ds.read @up : tensor<3xf32>
  return %w : tensor<3xf32>
}

// BEYOND: error: 'ds.variable' op range [8, +12) must be inside file "w.bin" of 16 bytes
func.func @beyond() -> tensor<3xf32> {
  %w = ds.read @long : tensor<3xf32>
  return %w : tensor<3xf32>
}
