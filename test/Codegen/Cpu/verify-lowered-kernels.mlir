// RUN: ds-opt %s --ds-verify-lowered-kernels | FileCheck %s

// CHECK-LABEL: llvm.func @takes_instructions
llvm.func @takes_instructions(%x: vector<16xf32>) {
  // CHECK: llvm.intr.maximum
  %0 = llvm.intr.sqrt(%x) : (vector<16xf32>) -> vector<16xf32>
  %1 = llvm.intr.maximum(%0, %x) : (vector<16xf32>, vector<16xf32>) -> vector<16xf32>
  llvm.return
}

llvm.func @log(f64) -> f64

// CHECK-LABEL: llvm.func @takes_the_library_for_doubles
llvm.func @takes_the_library_for_doubles(%x: vector<8xf64>, %y: f64) {
  // CHECK: llvm.call @log
  %0 = llvm.intr.exp(%x) : (vector<8xf64>) -> vector<8xf64>
  %1 = llvm.call @log(%y) : (f64) -> f64
  llvm.return
}
