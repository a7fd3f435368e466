// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Digests by which contents are told apart.

#ifndef DS_FILES_CONTENTHASH_H
#define DS_FILES_CONTENTHASH_H

#include "ds/Files/File.h"

namespace ds {

/// 32 hexadecimal digits that depend on every byte that was added and on where one addition ends and the next begins
/// ("ab", "c" is not "a", "bc"). Not for security: who wants two contents of one digest can make them.
class ContentHash {
public:
  void add(std::string_view bytes);
  void add(int64_t number);
  /// Adds a file's content, read piece by piece.
  absl::Status add(const File &file);
  std::string hex() const;

private:
  void addStripe(const char *bytes);

  /// Four lanes, so that a processor can work on all of them at once.
  uint64_t lanes[4] = {0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63};
};

} // namespace ds

#endif // DS_FILES_CONTENTHASH_H
