// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Runtime/Session/DataSource.h"

#include "AllowedInts.h"
#include "ElementIO.h"

#include "ds/Runtime/StatusMacros.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <filesystem>

namespace ds::runtime {

ElementType elementTypeOf(plan::DataType type) {
  switch (type) {
  case plan::DataType::F32:
    return ElementType::F32;
  case plan::DataType::F64:
    return ElementType::F64;
  case plan::DataType::F16:
    return ElementType::F16;
  case plan::DataType::BF16:
    return ElementType::BF16;
  case plan::DataType::I64:
    return ElementType::I64;
  case plan::DataType::I32:
    return ElementType::I32;
  case plan::DataType::I8:
    return ElementType::I8;
  case plan::DataType::Bool:
    return ElementType::Bool;
  }
  return ElementType::F32;
}

/// Fills `buffer` with this rank's part of an input, which is `stored`, and checks what was read.
static absl::Status readInput(const File &file, const StoredTensor &stored, const plan::PlanT &plan, size_t input,
                              const Mesh &mesh, int64_t rank, BufferView buffer) {
  const plan::PortT &port = *plan.inputs[input];
  const HeldTensor held{plan::layoutOf(plan, *port.layout), port.shape, elementTypeOf(port.type), buffer};
  DS_RETURN_IF_ERROR(readHeld(file, stored, mesh, rank, held));
  return port.allowed ? checkAllowed(*port.allowed, mesh, rank, held) : absl::OkStatus();
}

//===----------------------------------------------------------------------===//
// A folder of .npy files
//===----------------------------------------------------------------------===//

namespace {
class NumpyData : public DataSource {
public:
  explicit NumpyData(const plan::PlanT &plan) : plan(plan) {}

  absl::Status open(const std::string &folder);
  int64_t steps() const override { return numSteps; }
  absl::Status read(int64_t step, size_t input, const Mesh &mesh, int64_t rank, BufferView buffer) const override;

private:
  struct Entry {
    File file;
    StoredTensor tensor;
  };
  absl::Status openInput(const std::string &folder, const plan::PortT &port, Entry &entry);
  absl::Status openInputs(const std::string &folder);

  const plan::PlanT &plan;
  std::vector<Entry> entries; ///< by number of the input; no file for the learning rate
  int64_t numSteps = 0;
};
} // namespace

absl::Status NumpyData::openInput(const std::string &folder, const plan::PortT &port, Entry &entry) {
  const std::optional<std::string> file = numpyPathOf(folder, port.name);
  if (!file)
    return absl::InvalidArgumentError(absl::StrCat("input '", port.name, "' cannot be the name of a file"));
  const std::string &path = *file;
  std::error_code error;
  if (!std::filesystem::exists(path, error))
    return absl::InvalidArgumentError(
        absl::StrCat("data folder ", folder, " has no file for input '", port.name, "' (", path, ")"));
  DS_ASSIGN_OR_RETURN(entry.file, File::open(path));
  DS_ASSIGN_OR_RETURN(entry.tensor, readNumpyHeader(entry.file));
  const std::vector<int64_t> &shape = entry.tensor.shape;
  if (shape.size() != port.shape.size() + 1 || !std::equal(port.shape.begin(), port.shape.end(), shape.begin() + 1))
    return absl::InvalidArgumentError(absl::StrCat(path, ": shape must be [steps] + ", shapeName(port.shape),
                                                   " of input '", port.name, "', got ", shapeName(shape)));
  const ElementType wanted = elementTypeOf(port.type);
  if (!isConvertible(entry.tensor.type, wanted))
    return absl::InvalidArgumentError(absl::StrCat(path, ": type must fit ", std::string(elementTypeName(wanted)),
                                                   " of input '", port.name, "', got ",
                                                   std::string(elementTypeName(entry.tensor.type))));
  if (shape[0] < 1)
    return absl::InvalidArgumentError(absl::StrCat(path, ": must have at least 1 step, got 0"));
  return absl::OkStatus();
}

/// Opens the file of each input. Of several that are faulty all are told, so that they can be mended at once.
absl::Status NumpyData::openInputs(const std::string &folder) {
  std::vector<std::string> faults;
  entries.resize(plan.inputs.size());
  for (size_t i = 0; i < plan.inputs.size(); ++i) {
    if (plan.inputs[i]->name == kLearningRateInput)
      continue;
    const absl::Status status = openInput(folder, *plan.inputs[i], entries[i]);
    if (!status.ok() && status.code() != absl::StatusCode::kInvalidArgument)
      return status;
    if (!status.ok())
      faults.emplace_back(status.message());
  }
  return faults.empty() ? absl::OkStatus() : absl::InvalidArgumentError(absl::StrJoin(faults, "\n"));
}

absl::Status NumpyData::open(const std::string &folder) {
  DS_RETURN_IF_ERROR(openInputs(folder));
  const Entry *first = nullptr;
  for (size_t i = 0; i < plan.inputs.size(); ++i) {
    if (plan.inputs[i]->name == kLearningRateInput)
      continue;
    first = first ? first : &entries[i];
    if (entries[i].tensor.shape[0] != first->tensor.shape[0])
      return absl::InvalidArgumentError(absl::StrCat(entries[i].file.path(), ": must have the ", first->tensor.shape[0],
                                                     " steps of ", first->file.path(), ", got ",
                                                     entries[i].tensor.shape[0]));
  }
  numSteps = first ? first->tensor.shape[0] : 1;
  return absl::OkStatus();
}

absl::Status NumpyData::read(int64_t step, size_t input, const Mesh &mesh, int64_t rank, BufferView buffer) const {
  const Entry &entry = entries[input];
  StoredTensor ofStep = entry.tensor;
  ofStep.shape.erase(ofStep.shape.begin());
  ofStep.offset += step % numSteps * ofStep.bytes();
  return readInput(entry.file, ofStep, plan, input, mesh, rank, buffer);
}

//===----------------------------------------------------------------------===//
// A file of tokens
//===----------------------------------------------------------------------===//

namespace {
/// Sample k is tokens [k * length, (k + 1) * length), its labels are one further; so a file of n tokens has
/// (n - 1) / length samples. A remainder that does not fill a step is left out.
class TokenData : public DataSource {
public:
  TokenData(const plan::PlanT &plan, ElementType type) : plan(plan), type(type) {}

