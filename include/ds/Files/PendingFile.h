// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Outputs that appear whole or not at all.

#ifndef DS_FILES_PENDINGFILE_H
#define DS_FILES_PENDINGFILE_H

#include "ds/Files/File.h"

namespace ds {

/// A file that is written without a name where the file system can, and gets its name by `commit`: a job that dies
/// leaves nothing. Its descriptor may be inherited by other processes, which write through a File of their own.
class PendingFile {
public:
  PendingFile(PendingFile &&) noexcept;
  PendingFile &operator=(PendingFile &&) = delete;
  ~PendingFile();

  /// Opens the output beside where `path` will be. Fails as checkWritable does.
  static absl::StatusOr<PendingFile> create(const std::string &path);

  const File &file() const { return data; }
  /// Gives the file its final size `bytes` and takes the room for it on the disk. Fails with ResourceExhausted if there
  /// is not enough: ask before long work whose result goes there.
  absl::Status reserve(int64_t bytes);
  /// Puts the file's bytes on the disk and gives it its name, replacing what was there.
  absl::Status commit();
  /// The same for an entry of a cache: nobody but this user may write to it (File::isOwn), and the disk is not waited
  /// for, as readers notice a damaged entry.
  absl::Status commitToCache();

private:
  PendingFile() = default;
  absl::Status makeName();
  absl::Status takePlace();

  File data;
  std::string path;      ///< where it will be
  std::string temporary; ///< its name until then; empty while it has none
};

/// Writes `content` to `path`: all of it, or nothing.
absl::Status writeWholeFile(const std::string &path, std::string_view content);

/// Fails with InvalidArgument unless a file can be put at `path`: its folder is there and may be written to, and what
/// is there now, if anything, is a regular file. A device, a named pipe or a symbolic link would be replaced, which
/// nobody means. Writes nothing. Ask before long work whose result goes there.
absl::Status checkWritable(const std::string &path);

} // namespace ds

#endif // DS_FILES_PENDINGFILE_H
