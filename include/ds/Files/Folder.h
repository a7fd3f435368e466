// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Folders and what is in them.

#ifndef DS_FILES_FOLDER_H
#define DS_FILES_FOLDER_H

#include "absl/status/statusor.h"

#include <string>
#include <vector>

namespace ds {

/// The names in a folder, sorted; empty if it is none or cannot be read.
std::vector<std::string> namesIn(const std::string &folder);

/// Makes the folder, and those that it is in, where they are missing. Fails with the system's reason.
absl::Status makeFolder(const std::string &folder);

/// The same for a cache of programs, such as plans. Fails also if another user could put something there: the folder
/// must belong to this process's user, and nobody else may write to it.
absl::Status makeCacheFolder(const std::string &folder);

} // namespace ds

#endif // DS_FILES_FOLDER_H