  absl::Status open(const std::string &path);
  int64_t steps() const override { return numSteps; }
  absl::Status read(int64_t step, size_t input, const Mesh &mesh, int64_t rank, BufferView buffer) const override;

private:
  const plan::PlanT &plan;
  ElementType type;
  File file;
  int64_t tokensPerStep = 0, numSteps = 0;
};
} // namespace

static constexpr const char *kTokenInput = "input_ids";
static constexpr const char *kLabelInput = "labels";

absl::Status TokenData::open(const std::string &path) {
  for (const auto &port : plan.inputs) {
    if (port->name == kLearningRateInput)
      continue;
    if (port->name != kTokenInput && port->name != kLabelInput)
      return absl::InvalidArgumentError(absl::StrCat(path, ": a token file gives '", kTokenInput, "' and '",
                                                     kLabelInput, "', but the plan also has input '", port->name,
                                                     "'; use a folder of .npy files"));
    if (port->shape.size() != 2 || isFloat(elementTypeOf(port->type)))
      return absl::InvalidArgumentError(absl::StrCat(
          path, ": input '", port->name, "' must be [samples, tokens] of integers, got ", shapeName(port->shape)));
    const int64_t tokens = port->shape[0] * port->shape[1];
    if (tokensPerStep != 0 && tokens != tokensPerStep)
      return absl::InvalidArgumentError(
          absl::StrCat(path, ": '", kTokenInput, "' and '", kLabelInput, "' must have equal shapes"));
    tokensPerStep = tokens;
  }
  DS_ASSIGN_OR_RETURN(file, File::open(path));
  DS_ASSIGN_OR_RETURN(const int64_t bytes, file.size());
  const int64_t width = elementBytes(type);
  if (bytes % width != 0)
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": size must be a multiple of ", width, " bytes per token, got ", bytes));
  numSteps = tokensPerStep == 0 ? 1 : (bytes / width - 1) / tokensPerStep;
  if (numSteps < 1)
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": must have at least ", tokensPerStep + 1, " tokens for one step, got ", bytes / width));
  return absl::OkStatus();
}

absl::Status TokenData::read(int64_t step, size_t input, const Mesh &mesh, int64_t rank, BufferView buffer) const {
  const int64_t shift = plan.inputs[input]->name == kLabelInput ? 1 : 0;
  const StoredTensor ofStep{type, plan.inputs[input]->shape,
                            (step % numSteps * tokensPerStep + shift) * elementBytes(type)};
  return readInput(file, ofStep, plan, input, mesh, rank, buffer);
}

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

/// Types that a token file may have; by its name unless the caller says.
static absl::StatusOr<ElementType> tokenTypeOf(const std::string &path, std::optional<ElementType> given) {
  const bool isWide = absl::EndsWith(path, ".u32") || absl::EndsWith(path, ".uint32");
  const ElementType type = given.value_or(isWide ? ElementType::U32 : ElementType::U16);
  if (type != ElementType::U16 && type != ElementType::U32)
    return absl::InvalidArgumentError("token type must be uint16 or uint32");
  return type;
}

absl::StatusOr<std::unique_ptr<DataSource>> openData(const plan::PlanT &plan, const std::string &path,
                                                     std::optional<ElementType> tokenType) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    auto data = std::make_unique<NumpyData>(plan);
    DS_RETURN_IF_ERROR(data->open(path));
    return data;
  }
  if (!std::filesystem::exists(path, error))
    return absl::InvalidArgumentError(absl::StrCat(path, ": no such data folder or token file"));
  DS_ASSIGN_OR_RETURN(const ElementType type, tokenTypeOf(path, tokenType));
  auto data = std::make_unique<TokenData>(plan, type);
  DS_RETURN_IF_ERROR(data->open(path));
  return data;
}

} // namespace ds::runtime
