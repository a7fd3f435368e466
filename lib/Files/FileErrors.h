// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Whose fault a failed system call is.

#ifndef DS_LIB_FILES_FILEERRORS_H
#define DS_LIB_FILES_FILEERRORS_H

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include <cerrno>
#include <cstring>

namespace ds {

/// The caller named a file that cannot be used.
inline absl::Status inputError(const std::string &path, const char *what, int error) {
  return absl::InvalidArgumentError(absl::StrCat(path, ": cannot ", what, ": ", std::strerror(error)));
}

/// Storage that fails while a job runs is not the caller's mistake.
inline absl::Status storageError(const std::string &path, const char *what, int error) {
  return absl::ResourceExhaustedError(absl::StrCat(path, ": cannot ", what, ": ", std::strerror(error)));
}

/// Neither are limits of the machine, which the caller can ask less of.
inline absl::Status memoryError(const std::string &path, const char *what, int error) {
  return absl::FailedPreconditionError(absl::StrCat(path, ": cannot ", what, ": ", std::strerror(error)));
}

} // namespace ds

#endif // DS_LIB_FILES_FILEERRORS_H
