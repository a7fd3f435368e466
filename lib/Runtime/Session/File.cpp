// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Runtime/Session/File.h"

#include "ds/Runtime/StatusMacros.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace fs = std::filesystem;

namespace ds::runtime {

static absl::Status inputError(const std::string &path, const char *what, int error) {
  return absl::InvalidArgumentError(absl::StrCat(path, ": cannot ", what, ": ", std::strerror(error)));
}

/// Storage that fails while a job runs is not the caller's mistake.
static absl::Status storageError(const std::string &path, const char *what, int error) {
  return absl::ResourceExhaustedError(absl::StrCat(path, ": cannot ", what, ": ", std::strerror(error)));
}

//===----------------------------------------------------------------------===//
// File
//===----------------------------------------------------------------------===//

File &File::operator=(File &&other) noexcept {
  std::swap(fd, other.fd);
  std::swap(name, other.name);
  return *this;
}

File::~File() {
  if (fd >= 0)
    ::close(fd);
}

int File::release() {
  const int descriptor = fd;
  fd = -1;
  return descriptor;
}

absl::StatusOr<File> File::open(const std::string &path) {
  // Non-blocking, so that a named pipe in the place of a file does not hang the open.
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0)
    return inputError(path, "open", errno);
  File file(fd, path);
  struct stat status;
  if (::fstat(fd, &status) != 0)
    return inputError(path, "stat", errno);
  if (!S_ISREG(status.st_mode))
    return absl::InvalidArgumentError(absl::StrCat(path, ": must be a regular file"));
  return file;
}

absl::StatusOr<File> File::openBelow(const std::string &folder, const std::string &relative) {
  const fs::path root = folder.empty() ? "." : folder, path = relative;
  if (path.is_absolute())
    return absl::InvalidArgumentError(absl::StrCat("path '", relative, "' must be relative to ", root.string()));
  if (std::find(path.begin(), path.end(), "..") != path.end())
    return absl::InvalidArgumentError(absl::StrCat("path '", relative, "' must stay inside ", root.string()));
  return open((root / path).string());
}

absl::StatusOr<int64_t> File::size() const {
  struct stat status;
  if (::fstat(fd, &status) != 0)
    return storageError(name, "stat", errno);
  return static_cast<int64_t>(status.st_size);
}

absl::Status File::readAt(int64_t offset, void *target, int64_t count) const {
  auto *out = static_cast<char *>(target);
  while (count > 0) {
    const ssize_t got = ::pread(fd, out, count, offset);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return storageError(name, "read", errno);
    if (got == 0)
      return absl::InvalidArgumentError(
          absl::StrCat(name, ": must have ", count, " more bytes at offset ", offset, ", got end of file"));
    out += got;
    offset += got;
    count -= got;
  }
  return absl::OkStatus();
}

absl::Status File::writeAt(int64_t offset, const void *source, int64_t count) const {
  const auto *in = static_cast<const char *>(source);
  while (count > 0) {
    const ssize_t put = ::pwrite(fd, in, count, offset);
    if (put < 0 && errno == EINTR)
      continue;
    if (put < 0)
      return storageError(name, "write", errno);
    in += put;
    offset += put;
    count -= put;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> readWholeFile(const std::string &path, int64_t limit) {
  absl::StatusOr<File> file = File::open(path);
  if (!file.ok())
    return file.status();
  const absl::StatusOr<int64_t> size = file->size();
  if (!size.ok())
    return size.status();
  if (*size > limit)
    return absl::InvalidArgumentError(absl::StrCat(path, ": must be at most ", limit, " bytes, got ", *size));
  std::string text(static_cast<size_t>(*size), '\0');
  DS_RETURN_IF_ERROR(file->readAt(0, text.data(), *size));
  return text;
}

//===----------------------------------------------------------------------===//
// PendingFile
//===----------------------------------------------------------------------===//

PendingFile::PendingFile(PendingFile &&other) noexcept
    : data(std::move(other.data)), path(std::move(other.path)), temporary(std::move(other.temporary)) {
  other.temporary.clear();
}

PendingFile::~PendingFile() {
  if (!temporary.empty())
    ::unlink(temporary.c_str());
}

static std::string parentFolder(const std::string &path) {
  const fs::path parent = fs::path(path).parent_path();
  return parent.empty() ? "." : parent.string();
}

absl::Status checkWritable(const std::string &path) {
  std::error_code error;
  if (fs::is_directory(path, error))
    return absl::InvalidArgumentError(absl::StrCat(path, ": cannot write: is a folder"));
  const std::string folder = parentFolder(path);
  if (!fs::is_directory(folder, error))
    return absl::InvalidArgumentError(absl::StrCat(path, ": cannot write: ", folder, " is no folder"));
  if (::access(folder.c_str(), W_OK | X_OK) != 0)
    return inputError(path, "write", errno);
  return absl::OkStatus();
}

static std::string temporaryName(const std::string &path) { return absl::StrCat(path, ".", ::getpid(), ".part"); }

absl::StatusOr<PendingFile> PendingFile::create(const std::string &path) {
  PendingFile pending;
  pending.path = path;
  if (absl::Status status = checkWritable(path); !status.ok())
    return status;
  int fd = ::open(parentFolder(path).c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
  if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL)) { // not every file system knows O_TMPFILE
    const std::string temporary = temporaryName(path);
    fd = ::open(temporary.c_str(), O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd >= 0)
      pending.temporary = temporary;
  }
  if (fd < 0)
    return inputError(path, "write", errno);
  pending.data = File(fd, path);
  return pending;
}

absl::Status PendingFile::commit() {
  if (::fsync(data.descriptor()) != 0)
    return storageError(path, "flush", errno);
  if (temporary.empty()) {
    temporary = temporaryName(path);
    ::unlink(temporary.c_str());
    const std::string source = absl::StrCat("/proc/self/fd/", data.descriptor());
    if (::linkat(AT_FDCWD, source.c_str(), AT_FDCWD, temporary.c_str(), AT_SYMLINK_FOLLOW) != 0)
      return storageError(path, "name", errno);
  }
  if (std::rename(temporary.c_str(), path.c_str()) != 0)
    return storageError(path, "rename", errno);
  temporary.clear();
  return absl::OkStatus();
}

} // namespace ds::runtime
