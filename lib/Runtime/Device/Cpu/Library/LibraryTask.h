// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// The library functions, one builder per family. include/ds/Runtime/Library.h lists their arguments; the builders may
/// rely on the numbers of arguments in it.

#ifndef DS_RUNTIME_DEVICE_CPU_LIBRARY_LIBRARYTASK_H
#define DS_RUNTIME_DEVICE_CPU_LIBRARY_LIBRARYTASK_H

#include "ds/Runtime/Device/Task.h"
#include "ds/Runtime/Library.h"

namespace ds::runtime {

TaskOr buildIota(const plan::LibraryCallT &call, const Bindings &bindings);
TaskOr buildGatherRows(const plan::LibraryCallT &call, const Bindings &bindings);
TaskOr buildScatterAddRows(const plan::LibraryCallT &call, const Bindings &bindings);
TaskOr buildGatherElements(const plan::LibraryCallT &call, const Bindings &bindings);
TaskOr buildScatterElements(const plan::LibraryCallT &call, const Bindings &bindings);
TaskOr buildTopK(const plan::LibraryCallT &call, const Bindings &bindings);
TaskOr buildConvolution(const plan::LibraryCallT &call, const Bindings &bindings);
TaskOr buildMaxPool(const plan::LibraryCallT &call, const Bindings &bindings);

/// The refusal of a type that `function` has no code for.
absl::Status unsupportedType(const plan::LibraryCallT &call);

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
