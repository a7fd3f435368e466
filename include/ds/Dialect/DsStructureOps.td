// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DS_DIALECT_DS_STRUCTURE_OPS
#define DS_DIALECT_DS_STRUCTURE_OPS

include "ds/Dialect/DsAttrs.td"
include "ds/Dialect/DsTypes.td"
include "ds/Dialect/DsInterfaces.td"

def Ds_VariableResource : Resource<"::ds::VariableResource">;
def Ds_CommunicationResource : Resource<"::ds::CommunicationResource">;

def Ds_MeshOp : Ds_Op<"mesh", [Symbol]> {
  let summary = "the grid of ranks";
  let description = [{
    Names the axes of the mesh and their sizes. A rank is the row-major number of its coordinates, the last axis fastest.

    Constraints:
    - C1: axes have sizes of 1 at least
    - C2: an axis is declared once
    - C3: an axis has no weights, or a positive one per coordinate

    ```mlir
    ds.mesh @mesh <dp = 4, tp = 2>
    ds.mesh @mesh <dp = 2 weights [2, 1]>
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrArrayAttr:$axis_names, DenseI64ArrayAttr:$axis_sizes,
                       OptionalAttr<ArrayAttr>:$axis_weights);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The mesh as the layout algebra sees it.
    ::ds::Mesh getMesh();
  }];
}

def Ds_AxesOp : Ds_Op<"axes", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "one name for several axes of a mesh";
  let description = [{
    In every layout `alias` stands for `axes`, in place and leftmost major. `ds-expand-axes` puts them there.

    Constraints:
    - C1: `mesh` is a mesh of the module
    - C2: `alias` is no axis of the mesh
    - C3: `axes` are axes of the mesh

    ```mlir
    ds.mesh @mesh <dp = 2, tp0 = 2, tp1 = 2>
    ds.axes @mesh "tp" = ["tp0", "tp1"]
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$mesh, StrAttr:$alias, StrArrayAttr:$axes);
  let assemblyFormat = "$mesh $alias `=` $axes attr-dict";
}

def Ds_VariableOp : Ds_Op<"variable", [Symbol]> {
  let summary = "declares persistent state";
  let description = [{
    A tensor that lives from step to step. `name` is the model file's name and the key of checkpoints. A step reads it
    once with `ds.read` and assigns it once with `ds.assign`. `layout` is a hint for `ds-propagate-layouts`; afterwards
    the type carries it. Starts as `initial` (a file range, or elements), else as zeros. Variables are public symbols.

    Constraints:
    - C1: a file range has the bytes of the tensor
    - C2: `initial` is a file range or elements
    - C3: elements have the tensor's shape and element type
    - C4: `type` is a tensor of static shape
    - C5: `layout` has one entry per dim, whose factors multiply to the dim's size

    ```mlir
    ds.variable @wte {role = #ds.role<parameter>, initial = #ds.file_range<"train.onnx", 64, 65536>} : tensor<256x64xf32>
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, Ds_VariableRoleAttr:$role, TypeAttrOf<Ds_Tensor>:$type,
                       OptionalAttr<AnyAttr>:$initial, OptionalAttr<Ds_LayoutAttr>:$layout, UnitAttr:$frozen);
  let assemblyFormat = "$sym_name attr-dict `:` $type";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::RankedTensorType getTensorType() { return ::llvm::cast<::mlir::RankedTensorType>(getType()); }
  }];
}

def Ds_ReadOp : Ds_Op<"read", [MemoryEffects<[MemRead<Ds_VariableResource>]>,
                               DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "the value of a variable at the start of the step";
  let description = [{
    A function reads a variable at most once, before all ops but constants.

    Constraints:
    - C1: `variable` is a variable of the module
    - C2: the result has the variable's type, layout included

    ```mlir
    %w = ds.read @wte : tensor<256x64xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$variable);
  let results = (outs Ds_Tensor:$result);
  let assemblyFormat = "$variable attr-dict `:` type($result)";
}

def Ds_AssignOp : Ds_Op<"assign", [MemoryEffects<[MemWrite<Ds_VariableResource>]>,
                                   DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "the value of a variable after the step";
  let description = [{
    A function assigns a variable at most once, after all other ops. The next step reads the value.

    Constraints:
    - C1: `variable` is a variable of the module
    - C2: the value has the variable's type

    ```mlir
    ds.assign @wte, %w1 : tensor<256x64xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$variable, Ds_Tensor:$value);
  let assemblyFormat = "$variable `,` $value attr-dict `:` type($value)";
}

def Ds_ConstrainOp : Ds_Op<"constrain", [Pure, SameOperandsAndResultType]> {
  let summary = "asks for a layout of a value";
  let description = [{
    The identity. `ds-propagate-layouts` gives its result the dims of `layout`, which must fit the shape.

    Constraints:
    - C1: `layout` has one entry per dim
    - C2: the factors of each dim multiply to its size

    ```mlir
    %1 = ds.constrain %0 to <[{dp}, {} ]> : tensor<8x64xf32>
    ```
  }];
  let arguments = (ins Ds_Tensor:$input, Ds_LayoutAttr:$layout);
  let results = (outs Ds_Tensor:$result);
  let assemblyFormat = "$input `to` $layout attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Ds_StopGradientOp : Ds_ModelOp<"stop_gradient", [SameOperandsAndResultType]> {
  let summary = "a value that the gradient takes as a constant";
  let description = [{
    The identity. The loss does not depend on the input through the result, as far as `ds-differentiate` knows, which then removes the op.

    Constraints:
    - C1: input and result have one type

    ```mlir
    %1 = ds.stop_gradient %0 : (tensor<8xf32>) -> tensor<8xf32>
    ```
  }];
  let arguments = (ins Ds_Tensor:$input);
  let results = (outs Ds_Tensor:$result);
}

def Ds_FenceOp : Ds_Op<"fence", [SameOperandsAndResultType, MemoryEffects<[]>]> {
  let summary = "keeps a deliberate duplicate apart";
  let description = [{
    The identity. A re-gathered or recomputed value reads its operands through a fence with an id of its own, so that
    common-subexpression elimination leaves the duplicate alone.

    ```mlir
    %1 = ds.fence %0 id 3 : tensor<8xf32>
    ```
  }];
  let arguments = (ins AnyType:$input, I64Attr:$id);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$input `id` $id attr-dict `:` type($result)";
}

def Ds_KernelOp : Ds_Op<"kernel", [IsolatedFromAbove, MemoryEffects<[]>, SingleBlock]> {
  let summary = "ops that run as one compiled kernel";
  let description = [{
    The body is a block over the operands; it holds elementwise ops, reductions, broadcasts and iotas, and ends with
    `ds.yield`. Kernels with equal bodies and types are compiled once.

    `streamed` numbers the results that nobody reads soon: they are stored past the caches, where their lines are aligned.

    Constraints:
    - C1: the body takes the inputs
    - C2: the body yields the results, layouts included
    - C3: the body uses no value from outside
    - C4: `streamed` numbers results, ascending

    ```mlir
    %y = ds.kernel(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32> {
    ^bb0(%a: tensor<8x4xf32>):
      %e = math.exp %a : tensor<8x4xf32>
      ds.yield %e : tensor<8x4xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<Ds_Tensor>:$inputs, DefaultValuedOptionalAttr<DenseI64ArrayAttr, "{}">:$streamed);
  let results = (outs Variadic<Ds_Tensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "`(` $inputs `)` attr-dict-with-keyword `:` functional-type($inputs, $results) $body";
  let hasVerifier = 1;
}

def Ds_YieldOp : Ds_Op<"yield", [Pure, Terminator, ParentOneOf<["KernelOp"]>]> {
  let summary = "the results of a kernel";
  let description = [{
    Ends the body of a `ds.kernel`.

    Constraints:
    - C1: the op ends the body of a `ds.kernel`

    ```mlir
    ds.yield %e : tensor<8x4xf32>
    ```
  }];
  let arguments = (ins Variadic<Ds_Tensor>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
}

def Ds_StartOp : Ds_Op<"start", [MemoryEffects<[MemRead<Ds_CommunicationResource>, MemWrite<Ds_CommunicationResource>]>]> {
  let summary = "starts a collective on one or more tensors";
  let description = [{
    Starts the cast `kind` over `axis` of every input, as one bucket; `ds.wait` gives the results. The destinations are
    born here. Starts along one axis run in the order in which they stand.

    Constraints:
    - C1: there is one destination type per input, and one input at least
    - C2: a destination has the shape and element type of its input

    ```mlir
    %t = ds.start all_gather %a, %b over "dp" : tensor<8xf32, #ds.layout<[{} ], flat = {dp}>>, ... -> [tensor<8xf32>, ...]
    %w:2 = ds.wait %t, %a, %b : ...
    ```
  }];
  let arguments = (ins Ds_CollectiveKindAttr:$kind, Variadic<Ds_Tensor>:$inputs, StrAttr:$axis,
                       TypeArrayAttr:$destination_types);
  let results = (outs Ds_TokenType:$token);
  let assemblyFormat = "$kind $inputs `over` $axis attr-dict `:` type($inputs) `->` $destination_types";
  let hasVerifier = 1;
}

def Ds_WaitOp : Ds_Op<"wait", [MemoryEffects<[MemRead<Ds_CommunicationResource>, MemWrite<Ds_CommunicationResource>]>]> {
  let summary = "the results of a started collective";
  let description = [{
    Blocks until the collective of `token` has ended. Takes its inputs too, so that they stay live while in flight.

    Constraints:
    - C1: the token has one wait
    - C2: the token is that of a start
    - C3: the inputs are those of the start
    - C4: the results have the destination types of the start

    ```mlir
    %w:2 = ds.wait %t, %a, %b : tensor<8xf32, #ds.layout<[{} ], flat = {dp}>>, ... -> tensor<8xf32>, tensor<8xf32>
    ```
  }];
  let arguments = (ins Ds_TokenType:$token, Variadic<Ds_Tensor>:$inputs);
  let results = (outs Variadic<Ds_Tensor>:$results);
  let assemblyFormat = "$token `,` $inputs attr-dict `:` type($inputs) `->` type($results)";
  let hasVerifier = 1;
}

#endif // DS_DIALECT_DS_STRUCTURE_OPS
