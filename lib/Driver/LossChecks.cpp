// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "LossChecks.h"

#include "TrainedTensors.h"

#include "ds/Dialect/Names.h"
#include "ds/Passes/LabelMean.h"

#include "absl/strings/str_cat.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace ds;

/// The output that the loss is, or is made of.
static const std::string &outputOf(const LossConfig &loss) { return loss.isAttached() ? loss.logits : loss.output; }

/// Whether an output can be a loss: one number, and a mean over labels if it shall be one over those of all parts.
static absl::Status checkScalar(Value output, const LossConfig &loss, const std::string &model,
                                const std::string &config) {
  auto tensor = cast<RankedTensorType>(output.getType());
  const bool isScalar = tensor.getNumElements() == 1 && isa<FloatType>(tensor.getElementType());
  if (isScalar && loss.mean == LossMean::Labels && !findLabelMean(output))
    return absl::InvalidArgumentError(
        absl::StrCat(config, ": \"model.loss.mean\" must be \"parts\": '", loss.output, "' of ", model,
                     " is no mean cross entropy over labels; \"model.loss.logits\" attaches one"));
  if (isScalar)
    return absl::OkStatus();
  std::string got;
  llvm::raw_string_ostream(got) << tensor;
  return absl::InvalidArgumentError(absl::StrCat(model, ": output '", loss.output,
                                                 "' must be one float to be the loss, got ", got,
                                                 "; take its mean in the model, or let \"model.loss.logits\" of ",
                                                 config, " name the output that cross entropy is attached to"));
}

absl::Status ds::checkLoss(func::FuncOp forward, const LossConfig &loss, const std::string &model,
                           const std::string &config) {
  const std::string &name = outputOf(loss);
  SmallVector<std::string> outputs;
  for (unsigned i = 0; i < forward.getNumResults(); ++i)
    if (auto output = forward.getResultAttrOfType<StringAttr>(i, kNameAttr)) {
      outputs.push_back("'" + output.str() + "'");
      if (output == name)
        return loss.isAttached() ? absl::OkStatus()
                                 : checkScalar(forward.front().getTerminator()->getOperand(i), loss, model, config);
    }
  return absl::InvalidArgumentError(absl::StrCat(config, ": \"model.loss.", loss.isAttached() ? "logits" : "output",
                                                 "\" must name an output of ", model, ", got '", name, "'; it has ",
                                                 llvm::join(outputs, ", ")));
}

/// The variables that the result `output` of a function depends on through floats.
static llvm::DenseSet<StringAttr> variablesBehind(func::FuncOp function, StringRef output) {
  llvm::DenseSet<Value> reached;
  Operation *terminator = function.front().getTerminator();
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (function.getResultAttrOfType<StringAttr>(i, kNameAttr) == output)
      reached.insert(terminator->getOperand(i));
  llvm::DenseSet<StringAttr> variables;
  for (Operation &op : llvm::reverse(function.front())) {
    if (llvm::none_of(op.getResults(), [&](Value result) { return reached.contains(result); }))
      continue;
    if (auto read = dyn_cast<ReadOp>(op))
      variables.insert(read.getVariableAttr().getAttr());
    for (Value operand : op.getOperands())
      if (isa<FloatType>(getElementTypeOrSelf(operand.getType())))
        reached.insert(operand);
  }
  return variables;
}

absl::Status ds::checkTrainable(ModuleOp module, const ModelConfig &model) {
  const std::vector<std::string> names = parameterNames(module);
  if (names.empty())
    return absl::InvalidArgumentError(
        "the model has no parameters to train; \"model.parameters\" says which tensors are");
  absl::StatusOr<std::vector<bool>> isFrozen = matchNames("model.frozen", model.frozen, names);
  if (!isFrozen.ok())
    return isFrozen.status();
  if (!llvm::is_contained(*isFrozen, false))
    return absl::InvalidArgumentError(
        absl::StrCat("\"model.frozen\" must leave a parameter to train, got all ", names.size(), " frozen"));
  const llvm::DenseSet<StringAttr> used = variablesBehind(*module.getOps<func::FuncOp>().begin(), outputOf(model.loss));
  size_t number = 0;
  for (VariableOp variable : module.getOps<VariableOp>())
    if (variable.getRole() == VariableRole::Parameter && !(*isFrozen)[number++] &&
        used.contains(variable.getSymNameAttr()))
      return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("'", outputOf(model.loss), "' must depend on a parameter that is trained, got none"));
}
