// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// The import stage: from an imported program to one with composites.

#ifndef DS_PASSES_IMPORT_PASSES
#define DS_PASSES_IMPORT_PASSES

include "mlir/Pass/PassBase.td"

def RecognizeCompositesPass : Pass<"ds-recognize-composites", "::mlir::ModuleOp"> {
  let summary = "finds composite ops again in the spellings of exporters";
  let description = [{
    Requires: equal values are one value (`cse`), as matching compares values.
    Ensures: LayerNorm, RMSNorm, GELU (erf and tanh), sigmoid, SiLU, logarithms of sigmoids, rotary embedding and softmax attention that are
    spelt in primitives become `ds.layer_norm`, `ds.rms_norm`, `ds.gelu`, `ds.sigmoid`, `ds.silu`, `ds.softplus`, `ds.rotary_embedding` and `ds.attention`.
    Values are unchanged up to rounding. Masks that hide exactly the future become `causal`; others that do not depend on
    variables become the bias. Repeated key heads are taken back.

    ```mlir
    %n = arith.negf %x                   // before
    %e = math.exp %n
    %d = arith.addf %e, %one
    %s = arith.divf %one, %d
    %y = arith.mulf %x, %s
    %y = ds.silu %x : ...                // after
    ```
  }];
  let dependentDialects = ["::ds::DsDialect", "::mlir::arith::ArithDialect"];
}

def VerifyImportPass : Pass<"ds-verify-import", "::mlir::ModuleOp"> {
  let summary = "checks what holds at the end of the import stage";
  let description = [{
    Ensures: the module has variables and one function, @forward, of a single block. It holds `arith`, `math` and `ds` ops that have a
    layout rule, and reads and assigns: each variable is read at most once, before all ops but constants, and assigned at most
    once, after all others. No type has a layout. Arguments and results have a `ds.name`. Anything else is an error. Changes nothing.

    ```mlir
    // refused: layouts come in the placement stage
    %y = math.exp %x : tensor<8xf32, #ds.layout<[{dp} ]>>
    ```
  }];
}

#endif // DS_PASSES_IMPORT_PASSES
