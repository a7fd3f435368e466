// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Where a program's results go, and what must not be lost by it.

#ifndef DS_FILES_OUTPUTS_H
#define DS_FILES_OUTPUTS_H

#include "ds/Files/PendingFile.h"

#include <vector>

namespace ds {

/// A place that the user named for a result.
struct Output {
  std::string flag; ///< that named it, for messages: `--save-model`
  std::string path; ///< empty: there is no such result
  /// Written from its start to its end while the work goes on, so that it may be a stream as well. Other outputs take
  /// their place as a whole when the work is done.
  bool mayBeStream = false;
};

/// Fails with InvalidArgument unless all outputs can be written without loss: each is a new or a regular file (or a
/// stream, where it may be one), no two are one file, and none is one of `inputs`: files that are read, or folders,
/// which stand for the arrays (.npy) in them. Opens nothing.
absl::Status checkOutputs(const std::vector<Output> &outputs, const std::vector<std::string> &inputs);

/// Whether `path` is written to as it is and holds nothing: /dev/null, a terminal, or a descriptor that the caller has
/// opened: /dev/stdout, /dev/fd/63. A named pipe is none, as to open it may wait for ever.
bool isStream(const std::string &path);

/// Opens an output that is written by File::append: a stream, or a regular file, which is emptied.
absl::StatusOr<File> openForAppending(const std::string &path);

/// Writes `content` to a stream, or puts it as a whole into a file's place.
absl::Status writeOutput(const std::string &path, std::string_view content);

} // namespace ds

#endif // DS_FILES_OUTPUTS_H
