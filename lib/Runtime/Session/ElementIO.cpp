// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ElementIO.h"

#include "ds/Runtime/StatusMacros.h"

#include "absl/strings/str_cat.h"

#include <algorithm>

namespace ds::runtime {

static constexpr int64_t kChunkBytes = 1 << 16;

absl::Status readElements(const File &file, int64_t offset, ElementType from, ElementType to, int64_t count,
                          void *target) {
  if (from == to && from != ElementType::Bool)
    return file.readAt(offset, target, count * elementBytes(from));
  auto *out = static_cast<char *>(target);
  char chunk[kChunkBytes];
  const int64_t chunkElements = kChunkBytes / elementBytes(from);
  for (int64_t at = 0; at < count; at += chunkElements) {
    const int64_t now = std::min(chunkElements, count - at);
    DS_RETURN_IF_ERROR(file.readAt(offset + at * elementBytes(from), chunk, now * elementBytes(from)));
    const absl::Status status = convertElements(from, chunk, to, out + at * elementBytes(to), now);
    if (!status.ok())
      return absl::InvalidArgumentError(absl::StrCat(file.path(), ": ", status.message()));
  }
  return absl::OkStatus();
}

/// The reverse: writes `count` elements of type `from` as `to`.
static absl::Status writeElements(const File &file, int64_t offset, ElementType from, ElementType to, int64_t count,
                                  const char *source) {
  if (from == to)
    return file.writeAt(offset, source, count * elementBytes(from));
  char chunk[kChunkBytes];
  const int64_t chunkElements = kChunkBytes / elementBytes(to);
  for (int64_t at = 0; at < count; at += chunkElements) {
    const int64_t now = std::min(chunkElements, count - at);
    DS_RETURN_IF_ERROR(convertElements(from, source + at * elementBytes(from), to, chunk, now));
    DS_RETURN_IF_ERROR(file.writeAt(offset + at * elementBytes(to), chunk, now * elementBytes(to)));
  }
  return absl::OkStatus();
}

static absl::Status checkRoom(const Mesh &mesh, int64_t rank, const HeldTensor &held) {
  const int64_t needed = ownedElements(held.layout, held.shape, mesh, rank) * elementBytes(held.type);
  if (needed > 0 && (held.buffer.data == nullptr || static_cast<int64_t>(held.buffer.bytes) < needed))
    return absl::InvalidArgumentError(
        absl::StrCat("invalid plan: buffer of ", held.buffer.bytes, " bytes must hold ", needed));
  return absl::OkStatus();
}

absl::Status readHeld(const File &file, const StoredTensor &stored, const Mesh &mesh, int64_t rank,
                      const HeldTensor &held) {
  DS_RETURN_IF_ERROR(checkRoom(mesh, rank, held));
  auto *out = static_cast<char *>(held.buffer.data);
  const int64_t from = elementBytes(stored.type), to = elementBytes(held.type);
  return forEachOwnedRun(held.layout, held.shape, mesh, rank, [&](const OwnedRun &run) {
    return readElements(file, stored.offset + run.global * from, stored.type, held.type, run.length,
                        out + run.local * to);
  });
}

absl::Status writeHeld(const File &file, const StoredTensor &stored, const Mesh &mesh, int64_t rank,
                       const HeldTensor &held) {
  if (!held.layout.partial.empty())
    return absl::UnimplementedError("cannot save a tensor that is partial over a mesh axis");
  if (!isFirstHolder(held.layout, mesh, rank))
    return absl::OkStatus();
  DS_RETURN_IF_ERROR(checkRoom(mesh, rank, held));
  const auto *in = static_cast<const char *>(held.buffer.data);
  const int64_t from = elementBytes(held.type), to = elementBytes(stored.type);
  return forEachOwnedRun(held.layout, held.shape, mesh, rank, [&](const OwnedRun &run) {
    return writeElements(file, stored.offset + run.global * to, held.type, stored.type, run.length,
                         in + run.local * from);
  });
}

} // namespace ds::runtime
