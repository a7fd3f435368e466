// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DS_DIALECT_DS_DIALECT_H
#define DS_DIALECT_DS_DIALECT_H

#include "ds/Dialect/LayoutRule.h"
#include "ds/Layout/Cast.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/TensorEncoding.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <limits>

namespace ds {

llvm::hash_code hash_value(const Layout &layout);

/// What `ds.read` and `ds.assign` touch.
struct VariableResource : mlir::SideEffects::Resource::Base<VariableResource> {
  llvm::StringRef getName() final { return "<ds.variable>"; }
};
/// What `ds.start` and `ds.wait` touch.
struct CommunicationResource : mlir::SideEffects::Resource::Base<CommunicationResource> {
  llvm::StringRef getName() final { return "<ds.communication>"; }
};

} // namespace ds

#include "ds/Dialect/DsDialect.h.inc"
#include "ds/Dialect/DsEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "ds/Dialect/DsAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "ds/Dialect/DsTypes.h.inc"

#include "ds/Dialect/DsInterfaces.h.inc"

#define GET_OP_CLASSES
#include "ds/Dialect/DsOps.h.inc"

namespace ds {

/// Attaches the layout rules of arith and math ops. A forgotten call is an error in `ds-verify-layouts`.
void registerLayoutRuleModels(mlir::DialectRegistry &registry);

/// Registers the ds dialect, the upstream dialects its programs use, and their layout rules.
void registerProgramDialects(mlir::DialectRegistry &registry);

//===----------------------------------------------------------------------===//
// Kinds of casts
//===----------------------------------------------------------------------===//

/// The collective that does a cast, or nothing if it needs none, or is no collective along one axis.
std::optional<CollectiveKind> findCollectiveKind(CastKind kind);
/// The cast that a collective does.
CastKind castKindOf(CollectiveKind kind);

//===----------------------------------------------------------------------===//
// Layouts of types
//===----------------------------------------------------------------------===//

/// The `ignore_index` of a loss that ignores no label.
inline constexpr int64_t kIgnoresNothing = std::numeric_limits<int64_t>::min();

/// Whether `type` is a tensor with an encoding; others are whole on every rank.
bool hasEncoding(mlir::Type type);
/// The layout of a tensor type; replicated if it has no encoding.
Layout layoutOf(mlir::Type type);
inline Layout layoutOf(mlir::Value value) { return layoutOf(value.getType()); }

/// `type` with another layout, normalized; replicated is spelt without an encoding.
mlir::RankedTensorType withLayout(mlir::RankedTensorType type, const Layout &layout);

/// The shape of a tensor type, for the layout algebra.
Shape shapeOf(mlir::Type type);

/// The mesh of the module around `op` (of one rank if it declares none). Looks it up: call once per pass.
Mesh meshOf(mlir::Operation *op);

/// The attribute names of function arguments and results.
inline constexpr llvm::StringLiteral kNameAttr = "ds.name"; ///< StringAttr: the model file's name of an input or output
inline constexpr llvm::StringLiteral kLayoutAttr = "ds.layout";   ///< LayoutAttr: the hint of an input's layout
inline constexpr llvm::StringLiteral kAllowedAttr = "ds.allowed"; ///< IntSetAttr: the integers that an input may hold
inline constexpr llvm::StringLiteral kGradientAttr =
    "ds.gradient"; ///< FlatSymbolRefAttr: the result is this variable's gradient

/// What `ds-assign-arena` adds; `ds.arena` tells what the numbers mean.
inline constexpr llvm::StringLiteral kBufferAttr = "ds.buffer";   ///< I64Attr on arguments and variables
inline constexpr llvm::StringLiteral kBuffersAttr = "ds.buffers"; ///< DenseI64ArrayAttr on ops

} // namespace ds

#endif // DS_DIALECT_DS_DIALECT_H
