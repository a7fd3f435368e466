// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "InputChecks.h"

#include "ds/Codegen/EmitPlan.h"
#include "ds/Dialect/Names.h"
#include "ds/Files/Folder.h"
#include "ds/Runtime/Session/DataSource.h"
#include "ds/Runtime/Session/TensorFiles.h"

#include "absl/strings/str_cat.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

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
  auto add = [&](const std::string &name, plan::DataType type, Shape shape, bool isWhole = false) {
    if (!shape.empty() && !isWhole)
      shape[0] *= parts;
    inputs.push_back(makeInput(name, type, std::move(shape)));
  };
  bool hasLabels = !loss.isAttached();
  for (BlockArgument argument : forward.getArguments()) {
    const std::string name = forward.getArgAttrOfType<StringAttr>(argument.getArgNumber(), kNameAttr).str();
    add(name, dataTypeOf(cast<RankedTensorType>(argument.getType()).getElementType()), shapeOf(argument.getType()),
        forward.getArgAttr(argument.getArgNumber(), kWholeAttr) != nullptr);
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

/// The folder's .npy files, for a message.
static std::string filesIn(const std::string &folder) {
  std::vector<std::string> names = namesIn(folder);
  llvm::erase_if(names, [](StringRef name) { return llvm::sys::path::extension(name) != ".npy"; });
  llvm::sort(names);
  return names.empty() ? "no .npy file" : llvm::join(names, ", ");
}

/// Why the data of an input do not tell the sizes of its dims.
static absl::Status checkOpenInput(const OpenInput &input, const std::string &folder) {
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, input.name + ".npy");
  const std::string wanted = absl::StrCat("input '", input.name, "' [", llvm::join(input.dims, ", "), "]");
  if (!llvm::sys::fs::exists(path))
    return absl::InvalidArgumentError(absl::StrCat(path.str().str(), ": no such file, which must have the data of ",
                                                   wanted, "; ", folder, " has ", filesIn(folder)));
  const absl::StatusOr<File> file = File::open(path.str().str());
  const auto tensor = file.ok() ? runtime::readNumpyHeader(*file) : file.status();
  if (!tensor.ok())
    return tensor.status();
  if (tensor->shape.size() == input.dims.size() + 1)
    return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      path.str().str(), ": must have the dims [steps, ", llvm::join(input.dims, ", "), "] for ", wanted, ", got [",
      llvm::join(llvm::map_range(tensor->shape, [](int64_t size) { return std::to_string(size); }), ", "), "]"));
}

absl::Status ds::checkOpenInputs(const std::vector<OpenInput> &inputs, const std::string &data) {
  if (inputs.empty() || data.empty())
    return absl::OkStatus();
  if (!llvm::sys::fs::is_directory(data))
    return absl::InvalidArgumentError(absl::StrCat(
        data,
        ": a file of tokens does not tell the length of sequences: write the size of each symbolic dim but the "
        "batch under \"model.dims\", or --dim NAME=SIZE, for input '",
        inputs.front().name, "' [", llvm::join(inputs.front().dims, ", "), "]"));
  for (const OpenInput &input : inputs)
    if (absl::Status status = checkOpenInput(input, data); !status.ok())
      return status;
  return absl::OkStatus();
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
