// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// The memory of a plan's arena: taken once, before the first step.

#ifndef DS_RUNTIME_DEVICE_ARENA_H
#define DS_RUNTIME_DEVICE_ARENA_H

#include "absl/status/statusor.h"

#include <cstddef>
#include <memory>

namespace ds::runtime {

/// Zeroed bytes on huge pages where the system has them, present in memory, 2 MiB aligned.
class Arena {
public:
  static constexpr size_t kHugePage = size_t(2) << 20;

  /// Takes exactly `bytes` (rounded up to a page). Fails, with both numbers, if the machine has fewer left.
  static absl::StatusOr<std::unique_ptr<Arena>> create(size_t bytes);
  /// The same on memory at `begin`, a multiple of kHugePage, which others may map too and which stays when the arena
  /// goes: shared memory that nobody has touched yet.
  static absl::StatusOr<std::unique_ptr<Arena>> adopt(char *begin, size_t bytes);
  ~Arena();
  Arena(const Arena &) = delete;
  Arena &operator=(const Arena &) = delete;

  char *data() const { return begin; }
  size_t bytes() const { return size; }

private:
  Arena(char *begin, size_t size, bool isOwned) : begin(begin), size(size), isOwned(isOwned) {}

  char *begin;
  size_t size;
  bool isOwned;
};

} // namespace ds::runtime

#endif // DS_RUNTIME_DEVICE_ARENA_H
