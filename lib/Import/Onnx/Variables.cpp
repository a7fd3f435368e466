// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "Variables.h"

#include "NodeContext.h"

using namespace mlir;
using namespace ds;
using namespace ds::onnx_import;

/// Tables that models register as buffers, by the names in wide use.
static bool isTableName(StringRef name) {
  static constexpr StringLiteral tables[] = {"inv_freq", "cos_cached", "sin_cached", "masked_bias"};
  return llvm::any_of(tables, [&](StringRef table) { return name.ends_with(table); });
}

static bool isVariable(const Initializer &tensor) {
  if (!isFloat(tensor.element) || isTableName(tensor.name))
    return false;
  return *countOf(tensor.shape) != 1 || StringRef(tensor.name).contains('.');
}

std::deque<Variable> onnx_import::chooseVariables(const ModelFile &file, const Graph &graph) {
  std::deque<Variable> variables;
  llvm::StringMap<const Initializer *> byName;
  for (const Initializer &tensor : file.initializers)
    if (isVariable(tensor)) {
      byName[tensor.name] = &tensor;
      variables.push_back({&tensor, tensor.name, tensor.name, VariableRole::Parameter, false, {}, {}});
    }
  llvm::StringSet<> statistics;
  for (const onnx::NodeProto *node : graph.nodes) {
    if (node->op_type() == "BatchNormalization")
      for (int i = 3; i < std::min(5, node->input_size()); ++i)
        statistics.insert(node->input(i));
    if (node->op_type() != "Identity" || node->input_size() != 1 || node->output_size() != 1)
      continue;
    const Initializer *source = byName.lookup(node->input(0));
    if (source && source->isUniform())
      variables.push_back({source, node->output(0), node->output(0), VariableRole::Parameter, false, {}, {}});
  }
  for (Variable &variable : variables)
    if (statistics.contains(variable.value))
      variable.role = VariableRole::Buffer;
  return variables;
}

/// The data: a range of the file, or elements if it does not lie there as it is.
static Attribute initialOf(const Initializer &tensor, MLIRContext *context) {
  if (tensor.typed.empty())
    return FileRangeAttr::get(context, tensor.file, tensor.range.offset, tensor.range.length);
  return toAttribute(tensor.decode(), context);
}

void onnx_import::declareVariables(std::deque<Variable> &variables, OpBuilder &builder) {
  MLIRContext *context = builder.getContext();
  static constexpr StringLiteral prefix = "model.";
  bool allHavePrefix =
      llvm::all_of(variables, [](const Variable &variable) { return StringRef(variable.name).starts_with(prefix); });
  for (Variable &variable : variables) {
    if (allHavePrefix)
      variable.name.erase(0, prefix.size());
    auto type = RankedTensorType::get(variable.data->shape, typeOf(variable.data->element, context));
    Location loc = NameLoc::get(builder.getStringAttr(variable.value));
    variable.op =
        VariableOp::create(builder, loc, variable.name, variable.role, type, initialOf(*variable.data, context),
                           /*layout=*/LayoutAttr(), /*frozen=*/false);
  }
}
