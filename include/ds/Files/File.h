// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Files that are read: by position, as a whole, or mapped into memory. Everything that this project reads is opened
/// here (test/House/files.test), so that nothing but a regular file is ever read: a named pipe would be waited for, and
/// a device such as /dev/zero never ends.

#ifndef DS_FILES_FILE_H
#define DS_FILES_FILE_H

#include "absl/status/statusor.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace ds {

/// An open file descriptor, closed at the end. Reads and writes are by position, so threads and ranks may share it, and
/// nothing of the file stays in this process's memory (a mapping would, and would die if the file shrinks).
class File {
public:
  File() = default;
  File(int descriptor, std::string path) : fd(descriptor), name(std::move(path)) {}
  File(File &&other) noexcept : fd(other.release()), name(std::move(other.name)) {}
  File &operator=(File &&other) noexcept;
  ~File();

  /// Opens a regular file for reading. Never waits; fails with InvalidArgument if there is none or it is of another
  /// kind.
  static absl::StatusOr<File> open(const std::string &path);
  /// Opens `relative` below `folder`; refuses absolute paths and `..`. Links are followed: a model may be one, as in a
  /// cache of models, and where those of a model lead was checked when it was compiled.
  static absl::StatusOr<File> openBelow(const std::string &folder, const std::string &relative);

  /// A file without a name, in memory, that goes with its last descriptor. `label` is for messages.
  static absl::StatusOr<File> makeInMemory(const std::string &label);

  int descriptor() const { return fd; }
  const std::string &path() const { return name; }
  absl::StatusOr<int64_t> size() const;
  /// Gives the descriptor away.
  int release();

  /// Whether the file belongs to this process's user and nobody else may write to it, so that its content is as
  /// trustworthy as the user. What is found in a cache and is run must be so.
  bool isOwn() const;

  /// Reads exactly `count` bytes from `offset`; a file that ends before is an error.
  absl::Status readAt(int64_t offset, void *target, int64_t count) const;
  /// Reads the whole file if it has at most `limit` bytes.
  absl::StatusOr<std::string> readAll(int64_t limit) const;
  /// Writes all `count` bytes at `offset`.
  absl::Status writeAt(int64_t offset, const void *source, int64_t count) const;
  /// Writes all `count` bytes behind those that were written before, also to what has no positions, such as a terminal.
  absl::Status append(const void *source, int64_t count) const;

private:
  int fd = -1;
  std::string name;
};

/// Reads a whole file of at most `limit` bytes.
absl::StatusOr<std::string> readWholeFile(const std::string &path, int64_t limit);

/// A file's content in memory, loaded by the system as far as it is looked at. Must not shrink while it is mapped.
class MappedFile {
public:
  MappedFile(MappedFile &&other) noexcept : content(other.content) { other.content = {}; }
  MappedFile &operator=(MappedFile &&other) noexcept;
  ~MappedFile();

  static absl::StatusOr<MappedFile> open(const std::string &path);
  static absl::StatusOr<MappedFile> map(const File &file);

  /// Aligned to a page.
  std::string_view bytes() const { return content; }

private:
  explicit MappedFile(std::string_view content) : content(content) {}
  std::string_view content;
};

} // namespace ds

#endif // DS_FILES_FILE_H
