// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// The library functions, one builder per family. ds/Plan/LibrarySignature.h says what each computes; builders take
/// their arguments by the names in its signature.

#ifndef DS_RUNTIME_DEVICE_CPU_LIBRARY_LIBRARYTASK_H
#define DS_RUNTIME_DEVICE_CPU_LIBRARY_LIBRARYTASK_H

#include "ds/Plan/LibrarySignature.h"
#include "ds/Runtime/Device/Task.h"
#include "ds/Runtime/StatusMacros.h"

namespace ds::runtime {

/// The arguments of a library call on one rank, by name.
class LibraryOperands {
public:
  /// Fails if the call does not fit its function's signature, or an extent is unknown.
  static absl::StatusOr<LibraryOperands> bind(const plan::LibraryCallT &call, const Bindings &bindings);

  /// The extent `name`: how long this rank's part is, and where it begins.
  plan::ExtentValue extent(plan::ArgumentName name) const { return extents.at(name).front(); }
  int64_t length(plan::ArgumentName name) const { return extent(name).length; }
  /// The lengths of an extent that there is per spatial dim.
  std::vector<int64_t> lengths(plan::ArgumentName name) const;
  /// The int `name`, or `otherwise` if it is left off.
  int64_t number(plan::ArgumentName name, int64_t otherwise = 0) const;
  /// The ints `name`, one per spatial dim.
  std::vector<int64_t> numbers(plan::ArgumentName name) const { return arguments.ints(name); }

  /// The memory of buffer `name`, null if it is left off; fails if it is too small for the sizes of its dims.
  template <typename T> absl::StatusOr<T *> buffer(plan::ArgumentName name) const {
    DS_ASSIGN_OR_RETURN(char *bytes, memory(name));
    return reinterpret_cast<T *>(bytes);
  }
  plan::DataType type() const { return call.type; }
  plan::LibraryFunction function() const { return call.function; }
  ScratchSpace *scratch() const { return bindings.scratch(); }

private:
  LibraryOperands(const plan::LibraryCallT &call, const Bindings &bindings)
      : call(call), bindings(bindings), arguments(call) {}
  absl::StatusOr<char *> memory(plan::ArgumentName name) const;

  const plan::LibraryCallT &call;
  const Bindings &bindings;
  plan::LibraryArguments arguments;
  std::map<plan::ArgumentName, std::vector<plan::ExtentValue>> extents;
};

TaskOr buildIota(const LibraryOperands &operands);
TaskOr buildGatherRows(const LibraryOperands &operands);
TaskOr buildScatterAddRows(const LibraryOperands &operands);
TaskOr buildGatherElements(const LibraryOperands &operands);
TaskOr buildScatterElements(const LibraryOperands &operands);
TaskOr buildTopK(const LibraryOperands &operands);
TaskOr buildConvolution(const LibraryOperands &operands);
TaskOr buildMaxPool(const LibraryOperands &operands);

/// The refusal of a type that the function has no code for.
absl::Status unsupportedType(const LibraryOperands &operands);

/// Turns i64 indices into places in this rank's part of a dim.
struct IndexRange {
  int64_t global = 0;            ///< size of the dim on all ranks
  int64_t begin = 0, length = 0; ///< this rank's part

  /// The local place of `index`, in [0, length), or -1 if another rank has it. `index` must have passed `check`.
  int64_t localOf(int64_t index) const {
    const int64_t local = (index < 0 ? index + global : index) - begin;
    return local >= 0 && local < length ? local : -1;
  }
  /// OutOfRange, with the first offending position, unless all of indices[0, count) are in [-global, global).
  absl::Status check(const int64_t *indices, int64_t count) const;
};

} // namespace ds::runtime

#endif // DS_RUNTIME_DEVICE_CPU_LIBRARY_LIBRARYTASK_H
