// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// The persistent state of a plan, from files and to files.

#ifndef DS_RUNTIME_SESSION_VARIABLEFILES_H
#define DS_RUNTIME_SESSION_VARIABLEFILES_H

#include "ds/Plan/LayoutTables.h"
#include "ds/Runtime/Executor.h"
#include "ds/Runtime/Session/TensorFiles.h"

#include <functional>
#include <set>

namespace ds::runtime {

/// Finds the memory of a buffer of the plan.
using FindBuffer = std::function<BufferView(uint32_t)>;

/// A rank of a plan, and its memory.
struct RankMemory {
  const plan::PlanT &plan;
  const Mesh &mesh;
  int64_t rank;
  FindBuffer findBuffer;
  /// The memory of the same buffer on another rank, which this process may read; empty: it cannot.
  std::function<const void *(int64_t rank, uint32_t buffer)> findOnRank = {};
};

/// Fails with InvalidArgument unless the files below `modelFolder` that the plan's variables begin with are those that
/// it was compiled from, byte by byte: another model saved under the name would be read at the offsets of the old one.
/// Reads them whole. Once for all ranks, before they begin.
absl::Status checkModelFiles(const plan::PlanT &plan, const std::string &modelFolder);

/// Gives all variables their initial values: each rank reads only its own pieces. Files are looked up below
/// `modelFolder` and cannot be outside it. Variables without value stay as they are: zero in a new arena.
absl::Status initializeVariables(const RankMemory &memory, const std::string &modelFolder);

/// The roles that make up a model: what is saved and loaded under the model's names.
const std::set<plan::VariableRole> &modelRoles();

/// What loadModel found beyond tensors of the same names.
struct LoadedModel {
  std::vector<std::string> unused; ///< names in the file that the model does not have
  std::vector<std::string> kept;   ///< buffers that the file does not have; they keep the values they had
  std::string removed, added;      ///< a name in the file is the model's without `removed` and behind `added`
};

/// Overwrites the parameters and buffers with the tensors of the same names in a .safetensors file. All parameters must
/// be there with their shapes; floats of another width are converted. If all names of the file differ from the model's
/// by one leading module path ("transformer.", "model."), that is left out.
absl::StatusOr<LoadedModel> loadModel(const RankMemory &memory, const std::string &path);

/// The bytes of the file that saveVariables writes. Fails as that does, on names that such a file cannot have.
absl::StatusOr<int64_t> savedBytes(const plan::PlanT &plan, const std::set<plan::VariableRole> &roles);

/// Writes the full tensors of all variables of `roles` to `file`. Every rank calls this with the same file, open in
/// each, and writes every so many blocks of it, with what all ranks hold: no two ranks write to one page, and all
/// writes are long. No rank may change its variables meanwhile. `memory` must have findOnRank unless it is alone.
absl::Status saveVariables(const RankMemory &memory, const std::set<plan::VariableRole> &roles, const File &file);

} // namespace ds::runtime

#endif // DS_RUNTIME_SESSION_VARIABLEFILES_H
