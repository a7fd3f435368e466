// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Runtime/Session/VariableFiles.h"

#include "ElementIO.h"

#include "ds/Files/ContentHash.h"
#include "ds/Plan/Extents.h"

#include "ds/Runtime/Session/DataSource.h"
#include "ds/Runtime/StatusMacros.h"
#include "ds/Runtime/Storage/WriteInBlocks.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cassert>
#include <cstring>

namespace ds::runtime {

static constexpr int64_t kSaveThreads = 4; ///< of all ranks together: so many blocks keep a disk busy

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

static absl::Status checkModelFile(const plan::ModelFileT &known, const std::string &modelFolder) {
  DS_ASSIGN_OR_RETURN(const File file, File::openBelow(modelFolder, known.path));
  DS_ASSIGN_OR_RETURN(const int64_t bytes, file.size());
  std::string difference;
  if (static_cast<uint64_t>(bytes) != known.bytes)
    difference = absl::StrCat("it had ", known.bytes, " bytes, got ", bytes);
  ContentHash hash;
  if (difference.empty()) {
    DS_RETURN_IF_ERROR(hash.add(file));
    if (hash.hex() != known.hash)
      difference = "other bytes of the same number";
  }
  if (difference.empty())
    return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(file.path(), ": must be the file that the plan was compiled from (",
                                                 difference, "); compile the model again"));
}

absl::Status checkModelFiles(const plan::PlanT &plan, const std::string &modelFolder) {
  for (const auto &known : plan.model_files)
    DS_RETURN_IF_ERROR(checkModelFile(*known, modelFolder));
  return absl::OkStatus();
}

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

namespace {
/// How the names of a file differ from the model's: by one module path at the start of all.
struct NamePaths {
  std::string removed; ///< from the model's name
  std::string added;   ///< before what is left

  std::string inFile(const std::string &name) const { return added + name.substr(removed.size()); }
};
} // namespace

using StoredTensors = std::map<std::string, StoredTensor>;

/// Whether the file has all parameters of the model under such names.
static bool fits(const plan::PlanT &plan, const StoredTensors &tensors, const NamePaths &paths) {
  for (const auto &variable : plan.variables)
    if (variable->role == plan::VariableRole::Parameter &&
        (!absl::StartsWith(variable->name, paths.removed) || tensors.count(paths.inFile(variable->name)) == 0))
      return false;
  return true;
}

/// What `whole` has before `part`, with the dot; nothing if it does not end so.
static std::optional<std::string> pathBefore(const std::string &whole, const std::string &part) {
  if (part.empty() || !absl::EndsWith(whole, "." + part))
    return std::nullopt;
  return whole.substr(0, whole.size() - part.size());
}

/// The paths by which the file has all parameters; none if it has them under their own names, or not at all.
static NamePaths findPaths(const plan::PlanT &plan, const StoredTensors &tensors) {
  const auto isParameter = [](const auto &variable) { return variable->role == plan::VariableRole::Parameter; };
  const auto first = std::find_if(plan.variables.begin(), plan.variables.end(), isParameter);
  if (first == plan.variables.end() || fits(plan, tensors, {}))
    return {};
  for (const auto &entry : tensors) {
    NamePaths paths;
    if (const auto added = pathBefore(entry.first, (*first)->name))
      paths.added = *added;
    else if (const auto removed = pathBefore((*first)->name, entry.first))
      paths.removed = *removed;
    else
      continue;
    if (fits(plan, tensors, paths))
      return paths;
  }
  return {};
}

static absl::Status loadVariable(const RankMemory &memory, const plan::VariableT &variable, const File &file,
                                 const std::string &name, const StoredTensor &stored) {
  const HeldTensor held = heldVariable(memory, variable);
  if (stored.shape != variable.shape || !isConvertible(stored.type, held.type))
    return absl::InvalidArgumentError(absl::StrCat(file.path(), ": tensor '", name, "' must be ",
                                                   StoredTensor{held.type, variable.shape, 0}.typeAndShape(), ", got ",
                                                   stored.typeAndShape()));
  return readHeld(file, stored, memory.mesh, memory.rank, held);
}

absl::StatusOr<LoadedModel> loadModel(const RankMemory &memory, const std::string &path) {
  DS_ASSIGN_OR_RETURN(const File file, File::open(path));
  DS_ASSIGN_OR_RETURN(const auto tensors, readSafetensorsHeader(file));
  const NamePaths paths = findPaths(memory.plan, tensors);
  LoadedModel loaded;
  loaded.removed = paths.removed;
  loaded.added = paths.added;
  std::set<std::string> used;
  for (const auto &variable : memory.plan.variables) {
    if (modelRoles().count(variable->role) == 0)
      continue;
    const bool hasPath = absl::StartsWith(variable->name, paths.removed);
    const std::string name = hasPath ? paths.inFile(variable->name) : variable->name;
    const auto found = tensors.find(name);
    if (found == tensors.end() && variable->role == plan::VariableRole::Parameter)
      return absl::InvalidArgumentError(
          absl::StrCat(file.path(), ": has no tensor '", variable->name, "' of the model"));
    if (found == tensors.end()) {
      loaded.kept.push_back(variable->name);
      continue;
    }
    DS_RETURN_IF_ERROR(loadVariable(memory, *variable, file, name, found->second));
    used.insert(name);
  }
  for (const auto &entry : tensors)
    if (used.count(entry.first) == 0)
      loaded.unused.push_back(entry.first);
  return loaded;
}

//===----------------------------------------------------------------------===//
// Saving
//===----------------------------------------------------------------------===//

