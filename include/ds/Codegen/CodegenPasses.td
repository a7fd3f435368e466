// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// The passes that code generators run on kernels.

#ifndef DS_CODEGEN_PASSES
#define DS_CODEGEN_PASSES

include "mlir/Pass/PassBase.td"

def VerifyLoweredKernelsPass : Pass<"ds-verify-lowered-kernels", "::mlir::ModuleOp"> {
  let summary = "checks that lowered kernels neither allocate, copy nor call";
  let description = [{
    Requires: a module of kernels, lowered to LLVM's dialect.
    Ensures: every op is of LLVM's dialect; there is no allocation, no copy, no call, and no operation for which LLVM calls a function
    of libm. Functions of f64 may call it, as there are no polynomials for them. Changes nothing.

    ```mlir
    // refused: a kernel must not call
    %y = llvm.call @expf(%x) : (f32) -> f32
    ```
  }];
}

#endif // DS_CODEGEN_PASSES
