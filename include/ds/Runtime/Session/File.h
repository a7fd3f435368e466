// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Files read and written by position, and outputs that appear whole or not at all.

#ifndef DS_RUNTIME_SESSION_FILE_H
#define DS_RUNTIME_SESSION_FILE_H

#include "absl/status/statusor.h"

#include <cstdint>
#include <memory>
#include <string>

namespace ds::runtime {

/// An open file descriptor, closed at the end. Reads and writes are by position, so threads and ranks may share it, and
/// nothing of the file stays in this process's memory (a mapping would, and would die if the file shrinks).
class File {
public:
  File() = default;
  File(int descriptor, std::string path) : fd(descriptor), name(std::move(path)) {}
  File(File &&other) noexcept : fd(other.release()), name(std::move(other.name)) {}
  File &operator=(File &&other) noexcept;
  ~File();

  /// Opens a regular file for reading.
  static absl::StatusOr<File> open(const std::string &path);
  /// Opens `relative` below `folder`; refuses absolute paths and `..`. Links are followed: a model may be one, as in a
  /// cache of models, and where those of a model lead was checked when it was compiled.
  static absl::StatusOr<File> openBelow(const std::string &folder, const std::string &relative);

  int descriptor() const { return fd; }
  const std::string &path() const { return name; }
  absl::StatusOr<int64_t> size() const;
  /// Gives the descriptor away.
  int release();

  /// Reads exactly `count` bytes from `offset`; a file that ends before is an error.
  absl::Status readAt(int64_t offset, void *target, int64_t count) const;
  /// Writes all `count` bytes at `offset`.
  absl::Status writeAt(int64_t offset, const void *source, int64_t count) const;

private:
  int fd = -1;
  std::string name;
};

/// A file that is written without a name where the file system can, and gets its name by `commit`: a job that dies
/// leaves nothing. Its descriptor may be inherited by other processes, which write through a File of their own.
class PendingFile {
public:
  PendingFile(PendingFile &&) noexcept;
  ~PendingFile();

  /// Opens the output beside where `path` will be.
  static absl::StatusOr<PendingFile> create(const std::string &path);

  const File &file() const { return data; }
  /// Puts the file's bytes on the disk and gives it its name, replacing what was there.
  absl::Status commit();

private:
  PendingFile() = default;

  File data;
  std::string path;      ///< where it will be
  std::string temporary; ///< its name until then; empty while it has none
};

/// Fails with InvalidArgument unless a file can be written at `path`: its folder is there and may be written to, and it
/// is no folder itself. Writes nothing. Ask before long work whose result goes there.
absl::Status checkWritable(const std::string &path);

/// Reads a whole file of at most `limit` bytes.
absl::StatusOr<std::string> readWholeFile(const std::string &path, int64_t limit);

} // namespace ds::runtime

#endif // DS_RUNTIME_SESSION_FILE_H