namespace {
/// A variable, where it lies in the file, and who has it.
struct SavedVariable {
  const plan::VariableT &variable;
  StoredTensor stored;
  Layout layout;
  std::vector<int64_t> holders; ///< ranks whose pieces are the tensor, each element once
};

/// The bytes of a .safetensors file that is being made of the memory of all ranks.
class ModelBytes {
public:
  explicit ModelBytes(const RankMemory &memory) : memory(memory) {}

  absl::Status layOut(const std::set<plan::VariableRole> &roles);
  int64_t size() const { return fileBytes; }
  /// Bytes [begin, end) of the file.
  void read(int64_t begin, int64_t end, char *target) const;

private:
  void readVariable(const SavedVariable &saved, const Interval &bytes, char *target) const;
  const char *dataOn(int64_t rank, const plan::VariableT &variable) const;

  const RankMemory &memory;
  std::string header;
  std::vector<SavedVariable> variables; ///< in the order of their bytes
  int64_t fileBytes = 0;
};
} // namespace

static NamedTensor namedTensor(const plan::VariableT &variable) {
  return {variable.name, elementTypeOf(variable.type), variable.shape};
}

absl::StatusOr<int64_t> savedBytes(const plan::PlanT &plan, const std::set<plan::VariableRole> &roles) {
  std::vector<NamedTensor> names;
  for (const auto &variable : plan.variables)
    if (roles.count(variable->role) != 0)
      names.push_back(namedTensor(*variable));
  DS_ASSIGN_OR_RETURN(const SafetensorsLayout layout, layOutSafetensors(names));
  return layout.fileBytes;
}

absl::Status ModelBytes::layOut(const std::set<plan::VariableRole> &roles) {
  std::vector<NamedTensor> names;
  for (const auto &variable : memory.plan.variables) {
    if (roles.count(variable->role) == 0)
      continue;
    names.push_back(namedTensor(*variable));
    SavedVariable saved{*variable, {}, plan::layoutOf(memory.plan, *variable->layout), {}};
    if (!saved.layout.partial.empty())
      return inVariable(*variable, absl::UnimplementedError("cannot save a tensor that is partial over a mesh axis"));
    const auto room = static_cast<int64_t>(memory.findBuffer(variable->buffer).bytes / plan::sizeOf(variable->type));
    for (int64_t rank = 0; rank < memory.mesh.numRanks(); ++rank) {
      if (!isFirstHolder(saved.layout, memory.mesh, rank))
        continue;
      saved.holders.push_back(rank);
      if (ownedElements(saved.layout, variable->shape, memory.mesh, rank) > room)
        return inVariable(*variable, absl::InvalidArgumentError("invalid plan: buffer is too small"));
    }
    variables.push_back(std::move(saved));
  }
  DS_ASSIGN_OR_RETURN(SafetensorsLayout layout, layOutSafetensors(names));
  for (size_t i = 0; i < variables.size(); ++i)
    variables[i].stored = std::move(layout.tensors[i]);
  header = std::move(layout.header);
  fileBytes = layout.fileBytes;
  return absl::OkStatus();
}

const char *ModelBytes::dataOn(int64_t rank, const plan::VariableT &variable) const {
  return static_cast<const char *>(rank == memory.rank ? memory.findBuffer(variable.buffer).data
                                                       : memory.findOnRank(rank, variable.buffer));
}

/// Bytes [bytes.begin, bytes.end) of the tensor. A block of the file may begin or end inside an element.
void ModelBytes::readVariable(const SavedVariable &saved, const Interval &bytes, char *target) const {
  const int64_t width = elementBytes(saved.stored.type);
  const Interval elements{bytes.begin / width, (bytes.end + width - 1) / width};
  for (const int64_t rank : saved.holders) {
    const char *data = dataOn(rank, saved.variable);
    const absl::Status status =
        forEachOwnedRunIn(elements, saved.layout, saved.stored.shape, memory.mesh, rank, [&](const OwnedRun &run) {
          const int64_t begin = std::max(bytes.begin, run.global * width);
          const int64_t end = std::min(bytes.end, (run.global + run.length) * width);
          std::memcpy(target + begin - bytes.begin, data + run.local * width + begin - run.global * width,
                      static_cast<size_t>(end - begin));
          return absl::OkStatus();
        });
    assert(status.ok() && "copying cannot fail");
    (void)status;
  }
}

void ModelBytes::read(int64_t begin, int64_t end, char *target) const {
  const int64_t headerEnd = std::min<int64_t>(end, header.size());
  if (begin < headerEnd)
    std::memcpy(target, header.data() + begin, static_cast<size_t>(headerEnd - begin));
  const auto endsBefore = [](const SavedVariable &saved, int64_t place) {
    return saved.stored.offset + saved.stored.bytes() <= place;
  };
  for (auto saved = std::lower_bound(variables.begin(), variables.end(), begin, endsBefore); saved != variables.end();
       ++saved) {
    const int64_t offset = saved->stored.offset;
    const Interval bytes{std::max(begin, offset), std::min(end, offset + saved->stored.bytes())};
    if (offset >= end)
      break;
    if (bytes.begin < bytes.end)
      readVariable(*saved, {bytes.begin - offset, bytes.end - offset}, target + bytes.begin - begin);
  }
}

absl::Status saveVariables(const RankMemory &memory, const std::set<plan::VariableRole> &roles, const File &file) {
  ModelBytes bytes(memory);
  DS_RETURN_IF_ERROR(bytes.layOut(roles));
  BlockShare share;
  share.member = memory.rank;
  share.members = memory.mesh.numRanks();
  share.threads = static_cast<int>(std::max<int64_t>(1, kSaveThreads / share.members));
  return writeInBlocks(file.descriptor(), file.path(), bytes.size(), share,
                       [&](int64_t begin, int64_t end, char *target) { bytes.read(begin, end, target); });
}

} // namespace ds::runtime
