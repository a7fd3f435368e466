// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Files/CacheEntries.h"

#include "ds/Files/Folder.h"
#include "ds/Files/PendingFile.h"

#include <algorithm>
#include <sys/stat.h>
#include <tuple>

namespace ds {

std::optional<std::string> readCacheEntry(const std::string &path, int64_t limit) {
  const absl::StatusOr<File> file = File::open(path);
  if (!file.ok() || !file->isOwn())
    return std::nullopt;
  absl::StatusOr<std::string> content = file->readAll(limit);
  if (!content.ok())
    return std::nullopt;
  ::futimens(file->descriptor(), nullptr); // used now
  return *std::move(content);
}

absl::Status writeCacheEntry(const std::string &path, std::string_view content) {
  absl::StatusOr<PendingFile> file = PendingFile::create(path);
  if (!file.ok())
    return file.status();
  absl::Status status = file->file().writeAt(0, content.data(), static_cast<int64_t>(content.size()));
  return status.ok() ? file->commitToCache() : status;
}

std::vector<CacheEntry> cacheEntries(const std::string &folder, std::string_view extension) {
  std::vector<CacheEntry> entries;
  for (const std::string &name : namesIn(folder)) {
    const std::string path = folder + "/" + name;
    struct stat status;
    if (name.find(extension) != std::string::npos && ::stat(path.c_str(), &status) == 0)
      entries.push_back({status.st_mtim.tv_sec * 1000000000 + status.st_mtim.tv_nsec, status.st_size, path});
  }
  std::sort(entries.begin(), entries.end(), [](const CacheEntry &a, const CacheEntry &b) {
    return std::tie(a.used, a.path) > std::tie(b.used, b.path);
  });
  return entries;
}

} // namespace ds
