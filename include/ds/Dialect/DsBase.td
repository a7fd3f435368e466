// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DS_DIALECT_DS_BASE
#define DS_DIALECT_DS_BASE

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Ds_Dialect : Dialect {
  let name = "ds";
  let cppNamespace = "::ds";
  let summary = "distributed tensor programs";
  let description = [{
    Tensors keep their global shape; the encoding `#ds.layout` says how they lie on the mesh. Collectives are casts:
    the identity on values, a change of layout. docs/layouts.md has the algebra.
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let extraClassDeclaration = "void registerAttributes();";
}

class Ds_Op<string mnemonic, list<Trait> traits = []> : Op<Ds_Dialect, mnemonic, traits>;

/// Tensors of this dialect have static shapes.
def Ds_Tensor : Type<CPred<"::llvm::isa<::mlir::RankedTensorType>($_self) && "
                           "::llvm::cast<::mlir::RankedTensorType>($_self).hasStaticShape()">,
                     "ranked tensor of static shape", "::mlir::RankedTensorType">;
class Ds_TensorOf<Type element, string text> :
    Type<And<[Ds_Tensor.predicate, SubstLeaves<"$_self", "::llvm::cast<::mlir::RankedTensorType>($_self).getElementType()",
              element.predicate>]>, text, "::mlir::RankedTensorType">;
def Ds_FloatTensor : Ds_TensorOf<AnyFloat, "static tensor of floats">;
def Ds_BoolTensor : Ds_TensorOf<I1, "static tensor of i1">;
def Ds_IntTensor : Ds_TensorOf<AnySignlessInteger, "static tensor of integers">;
// What picks rows or elements. One width, as the library that looks them up reads no other.
def Ds_IdTensor : Ds_TensorOf<I64, "static tensor of i64">;
def Ds_NumberTensor : Ds_TensorOf<AnyTypeOf<[AnyFloat, AnySignlessInteger]>, "static tensor of floats or integers">;


#endif // DS_DIALECT_DS_BASE
