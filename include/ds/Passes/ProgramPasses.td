// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// The program stage: from a forward function to a training step.

#ifndef DS_PASSES_PROGRAM_PASSES
#define DS_PASSES_PROGRAM_PASSES

include "mlir/Pass/PassBase.td"

def VerifyProgramPass : Pass<"ds-verify-program", "::mlir::ModuleOp"> {
  let summary = "checks what holds at the end of the program stage";
  let description = [{
    Requires: nothing.
    Ensures: only `arith`, `math`, `func`, `scf.for` and `ds` ops that have a layout rule (and reads, assigns and
    constraints) are there; a function reads each variable at most once, before all ops but constants, and assigns it at most once, after
    all others; reads and assigns stand at the top level of a function; arguments have a `ds.name`, results a `ds.name` or a
    `ds.gradient`. Anything else is an error.
  }];
}

#endif // DS_PASSES_PROGRAM_PASSES
