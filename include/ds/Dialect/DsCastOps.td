// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// Layout casts: the identity on values. They have no folders, since deliberate round trips are the point, and are not
// speculatable, so that loop-invariant code motion leaves them where they stand.

#ifndef DS_DIALECT_DS_CAST_OPS
#define DS_DIALECT_DS_CAST_OPS

include "ds/Dialect/DsAttrs.td"
include "ds/Dialect/DsInterfaces.td"

/// An op that changes the layout alone.
class Ds_LayoutChangeOp<string mnemonic, list<Trait> traits = []> :
    Ds_Op<mnemonic, !listconcat([MemoryEffects<[]>, SameOperandsAndResultShape, SameOperandsAndResultElementType], traits)> {
  let results = (outs Ds_Tensor:$result);
}

/// The cast that `CastKind::kind` of ds/Layout/Cast.h names.
class Ds_CastOp<string mnemonic, string kind> :
    Ds_LayoutChangeOp<mnemonic, [DeclareOpInterfaceMethods<Ds_LayoutCastOpInterface>]> {
  let extraClassDefinition = "::ds::CastKind $cppClass::getCastKind() { return ::ds::CastKind::" # kind # "; }";
}

/// A cast along one mesh axis.
class Ds_AxisCastOp<string mnemonic, string kind> : Ds_CastOp<mnemonic, kind> {
  let arguments = (ins Ds_Tensor:$input, StrAttr:$axis);
  let assemblyFormat = "$input `over` $axis attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def Ds_AllGatherOp : Ds_AxisCastOp<"all_gather", "AllGather"> {
  let summary = "joins the shards along an axis";
  let description = [{
    Removes `axis`, which must be minor-most, from a factor or from `flat`. Receives n_out - n_in elements per rank.

    Constraints:
    - C1: `axis` cuts the input, minor-most in a factor or in `flat`
    - C2: `axis` does not cut the result
    - C3: input and result have one shape and one element type

    ```mlir
    %w = ds.all_gather %s over "dp" : tensor<8x4xf32, #ds.layout<[{}, {} ], flat = {dp}>> -> tensor<8x4xf32>
    ```
  }];
}

def Ds_ReduceScatterOp : Ds_AxisCastOp<"reduce_scatter", "ReduceScatter"> {
  let summary = "folds summands and keeps a shard";
  let description = [{
    Moves `axis` from `partial` to minor-most of a factor or of `flat`. Receives (k-1)/k n_in elements per rank of k.
    Sums in ascending coordinate order.

    Constraints:
    - C1: the input is partial over `axis`
    - C2: `axis` cuts the result
    - C3: input and result have one shape and one element type

    ```mlir
    %s = ds.reduce_scatter %g over "dp" : tensor<8xf32, #ds.layout<[{} ], partial = {dp}>> -> tensor<8xf32, #ds.layout<[{dp} ]>>
    ```
  }];
}

def Ds_AllReduceOp : Ds_AxisCastOp<"all_reduce", "AllReduce"> {
  let summary = "folds summands on every rank";
  let description = [{
    Removes `axis` from `partial`. Receives 2(k-1)/k n elements per rank of k. Sums in ascending coordinate order.

    Constraints:
    - C1: the input is partial over `axis`
    - C2: the result is whole over `axis`
    - C3: input and result have one shape and one element type

    ```mlir
    %y = ds.all_reduce %x over "tp" : tensor<8xf32, #ds.layout<[{} ], partial = {tp}>> -> tensor<8xf32>
    ```
  }];
}

def Ds_AllToAllOp : Ds_AxisCastOp<"all_to_all", "AllToAll"> {
  let summary = "moves an axis from one factor to another";
  let description = [{
    `axis`, minor-most of one factor, becomes minor-most of another. Receives (k-1)/k n elements per rank of k. Factors of
    one dim must not overlap: from `(4{a})(2)` to `(2)(4{a})` is a `ds.remap`.

    Constraints:
    - C1: `axis` cuts a factor of the input
    - C2: `axis` cuts a factor of the result
    - C3: input and result have one shape and one element type

    ```mlir
    %y = ds.all_to_all %x over "sp" : tensor<8x4xf32, #ds.layout<[{sp}, {} ]>> -> tensor<8x4xf32, #ds.layout<[{}, {sp} ]>>
    ```
  }];
}

def Ds_TakeShardOp : Ds_AxisCastOp<"take_shard", "TakeShard"> {
  let summary = "keeps the own shard of a value that is whole along an axis";
  let description = [{
    Appends `axis`, minor-most, to a factor or to `flat`. Moves nothing.

    Constraints:
    - C1: the input is whole over `axis`
    - C2: `axis` cuts the result
    - C3: input and result have one shape and one element type

    ```mlir
    %s = ds.take_shard %w over "dp" : tensor<8xf32> -> tensor<8xf32, #ds.layout<[{dp} ]>>
    ```
  }];
}

def Ds_ToPartialOp : Ds_AxisCastOp<"to_partial", "ToPartial"> {
  let summary = "turns a whole value into summands";
  let description = [{
    Coordinate 0 of `axis` keeps the value, the others take the neutral element. Moves nothing.

    Constraints:
    - C1: the input is whole over `axis`, neither cut nor partial
    - C2: the result is partial over `axis`
    - C3: input and result have one shape and one element type

    ```mlir
    %p = ds.to_partial %b over "tp" : tensor<8xf32> -> tensor<8xf32, #ds.layout<[{} ], partial = {tp}>>
    ```
  }];
}

