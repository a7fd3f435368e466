// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DS_DIALECT_DS_INTERFACES
#define DS_DIALECT_DS_INTERFACES

include "ds/Dialect/DsBase.td"

def Ds_LayoutRuleOpInterface : OpInterface<"LayoutRuleOpInterface"> {
  let cppNamespace = "::ds";
  let description = [{
    The one rule from which verification, propagation, cost and local extents of an op follow: which index of the op's
    iteration space each dim of each operand and result runs over.
  }];
  let methods = [
    InterfaceMethod<"The rule of this op; depends on shapes and attributes, never on layouts.",
                    "::ds::LayoutRule", "getLayoutRule">
  ];
}

def Ds_DifferentiableOpInterface : OpInterface<"DifferentiableOpInterface"> {
  let cppNamespace = "::ds";
  let description = "Reverse-mode differentiation of one op.";
  let methods = [
    InterfaceMethod<[{
      Builds the gradients of the op's operands from `resultGradients` (one per result; null where it is zero), at the
      builder's insertion point. Fills `operandGradients` (one per operand; null where it is zero or the operand is not
      differentiable). `needed[i]` tells whether operand i's gradient is of use.
    }], "::llvm::LogicalResult", "buildGradients",
    (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$resultGradients, "::llvm::ArrayRef<bool>":$needed,
         "::llvm::SmallVectorImpl<::mlir::Value> &":$operandGradients)>
  ];
}

def Ds_LayoutCastOpInterface : OpInterface<"LayoutCastOpInterface"> {
  let cppNamespace = "::ds";
  let description = "A cast from one layout to another: the identity on values, of one operand and one result.";
  let methods = [
    InterfaceMethod<"Which cast the op is.", "::ds::CastKind", "getCastKind">,
    InterfaceMethod<"The mesh axis that moves; empty if the cast names none.", "::llvm::StringRef", "getCastAxis", (ins), "", [{
      auto axis = $_op->template getAttrOfType<::mlir::StringAttr>("axis");
      return axis ? axis.getValue() : ::llvm::StringRef();
    }]>
  ];
}

/// An op on values alone, with a layout rule. Its types are written in full.
class Ds_ModelOp<string mnemonic, list<Trait> traits = []> :
    Ds_Op<mnemonic, !listconcat([Pure, DeclareOpInterfaceMethods<Ds_LayoutRuleOpInterface>], traits)> {
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

#endif // DS_DIALECT_DS_INTERFACES
