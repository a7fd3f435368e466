// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "Variables.h"

#include "NodeContext.h"

using namespace mlir;
using namespace ds;
using namespace ds::onnx_import;

namespace {
/// A float tensor of the file under one of its names.
struct Candidate {
  const Initializer *data;
  std::string value, name;
  TensorGuess guess;
  bool isGenerated;
};
} // namespace

/// Whether a value's name is that of a node's result rather than a parameter's.
static bool isResultName(StringRef value) {
  return value.starts_with("/") || value.starts_with("val_") || llvm::all_of(value, llvm::isDigit);
}

static std::vector<Candidate> findCandidates(const ModelFile &file, const Graph &graph) {
  const TensorRoles roles(file, graph);
  std::vector<Candidate> candidates;
  llvm::StringMap<const Initializer *> byName;
  auto add = [&](const Initializer &data, StringRef value) {
    candidates.push_back({&data, value.str(), value.str(), roles.guess(data, value), roles.isGenerated(value)});
  };
  for (const Initializer &tensor : file.initializers)
    if (isFloat(tensor.element)) {
      byName[tensor.name] = &tensor;
      add(tensor, tensor.name);
    }
  for (const onnx::NodeProto *node : graph.nodes) {
    if (node->op_type() != "Identity" || node->input_size() != 1 || node->output_size() != 1)
      continue;
    const Initializer *source = byName.lookup(node->input(0));
    if (source && !isResultName(node->output(0)))
      add(*source, node->output(0));
  }
  return candidates;
}

/// Drops one leading "model." from all names if all variables under names of their own have it: it is that of the
/// module that adds a loss.
static void dropPrefix(std::vector<Candidate> &candidates) {
  static constexpr StringLiteral prefix = "model.";
  const bool haveAllPrefix = llvm::all_of(candidates, [](const Candidate &candidate) {
    return candidate.guess.role == TensorGuess::Constant || candidate.isGenerated ||
           StringRef(candidate.name).starts_with(prefix);
  });
  for (Candidate &candidate : candidates)
    if (haveAllPrefix && StringRef(candidate.name).starts_with(prefix))
      candidate.name.erase(0, prefix.size());
}

std::deque<Variable> onnx_import::chooseVariables(const ModelFile &file, const Graph &graph,
                                                  const ImportOptions &options, ImportedModel &model) {
  std::vector<Candidate> candidates = findCandidates(file, graph);
  dropPrefix(candidates);
  std::deque<Variable> variables;
  for (Candidate &candidate : candidates) {
    model.tensors.push_back(candidate.name);
    TensorGuess guess = candidate.guess;
    const std::optional<TensorRole> told = options.findRole ? options.findRole(candidate.name) : std::nullopt;
    // A table that is a constant already stays one: what is computed from it can be computed now.
    if (told == TensorRole::Parameter)
      guess = {TensorGuess::Parameter, std::nullopt};
    else if (told == TensorRole::Buffer)
      guess = {isComputedTable(candidate.value) ? TensorGuess::Constant : TensorGuess::Buffer, std::nullopt};
    if (guess.doubt)
      model.doubts.push_back({*guess.doubt, candidate.name});
    if (guess.role == TensorGuess::Constant)
      continue;
    const VariableRole role = guess.role == TensorGuess::Parameter ? VariableRole::Parameter : VariableRole::Buffer;
    variables.push_back({candidate.data, candidate.value, candidate.name, candidate.isGenerated, role, false, {}, {}});
  }
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
  for (Variable &variable : variables) {
    auto type = RankedTensorType::get(variable.data->shape, typeOf(variable.data->element, context));
    Location loc = NameLoc::get(builder.getStringAttr(variable.value));
    const std::string symbol = symbolFor(variable.name);
    variable.op = VariableOp::create(builder, loc, symbol, variable.role, type, initialOf(*variable.data, context),
                                     /*layout=*/LayoutAttr(), /*frozen=*/false);
    if (symbol != variable.name)
      variable.op->setAttr(kNameAttr, builder.getStringAttr(variable.name));
    if (variable.isGenerated)
      variable.op->setAttr(kRenamedAttr, builder.getUnitAttr());
  }
}
