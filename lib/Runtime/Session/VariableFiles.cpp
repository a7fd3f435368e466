// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Runtime/Session/VariableFiles.h"

#include "ElementIO.h"

#include "ds/Plan/Extents.h"

#include "ds/Runtime/Session/DataSource.h"
#include "ds/Runtime/StatusMacros.h"

#include "absl/strings/str_cat.h"

namespace ds::runtime {

static HeldTensor heldVariable(const RankMemory &memory, const plan::VariableT &variable) {
  return {plan::layoutOf(memory.plan, *variable.layout), variable.shape, elementTypeOf(variable.type),
          memory.findBuffer(variable.buffer)};
}

static absl::Status inVariable(const plan::VariableT &variable, const absl::Status &status) {
  return absl::Status(status.code(), absl::StrCat("variable '", variable.name, "': ", status.message()));
}

//===----------------------------------------------------------------------===//
// Initial values
//===----------------------------------------------------------------------===//

namespace {
/// Files below the model's folder, each opened once.
class ModelFiles {
public:
  explicit ModelFiles(std::string folder) : folder(std::move(folder)) {}

  absl::StatusOr<const File *> open(const std::string &relative) {
    const auto found = files.find(relative);
    if (found != files.end())
      return &found->second;
    DS_ASSIGN_OR_RETURN(File file, File::openBelow(folder, relative));
    return &files.emplace(relative, std::move(file)).first->second;
  }

private:
  std::string folder;
  std::map<std::string, File> files;
};
} // namespace

static absl::Status checkBytes(const plan::VariableT &variable, uint64_t got, const char *where) {
  const std::optional<int64_t> elements = checkedElements(variable.shape, elementTypeOf(variable.type));
  const int64_t wanted = elements.value_or(-1) * static_cast<int64_t>(plan::sizeOf(variable.type));
  if (wanted < 0 || static_cast<uint64_t>(wanted) != got)
    return absl::InvalidArgumentError(
        absl::StrCat("invalid plan: ", where, " must have ", wanted, " bytes, got ", got));
  return absl::OkStatus();
}

static absl::Status readSource(const RankMemory &memory, const plan::VariableT &variable, ModelFiles &files) {
  const plan::FileRangeT &source = *variable.source;
  DS_RETURN_IF_ERROR(checkBytes(variable, source.length, "source"));
  if (source.offset > static_cast<uint64_t>(INT64_MAX) - source.length)
    return absl::InvalidArgumentError(absl::StrCat("invalid plan: source offset ", source.offset, " is too large"));
  DS_ASSIGN_OR_RETURN(const File *file, files.open(source.path));
  const StoredTensor stored{elementTypeOf(variable.type), variable.shape, static_cast<int64_t>(source.offset)};
  return readHeld(*file, stored, memory.mesh, memory.rank, heldVariable(memory, variable));
}

static absl::Status copyInline(const RankMemory &memory, const plan::VariableT &variable) {
  DS_RETURN_IF_ERROR(checkBytes(variable, variable.inline_data.size(), "inline data"));
  const HeldTensor held = heldVariable(memory, variable);
  const int64_t width = elementBytes(held.type);
  if (static_cast<int64_t>(held.buffer.bytes) <
      ownedElements(held.layout, held.shape, memory.mesh, memory.rank) * width)
    return absl::InvalidArgumentError("invalid plan: buffer is too small");
  return forEachOwnedRun(held.layout, held.shape, memory.mesh, memory.rank, [&](const OwnedRun &run) {
    std::memcpy(static_cast<char *>(held.buffer.data) + run.local * width,
                variable.inline_data.data() + run.global * width, run.length * width);
    return absl::OkStatus();
  });
}

absl::Status initializeVariables(const RankMemory &memory, const std::string &modelFolder) {
  ModelFiles files(modelFolder);
  for (const auto &variable : memory.plan.variables) {
    absl::Status status;
    if (variable->source)
      status = readSource(memory, *variable, files);
    else if (!variable->inline_data.empty())
      status = copyInline(memory, *variable);
    if (!status.ok())
      return inVariable(*variable, status);
  }
  return absl::OkStatus();
}

//===----------------------------------------------------------------------===//
// Models as .safetensors
//===----------------------------------------------------------------------===//

const std::set<plan::VariableRole> &modelRoles() {
  static const std::set<plan::VariableRole> roles = {plan::VariableRole::Parameter, plan::VariableRole::Buffer};
  return roles;
}

static absl::Status loadVariable(const RankMemory &memory, const plan::VariableT &variable, const File &file,
                                 const std::map<std::string, StoredTensor> &tensors) {
  const auto found = tensors.find(variable.name);
  if (found == tensors.end())
    return absl::InvalidArgumentError(absl::StrCat(file.path(), ": has no tensor '", variable.name, "' of the model"));
  const HeldTensor held = heldVariable(memory, variable);
  const StoredTensor &stored = found->second;
  if (stored.shape != variable.shape || !isConvertible(stored.type, held.type))
    return absl::InvalidArgumentError(absl::StrCat(file.path(), ": tensor '", variable.name, "' must be ",
                                                   StoredTensor{held.type, variable.shape, 0}.typeAndShape(), ", got ",
                                                   stored.typeAndShape()));
  return readHeld(file, stored, memory.mesh, memory.rank, held);
}

absl::StatusOr<std::vector<std::string>> loadModel(const RankMemory &memory, const std::string &path) {
  DS_ASSIGN_OR_RETURN(const File file, File::open(path));
  DS_ASSIGN_OR_RETURN(const auto tensors, readSafetensorsHeader(file));
  std::set<std::string> used;
  for (const auto &variable : memory.plan.variables) {
    if (modelRoles().count(variable->role) == 0)
      continue;
    DS_RETURN_IF_ERROR(loadVariable(memory, *variable, file, tensors));
    used.insert(variable->name);
  }
  std::vector<std::string> unused;
  for (const auto &entry : tensors)
    if (used.count(entry.first) == 0)
      unused.push_back(entry.first);
  return unused;
}

absl::Status saveVariables(const RankMemory &memory, const std::set<plan::VariableRole> &roles, const File &file) {
  std::vector<NamedTensor> names;
  std::vector<const plan::VariableT *> variables;
  for (const auto &variable : memory.plan.variables)
    if (roles.count(variable->role) != 0) {
      names.push_back({variable->name, elementTypeOf(variable->type), variable->shape});
      variables.push_back(variable.get());
    }
  DS_ASSIGN_OR_RETURN(const SafetensorsLayout layout, layOutSafetensors(names));
  if (memory.rank == 0)
    DS_RETURN_IF_ERROR(file.writeAt(0, layout.header.data(), static_cast<int64_t>(layout.header.size())));
  for (size_t i = 0; i < variables.size(); ++i) {
    const absl::Status status =
        writeHeld(file, layout.tensors[i], memory.mesh, memory.rank, heldVariable(memory, *variables[i]));
    if (!status.ok())
      return inVariable(*variables[i], status);
  }
  return absl::OkStatus();
}

} // namespace ds::runtime
