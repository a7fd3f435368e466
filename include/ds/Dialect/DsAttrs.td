// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DS_DIALECT_DS_ATTRS
#define DS_DIALECT_DS_ATTRS

include "ds/Dialect/DsBase.td"
include "mlir/IR/TensorEncoding.td"

class Ds_Attr<string name, string attrMnemonic, list<Trait> traits = []> : AttrDef<Ds_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

def Ds_LayoutAttr : Ds_Attr<"Layout", "layout", [DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let summary = "how a tensor lies on the mesh";
  let description = [{
    The encoding of a distributed tensor: the axes of each dim (or of each factor of a dim), the axes over which ranks
    hold summands (`partial`), the axes over the flattened shard (`flat`), the coordinates that hold it (`at`), and the
    memory tier. A tensor replicated on the device of every rank has no encoding.

    ```mlir
    tensor<4096x1024xf32, #ds.layout<[{tp}, {} ]>>
    tensor<64x192xf32, #ds.layout<[{}, (3)(4{tp})(16)], partial = {dp}>>
    tensor<4096x1024xf32, #ds.layout<[{}, {} ], flat = {dp}, memory = host>>
    ```
  }];
  let parameters = (ins AttrParameter<"::ds::Layout", "the layout", "const ::ds::Layout &">:$layout);
  let hasCustomAssemblyFormat = 1;
  let cppNamespace = "::ds";
}

def Ds_FileRangeAttr : Ds_Attr<"FileRange", "file_range"> {
  let summary = "bytes in a file, referenced and never copied into the program";
  let description = [{
    `length` bytes from `offset` of the file `path`, which is relative to the model's folder and stays inside it.

    ```mlir
    #ds.file_range<"train.onnx", 1024, 65536>
    ```
  }];
  let parameters = (ins StringRefParameter<>:$path, "uint64_t":$offset, "uint64_t":$length);
  let assemblyFormat = "`<` $path `,` $offset `,` $length `>`";
}

def Ds_IntSetAttr : Ds_Attr<"IntSet", "int_set"> {
  let summary = "the integers that an input may hold";
  let description = [{
    Those from `low` to less than `high`, and `others`. On an argument: `ds.allowed`, checked when the data are loaded.

    ```mlir
    #ds.int_set<0 to 256 or -100>
    ```
  }];
  let parameters = (ins "int64_t":$low, "int64_t":$high, OptionalArrayRefParameter<"int64_t">:$others);
  let assemblyFormat = "`<` $low `to` $high (`or` $others^)? `>`";
}

def Ds_VariableRole : I32EnumAttr<"VariableRole", "what a variable is for", [
  I32EnumAttrCase<"Parameter", 0, "parameter">,
  I32EnumAttrCase<"Gradient", 1, "gradient">,
  I32EnumAttrCase<"OptimizerState", 2, "optimizer">,
  I32EnumAttrCase<"Buffer", 3, "buffer">,
  I32EnumAttrCase<"Counter", 4, "counter">,
  I32EnumAttrCase<"Cache", 5, "cache">]> {
  let cppNamespace = "::ds";
  let genSpecializedAttr = 0;
}
def Ds_VariableRoleAttr : EnumAttr<Ds_Dialect, Ds_VariableRole, "role"> {
  let assemblyFormat = "`<` $value `>`";
}

/// As ds::ReduceKind of ds/Layout/Layout.h, which is the type used in C++.
def Ds_Reduction : I32EnumAttr<"Reduction", "how elements fold", [
  I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Max", 1, "max">, I32EnumAttrCase<"Min", 2, "min">,
  I32EnumAttrCase<"And", 3, "and">, I32EnumAttrCase<"Or", 4, "or">]> {
  let cppNamespace = "::ds";
  let genSpecializedAttr = 0;
}
def Ds_ReductionAttr : EnumAttr<Ds_Dialect, Ds_Reduction, "reduction"> {
  let assemblyFormat = "`<` $value `>`";
}

def Ds_GeluKind : I32EnumAttr<"GeluKind", "which formula of GELU", [
  I32EnumAttrCase<"Erf", 0, "erf">, I32EnumAttrCase<"Tanh", 1, "tanh">]> {
  let cppNamespace = "::ds";
  let genSpecializedAttr = 0;
}
def Ds_GeluKindAttr : EnumAttr<Ds_Dialect, Ds_GeluKind, "gelu_kind"> {
  let assemblyFormat = "`<` $value `>`";
}

/// As plan::Activation.
def Ds_Activation : I32EnumAttr<"Activation", "a function of each element of a product", [
  I32EnumAttrCase<"None", 0, "none">, I32EnumAttrCase<"Relu", 1, "relu">, I32EnumAttrCase<"GeluTanh", 2, "gelu_tanh">,
  I32EnumAttrCase<"GeluErf", 3, "gelu_erf">, I32EnumAttrCase<"Silu", 4, "silu">]> {
  let cppNamespace = "::ds";
  let genSpecializedAttr = 0;
}
def Ds_ActivationAttr : EnumAttr<Ds_Dialect, Ds_Activation, "activation"> {
  let assemblyFormat = "`<` $value `>`";
}

/// The casts that `ds.start` starts.
def Ds_CollectiveKind : I32EnumAttr<"CollectiveKind", "a cast that communicates along one axis", [
  I32EnumAttrCase<"AllGather", 0, "all_gather">, I32EnumAttrCase<"ReduceScatter", 1, "reduce_scatter">,
  I32EnumAttrCase<"AllReduce", 2, "all_reduce">, I32EnumAttrCase<"AllToAll", 3, "all_to_all">]> {
  let cppNamespace = "::ds";
  let genSpecializedAttr = 0;
}
def Ds_CollectiveKindAttr : EnumAttr<Ds_Dialect, Ds_CollectiveKind, "collective_kind">;

#endif // DS_DIALECT_DS_ATTRS
