// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DS_PASSES_PLACEMENT_PASSES
#define DS_PASSES_PLACEMENT_PASSES

include "mlir/Pass/PassBase.td"

def BuildMeshPass : Pass<"ds-build-mesh", "::mlir::ModuleOp"> {
  let summary = "declares the grid of ranks";
  let description = [{
    Requires: no `ds.mesh`, or one that says the same.
    Ensures: one `ds.mesh @mesh` with the given axes, first axis major. Values are unchanged.

    ```mlir
    // with axes=dp=4,tp=2 the module begins with
    ds.mesh @mesh <dp = 4, tp = 2>
    ```
  }];
  let dependentDialects = ["::ds::DsDialect"];
  let options = [ListOption<"axes", "axes", "std::string", "axes as name=size, major first; default: dp=1">];
}

def ExpandAxesPass : Pass<"ds-expand-axes", "::mlir::ModuleOp"> {
  let summary = "puts axes in the place of their aliases";
  let description = [{
    Ensures: no `ds.axes` is left, and no layout names an alias. Values are unchanged.

    ```mlir
    ds.axes @mesh "tp" = ["tp0", "tp1"]
    func.func @f(%x: tensor<8xf32, #ds.layout<[{tp} ]>>)
    // becomes
    func.func @f(%x: tensor<8xf32, #ds.layout<[{tp0, tp1} ]>>)
    ```
  }];
}

def AssignDataParallelPass : Pass<"ds-assign-data-parallel", "::mlir::ModuleOp"> {
  let summary = "asks for the samples of each input to be spread over an axis";
  let description = [{
    Requires: named inputs (`ds.name`) of a rank >= 1 hold samples along dim 0 unless they are marked `ds.whole`; a `ds.take_part` tells into how many parts they are cut.
    Ensures: each such input has the hint `ds.layout` with dim 0 split over `axis`, `(parts)(n/parts{axis})` if it is cut. An
    axis of one rank is left alone. Values are unchanged.

    ```mlir
    func.func @step(%x: tensor<8x32xi64> {ds.name = "input_ids"})
    // becomes
    func.func @step(%x: tensor<8x32xi64> {ds.layout = #ds.layout<[{dp}, {} ]>, ds.name = "input_ids"})
    ```
  }];
  let options = [Option<"axis", "axis", "std::string", "\"dp\"", "the mesh axis of data parallelism">];
}

def AssignZeroPass : Pass<"ds-assign-zero", "::mlir::ModuleOp"> {
  let summary = "asks for the layouts of a ZeRO stage";
  let description = [{
    Requires: the optimizer is attached; parameters may have layout hints without flat (tensor parallelism).
    Ensures: optimizer states are flat over `axis` from stage 1 on, parameters from stage 3 on; each gradient is constrained to
    the layout of its states: once after accumulation in stages 0 and 1, in every micro-batch in stages 2 and 3. Over
    an axis of one rank every stage is stage 0. Values are unchanged. Source: Rajbhandari et al., SC 2020, sections 5 and 7.

    ```mlir
    ds.variable @w {role = #ds.role<parameter>} : tensor<64x8xf32>
    // becomes, with stage=3
    ds.variable @w {layout = #ds.layout<[{}, {} ], flat = {dp}>, role = #ds.role<parameter>} : tensor<64x8xf32>
    ```
  }];
  let options = [Option<"stage", "stage", "int64_t", "0", "0, 1, 2 or 3">,
                 Option<"axis", "axis", "std::string", "\"dp\"", "the mesh axis over which states are split">];
}

def PropagateLayoutsPass : Pass<"ds-propagate-layouts", "::mlir::ModuleOp"> {
  let summary = "gives every value a layout";
  let description = [{
    Requires: hints alone: `layout` on variables, `ds.layout` on arguments, `ds.constrain`.
    Ensures: every type carries its layout and obeys its op's rule; a `ds.relayout` stands on each edge where producer and user
    differ; no hint is left. Values are unchanged. Policy, in program order:
    - the largest operand decides how an index is split, and a split operand beats a whole one;
    - if one operand of an elementwise op is flat, all of them become flat;
    - a partial value is folded where it meets an op that is not linear in it or not scalar-like, so that residual streams are reduced once.

    ```mlir
    // with %x split over its rows by a hint
    %y = ds.matmul %x, %w {indices = "mk,kn->mn"} : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    // becomes
    %y = ds.matmul %x, %w {indices = "mk,kn->mn"}
        : (tensor<8x4xf32, #ds.layout<[{dp}, {} ]>>, tensor<4x4xf32>) -> tensor<8x4xf32, #ds.layout<[{dp}, {} ]>>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::ds::DsDialect"];
}

def ExpandRelayoutsPass : Pass<"ds-expand-relayouts", "::mlir::ModuleOp"> {
  let summary = "turns each ds.relayout into its cheapest chain of casts";
  let description = [{
    Requires: layouts are assigned; `ds.mesh` names every axis in use.
    Ensures: no `ds.relayout` is left; chains of one block that begin alike share their casts. Values are unchanged.

    ```mlir
    %y = ds.relayout %x : tensor<8xf32, #ds.layout<[{} ], partial = {dp}>> -> tensor<8xf32, #ds.layout<[{dp} ]>>
    // becomes
    %y = ds.reduce_scatter %x over "dp" : tensor<8xf32, #ds.layout<[{} ], partial = {dp}>> -> tensor<8xf32, #ds.layout<[{dp} ]>>
    ```
    Source: nnScaler, OSDI 2024 (shortest path over layout states).
  }];
}

def RegatherParametersPass : Pass<"ds-regather-parameters", "::mlir::func::FuncOp"> {
  let summary = "gathers a parameter again where its next use is far away";
  let description = [{
    Requires: relayouts are expanded.
    Ensures: between two users of one gathered parameter there are at most `distance` ops; beyond that the later users have a
    gather of their own behind a `ds.fence`, so that the whole parameter need not be kept. Values are unchanged.

    ```mlir
    %w = ds.all_gather %s over "dp" : ...
    %y = ds.matmul %x, %w ...              // forward
    %f = ds.fence %s id 0 : ...            // these two ops are new
    %v = ds.all_gather %f over "dp" : ...
    %g = ds.matmul %dy, %v ...             // backward, which read %w
    ```
  }];
  let options = [Option<"distance", "distance", "int64_t", "32", "the number of ops over which a gathered parameter is kept">];
}

def VerifyLayoutsPass : Pass<"ds-verify-layouts", "::mlir::ModuleOp"> {
  let summary = "checks that every op obeys its layout rule";
  let description = [{
    Ensures: layouts fit their shapes and the mesh; every op has a layout rule and obeys it, so that no collective is missing;
    every cast does what it says. Changes nothing.

    ```mlir
    // refused: each rank has the sum over its own rows, so the result must be partial over "dp"
    %s = ds.reduce %x {dims = array<i64: 0>, kind = #ds.reduction<sum>} : (tensor<8x4xf32, #ds.layout<[{dp}, {} ]>>) -> tensor<4xf32>
    ```
  }];
  let options = [Option<"allowRelayouts", "allow-relayouts", "bool", "false", "accept ds.relayout">];
}

#endif // DS_PASSES_PLACEMENT_PASSES
