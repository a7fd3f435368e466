// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Files/Folder.h"

#include "FileErrors.h"

#include <algorithm>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace fs = std::filesystem;

namespace ds {

std::vector<std::string> namesIn(const std::string &folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
    names.push_back(entry->path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

absl::Status makeFolder(const std::string &folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (!error)
    return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(folder, ": cannot create: ", error.message()));
}

absl::Status makeCacheFolder(const std::string &folder) {
  if (absl::Status status = makeFolder(folder); !status.ok())
    return status;
  struct stat status;
  if (::stat(folder.c_str(), &status) != 0)
    return inputError(folder, "open", errno);
  if (status.st_uid != ::geteuid())
    return absl::PermissionDeniedError(absl::StrCat(folder, ": belongs to another user"));
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return absl::PermissionDeniedError(absl::StrCat(folder, ": may be written to by other users"));
  if (::access(folder.c_str(), W_OK | X_OK) != 0)
    return inputError(folder, "write", errno);
  return absl::OkStatus();
}

} // namespace ds
