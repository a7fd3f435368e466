// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Which initializers are variables of the program, and under which names.

#ifndef DS_IMPORT_ONNX_VARIABLES_H
#define DS_IMPORT_ONNX_VARIABLES_H

#include "TensorRoles.h"

#include "ds/Dialect/Names.h"

#include <deque>

namespace ds::onnx_import {

/// A parameter or buffer.
struct Variable {
  const Initializer *data = nullptr;
  std::string value;        ///< the value of the graph that it is
  std::string name;         ///< for users and in checkpoints
  bool isGenerated = false; ///< an exporter made the name
  VariableRole role = VariableRole::Parameter;
  mutable bool isKnown = false; ///< its data was asked for at import
  ds::VariableOp op;
  ds::ReadOp read;
};

/// Chooses the variables among the float tensors: initializers, and Identities of initializers, which are how PyTorch's
/// exporter writes a parameter that has the same values as another (one that is the other has no name of its own in the
/// file). Fills `tensors` and `doubts` of `model`.
std::deque<Variable> chooseVariables(const ModelFile &file, const Graph &graph, const ImportOptions &options,
                                     ImportedModel &model);

/// Declares them in the module. The symbol is the name, or another one where ours are.
void declareVariables(std::deque<Variable> &variables, mlir::OpBuilder &builder);

} // namespace ds::onnx_import

#endif // DS_IMPORT_ONNX_VARIABLES_H
