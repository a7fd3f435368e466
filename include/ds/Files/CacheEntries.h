// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// The files of a cache, which hold programs: only what the user's own processes wrote is taken.

#ifndef DS_FILES_CACHEENTRIES_H
#define DS_FILES_CACHEENTRIES_H

#include "absl/status/status.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ds {

/// The content of the entry at `path`, which is used now; nothing if there is none of at most `limit` bytes, or if
/// another user may have written it (File::isOwn).
std::optional<std::string> readCacheEntry(const std::string &path, int64_t limit);

/// Puts an entry at `path`, all of it or nothing.
absl::Status writeCacheEntry(const std::string &path, std::string_view content);

struct CacheEntry {
  int64_t used = 0; ///< last, in nanoseconds of the system's clock
  int64_t bytes = 0;
  std::string path;
};

/// The entries of `folder` that have `extension` in their names, so also what a compiler that was killed left
/// half-written. The one used last is the first.
std::vector<CacheEntry> cacheEntries(const std::string &folder, std::string_view extension);

} // namespace ds

#endif // DS_FILES_CACHEENTRIES_H
