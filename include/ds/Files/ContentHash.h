// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Digests by which contents are told apart.

#ifndef DS_FILES_CONTENTHASH_H
#define DS_FILES_CONTENTHASH_H

#include "ds/Files/File.h"

#include <memory>

struct XXH3_state_s;

namespace ds {

/// 32 hexadecimal digits that depend on every byte that was added and on where one addition ends and the next begins
/// ("ab", "c" is not "a", "bc"): XXH3 of 128 bits. Not for security: who wants two contents of one digest can make
/// them.
class ContentHash {
public:
  ContentHash();

  void add(std::string_view bytes);
  void add(int64_t number);
  /// Adds a file's content, read piece by piece.
  absl::Status add(const File &file);
  std::string hex() const;

private:
  std::unique_ptr<XXH3_state_s, void (*)(XXH3_state_s *)> state;
};

} // namespace ds

#endif // DS_FILES_CONTENTHASH_H
