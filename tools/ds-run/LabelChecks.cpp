// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "LabelChecks.h"

#include "ds/Runtime/Session/DataSource.h"
#include "ds/Runtime/Session/TensorFiles.h"
#include "ds/Runtime/StatusMacros.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <filesystem>

namespace ds {

/// The numbers of the first step of an input of `shape`.
static absl::StatusOr<std::vector<int64_t>> firstStep(const std::string &path, const std::vector<int64_t> &shape) {
  DS_ASSIGN_OR_RETURN(const File file, File::open(path));
  DS_ASSIGN_OR_RETURN(const runtime::StoredTensor tensor, runtime::readNumpyHeader(file));
  runtime::StoredTensor step{tensor.type, shape, tensor.offset};
  std::vector<char> bytes(static_cast<size_t>(step.bytes()));
  DS_RETURN_IF_ERROR(file.readAt(step.offset, bytes.data(), step.bytes()));
  std::vector<int64_t> numbers(static_cast<size_t>(step.elements()));
  DS_RETURN_IF_ERROR(
      runtime::convertElements(step.type, bytes.data(), runtime::ElementType::I64, numbers.data(), step.elements()));
  return numbers;
}

/// Whether each label is the token at the next position. Rows of one token alone show nothing.
static bool areNextTokens(const std::vector<int64_t> &labels, const std::vector<int64_t> &tokens, int64_t length) {
  bool hasDifferent = false;
  for (size_t i = 0; i + 1 < labels.size(); ++i) {
    if (static_cast<int64_t>(i + 1) % length == 0)
      continue;
    if (labels[i] != tokens[i + 1])
      return false;
    hasDifferent |= tokens[i] != tokens[i + 1];
  }
  return hasDifferent;
}

static absl::Status mustNotShift(const std::string &where, const std::string &why) {
  return absl::InvalidArgumentError(absl::StrCat(where, ": \"model.loss.shift\" must be false, got true: ", why,
                                                 ", and would be shifted twice (position i would learn token i + 2)"));
}

absl::Status checkShift(const LossConfig &loss, const plan::PlanT &plan, const std::string &data) {
  const auto port = std::find_if(plan.inputs.begin(), plan.inputs.end(),
                                 [&](const auto &input) { return input->name == loss.labels; });
  if (!loss.isAttached() || !loss.isShifted || port == plan.inputs.end())
    return absl::OkStatus();
  std::error_code error;
  if (!std::filesystem::is_directory(data, error))
    return mustNotShift(data, "the labels of a file of tokens are the next tokens already");
  const std::vector<int64_t> &shape = (*port)->shape;
  const auto pathOf = [&](const std::string &name) { return (std::filesystem::path(data) / (name + ".npy")).string(); };
  for (const auto &input : plan.inputs) {
    if (input == *port || input->shape != shape || shape.size() != 2 || input->type < plan::DataType::I64)
      continue;
    DS_ASSIGN_OR_RETURN(const std::vector<int64_t> labels, firstStep(pathOf(loss.labels), shape));
    DS_ASSIGN_OR_RETURN(const std::vector<int64_t> tokens, firstStep(pathOf(input->name), shape));
    if (areNextTokens(labels, tokens, shape.back()))
      return mustNotShift(pathOf(loss.labels),
                          absl::StrCat("these are the next tokens of '", input->name, "' already"));
  }
  return absl::OkStatus();
}

} // namespace ds
