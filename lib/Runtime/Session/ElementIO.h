// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Moves elements between files and the memory of a rank.

#ifndef DS_LIB_RUNTIME_SESSION_ELEMENTIO_H
#define DS_LIB_RUNTIME_SESSION_ELEMENTIO_H

#include "ds/Runtime/Executor.h"
#include "ds/Runtime/Session/OwnedRuns.h"
#include "ds/Runtime/Session/TensorFiles.h"

namespace ds::runtime {

/// Reads `count` elements of type `from` at byte `offset` of `file` and stores them as `to`.
absl::Status readElements(const File &file, int64_t offset, ElementType from, ElementType to, int64_t count,
                          void *target);

/// A tensor of the plan as this rank holds it.
struct HeldTensor {
  Layout layout;
  Shape shape;
  ElementType type;
  BufferView buffer;
};

/// Fills `held` with its part of `stored`, which must have as many elements. Errors name the file.
absl::Status readHeld(const File &file, const StoredTensor &stored, const Mesh &mesh, int64_t rank,
                      const HeldTensor &held);

/// Writes the part of `held` to its places in `stored`, converted to its type, if `rank` is the first that holds it.
absl::Status writeHeld(const File &file, const StoredTensor &stored, const Mesh &mesh, int64_t rank,
                       const HeldTensor &held);

} // namespace ds::runtime

#endif // DS_LIB_RUNTIME_SESSION_ELEMENTIO_H
