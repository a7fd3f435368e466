// RUN: ds-opt %s --split-input-file --verify-diagnostics --ds-verify-lowered-kernels

llvm.func @allocates(%n: i64) {
  // expected-error @below {{'llvm.alloca' op must not allocate or copy in a kernel}}
  %0 = llvm.alloca %n x f32 : (i64) -> !llvm.ptr
  llvm.return
}

// -----

llvm.func @copies(%p: !llvm.ptr, %n: i64) {
  // expected-error @below {{'llvm.intr.memcpy' op must not allocate or copy in a kernel}}
  "llvm.intr.memcpy"(%p, %p, %n) <{isVolatile = false}> : (!llvm.ptr, !llvm.ptr, i64) -> ()
  llvm.return
}

// -----

llvm.func @malloc(i64) -> !llvm.ptr
llvm.func @calls(%n: i64) {
  // expected-error @below {{'llvm.call' op must not call a function in a kernel}}
  %0 = llvm.call @malloc(%n) : (i64) -> !llvm.ptr
  llvm.return
}

// -----

llvm.func @function_of_libm_in_f32(%x: vector<16xf32>) {
  // expected-error @below {{'llvm.intr.exp' op must not call a function in a kernel}}
  %0 = llvm.intr.exp(%x) : (vector<16xf32>) -> vector<16xf32>
  llvm.return
}

// -----

llvm.func @left_in_another_dialect(%x: f32) {
  // expected-error @below {{'arith.addf' op must be in LLVM's dialect in a lowered kernel}}
  %0 = arith.addf %x, %x : f32
  llvm.return
}
