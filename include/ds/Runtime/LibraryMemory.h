// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// The memory that a run takes beside its arenas.

#ifndef DS_RUNTIME_LIBRARYMEMORY_H
#define DS_RUNTIME_LIBRARYMEMORY_H

#include "ds/Plan/Plan.h"

#include "absl/status/statusor.h"

namespace ds::runtime {

/// The bytes in which libraries work on `rank`, with `threads` threads on this machine: packed operands of matmuls,
/// what oneDNN asks for, and the links of an embedding's updates. Takes no arena. Executor::libraryBytes of such a run
/// is the same. Fails as Executor::create would.
absl::StatusOr<size_t> libraryBytes(const plan::PlanT &plan, int64_t rank, int threads);

} // namespace ds::runtime

#endif // DS_RUNTIME_LIBRARYMEMORY_H
