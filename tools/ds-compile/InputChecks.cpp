// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "InputChecks.h"

#include "ds/Codegen/EmitPlan.h"
#include "ds/Dialect/DsDialect.h"
#include "ds/Runtime/Session/DataSource.h"

#include "absl/strings/str_cat.h"

using namespace mlir;
using namespace ds;

static std::unique_ptr<plan::PortT> makeInput(const std::string &name, plan::DataType type, Shape shape) {
  auto input = std::make_unique<plan::PortT>();
  input->name = name;
  input->type = type;
  input->shape = std::move(shape);
  return input;
}

std::vector<std::unique_ptr<plan::PortT>> ds::inputsOfStep(func::FuncOp forward, const LossConfig &loss,
                                                           int64_t parts) {
  std::vector<std::unique_ptr<plan::PortT>> inputs;
  auto add = [&](const std::string &name, plan::DataType type, Shape shape) {
    if (!shape.empty())
      shape[0] *= parts;
    inputs.push_back(makeInput(name, type, std::move(shape)));
  };
  bool hasLabels = !loss.isAttached();
  for (BlockArgument argument : forward.getArguments()) {
    const std::string name = forward.getArgAttrOfType<StringAttr>(argument.getArgNumber(), kNameAttr).str();
    add(name, dataTypeOf(cast<RankedTensorType>(argument.getType()).getElementType()), shapeOf(argument.getType()));
    hasLabels |= name == loss.labels;
  }
  for (unsigned i = 0; i < forward.getNumResults() && !hasLabels; ++i)
    if (forward.getResultAttrOfType<StringAttr>(i, kNameAttr) == StringRef(loss.logits)) {
      Shape shape = shapeOf(forward.getResultTypes()[i]);
      if (!shape.empty())
        shape.pop_back(); // the classes
      add(loss.labels, plan::DataType::I64, std::move(shape));
    }
  return inputs;
}

absl::Status ds::checkBatch(func::FuncOp forward, const Batch &batch) {
  std::string got;
  for (auto &input : inputsOfStep(forward, LossConfig(), 1)) {
    if (input->shape.empty())
      continue;
    if (input->shape[0] == batch.partSize())
      return absl::OkStatus();
    absl::StrAppend(&got, got.empty() ? "" : ", ", input->shape[0], " of '", input->name, "'");
  }
  if (got.empty())
    return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("\"train_batch_size\" ", batch.train, " in ", batch.accumulation,
                                                 batch.accumulation == 1 ? " part" : " parts",
                                                 " needs an input with dim 0 of ", batch.partSize(), ", got ", got));
}

absl::Status ds::checkData(std::vector<std::unique_ptr<plan::PortT>> inputs, const std::string &path,
                           const std::string &tokenType) {
  if (inputs.empty())
    return absl::OkStatus();
  if (path.empty())
    return absl::InvalidArgumentError(
        absl::StrCat("--data must be given: the model has input '", inputs[0]->name, "'"));
  std::optional<runtime::ElementType> type;
  if (!tokenType.empty())
    type = tokenType == "uint32" ? runtime::ElementType::U32 : runtime::ElementType::U16;
  plan::PlanT plan;
  plan.inputs = std::move(inputs);
  return runtime::openData(plan, path, type).status();
}
