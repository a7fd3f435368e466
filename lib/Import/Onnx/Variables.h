// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Which initializers are variables of the program, and under which names.

#ifndef DS_IMPORT_ONNX_VARIABLES_H
#define DS_IMPORT_ONNX_VARIABLES_H

#include "Graph.h"
#include "ModelFile.h"

#include "ds/Dialect/DsDialect.h"

#include <deque>

namespace ds::onnx_import {

/// A parameter or buffer.
struct Variable {
  const Initializer *data = nullptr;
  std::string value; ///< the value of the graph that it is
  std::string name;  ///< in the program
  VariableRole role = VariableRole::Parameter;
  mutable bool isKnown = false; ///< its data was asked for at import
  ds::VariableOp op;
  ds::ReadOp read;
};

/// Chooses the variables: float initializers, but for scalars without a module path and tables that models keep as
/// buffers, which are constants. An Identity of a uniform initializer is a variable of its own: exporters merge equal
/// initial values, so that all norms of a fresh model would be tied; an Identity of any other shares its variable.
std::deque<Variable> chooseVariables(const ModelFile &file, const Graph &graph);

/// Declares them in the module, under their names less one leading "model." if all have it.
void declareVariables(std::deque<Variable> &variables, mlir::OpBuilder &builder);

} // namespace ds::onnx_import

#endif // DS_IMPORT_ONNX_VARIABLES_H