def Ds_RemapOp : Ds_CastOp<"remap", "Remap"> {
  let summary = "any change of dims and flat";
  let description = [{
    Between any two layouts with equal `partial` and `at`. Receives what a rank needs and does not own.

    Constraints:
    - C1: input and result have one shape and one element type

    ```mlir
    %y = ds.remap %x : tensor<8x4xf32, #ds.layout<[{dp}, {} ]>> -> tensor<8x4xf32, #ds.layout<[{}, {} ], flat = {dp}>>
    ```
  }];
  let arguments = (ins Ds_Tensor:$input);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
}

def Ds_CopyOp : Ds_CastOp<"copy", "Copy"> {
  let summary = "moves a value to another memory tier";
  let description = [{
    The value stays the same; `memory` of its layout changes.

    Constraints:
    - C1: input and result have one shape and one element type

    ```mlir
    %h = ds.copy %x : tensor<8x4xf32> -> tensor<8x4xf32, #ds.layout<[{}, {} ], memory = host>>
    ```
  }];
  let arguments = (ins Ds_Tensor:$input);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
}

def Ds_TransferOp : Ds_CastOp<"transfer", "Transfer"> {
  let summary = "moves a value to other coordinates of `at`";
  let description = [{
    The value stays the same; other ranks hold it afterwards.

    Constraints:
    - C1: input and result have one shape and one element type

    ```mlir
    %y = ds.transfer %x : tensor<8xf32, #ds.layout<[{} ], at = {pp = 0}>> -> tensor<8xf32, #ds.layout<[{} ], at = {pp = 1}>>
    ```
  }];
  let arguments = (ins Ds_Tensor:$input);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
}

def Ds_RelayoutOp : Ds_LayoutChangeOp<"relayout"> {
  let summary = "a change of layout whose casts are not chosen yet";
  let description = [{
    `ds-expand-relayouts` turns it into the cheapest chain of casts.

    Constraints:
    - C1: input and result have one shape and one element type

    ```mlir
    %y = ds.relayout %x : tensor<8xf32, #ds.layout<[{} ], partial = {dp}>> -> tensor<8xf32, #ds.layout<[{dp} ]>>
    ```
  }];
  let arguments = (ins Ds_Tensor:$input);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
}

//===----------------------------------------------------------------------===//
// Linear elementwise ops whose operands differ in layout: upstream arith demands equal encodings.
//===----------------------------------------------------------------------===//

class Ds_PartialByWholeOp<string mnemonic, list<Trait> traits = []> :
    Ds_Op<mnemonic, !listconcat([Pure, SameOperandsAndResultShape, DeclareOpInterfaceMethods<Ds_LayoutRuleOpInterface>], traits)> {
  let results = (outs Ds_Tensor:$result);
}

def Ds_ScaleOp : Ds_PartialByWholeOp<"scale", [SameOperandsAndResultElementType]> {
  let summary = "a partial value times a whole one";
  let description = [{
    A partial value may be multiplied summand by summand, if every rank multiplies by the same whole factor. `arith.mulf`
    cannot say so, as it demands equal layouts.

    Constraints:
    - C1: input, factor and result have one shape
    - C2: they are tensors of floats

    ```mlir
    %y = ds.scale %x by %f : tensor<8xf32, #ds.layout<[{} ], partial = {tp}>>, tensor<8xf32> -> tensor<8xf32, #ds.layout<[{} ], partial = {tp}>>
    ```
  }];
  let arguments = (ins Ds_FloatTensor:$input, Ds_FloatTensor:$factor);
  let assemblyFormat = "$input `by` $factor attr-dict `:` type($input) `,` type($factor) `->` type($result)";
}

def Ds_DivideOp : Ds_PartialByWholeOp<"divide", [SameOperandsAndResultElementType]> {
  let summary = "a partial value divided by a whole one";
  let description = [{
    A partial value may be divided summand by summand, if every rank divides by the same whole divisor. `arith.divf`
    cannot say so, as it demands equal layouts.

    Constraints:
    - C1: input, divisor and result have one shape and one element type

    ```mlir
    %y = ds.divide %x by %d : tensor<8xf32, #ds.layout<[{} ], partial = {tp}>>, tensor<8xf32> -> tensor<8xf32, #ds.layout<[{} ], partial = {tp}>>
    ```
  }];
  let arguments = (ins Ds_FloatTensor:$input, Ds_FloatTensor:$divisor);
  let assemblyFormat = "$input `by` $divisor attr-dict `:` type($input) `,` type($divisor) `->` type($result)";
}

def Ds_WhereOp : Ds_PartialByWholeOp<"where", [AllElementTypesMatch<["on_true", "on_false", "result"]>]> {
  let summary = "selects between partial values by a whole condition of i1";
  let description = [{
    A partial value is selected summand by summand, by a condition that is the same on every rank. `arith.select` cannot
    say so, as it demands equal layouts.

    Constraints:
    - C1: condition, both values and result have one shape
    - C2: the condition is of i1
    - C3: both values and the result have one element type

    ```mlir
    %y = ds.where %c, %a, %b : tensor<8xi1>, tensor<8xf32, #ds.layout<[{} ], partial = {tp}>>,
        tensor<8xf32, #ds.layout<[{} ], partial = {tp}>> -> tensor<8xf32, #ds.layout<[{} ], partial = {tp}>>
    ```
  }];
  let arguments = (ins Ds_BoolTensor:$condition, Ds_Tensor:$on_true, Ds_Tensor:$on_false);
  let assemblyFormat = "$condition `,` $on_true `,` $on_false attr-dict `:` type($condition) `,` type($on_true) `,` type($on_false) `->` type($result)";
}

#endif // DS_DIALECT_DS_CAST_OPS
