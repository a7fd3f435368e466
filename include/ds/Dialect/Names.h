// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Names of a model and names of the compiler, which never meet.
///
/// A module has one space of symbols for its variables and functions; a step has one of inputs. The compiler's own
/// names begin with `ds.`, or are among the few below; a model's variable of such a name gets another symbol, and its
/// name is the attribute `ds.name`. Users, files and checkpoints see `nameOf`, never the symbol.

#ifndef DS_DIALECT_NAMES_H
#define DS_DIALECT_NAMES_H

#include "ds/Dialect/DsDialect.h"

namespace ds {

/// Symbols, inputs and results that begin so are the compiler's.
inline constexpr llvm::StringLiteral kReservedPrefix = "ds.";
/// The symbols that are not variables: the function before and after differentiation, and the mesh.
inline constexpr llvm::StringLiteral kForwardFunction = "forward", kStepFunction = "step", kMeshSymbol = "mesh";
/// The argument that is the learning rate. As runtime::kLearningRateInput.
inline constexpr llvm::StringLiteral kLearningRateName = "ds.learning_rate";
/// The result beside a loss that is a sum over labels: their number, by which the loss is to be divided.
inline constexpr llvm::StringLiteral kLabelCountName = "ds.label_count";

/// On an argument, UnitAttr: dim 0 is not the batch.
inline constexpr llvm::StringLiteral kWholeAttr = "ds.whole";
/// On a variable, UnitAttr: an exporter made the name.
inline constexpr llvm::StringLiteral kRenamedAttr = "ds.renamed";

/// The name of a variable for users, files and checkpoints: its `ds.name`, which only those have whose symbol is
/// another, or its symbol.
inline llvm::StringRef nameOf(VariableOp variable) {
  auto name = variable->getAttrOfType<mlir::StringAttr>(kNameAttr);
  return name ? name.getValue() : variable.getSymName();
}

/// The symbol of a model's variable. Different names have different symbols.
inline std::string symbolFor(llvm::StringRef name) {
  const bool isOurs = name == kForwardFunction || name == kStepFunction || name == kMeshSymbol;
  return isOurs || name.starts_with(kReservedPrefix) ? (kReservedPrefix + "model." + name).str() : name.str();
}

} // namespace ds

#endif // DS_DIALECT_NAMES_H
