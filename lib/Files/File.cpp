// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Files/File.h"

#include "FileErrors.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace fs = std::filesystem;

namespace ds {

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

absl::StatusOr<File> File::makeInMemory(const std::string &label) {
  const int fd = ::memfd_create(label.c_str(), MFD_CLOEXEC);
  if (fd < 0)
    return memoryError(label, "create in memory", errno);
  return File(fd, label);
}

absl::StatusOr<int64_t> File::size() const {
  struct stat status;
  if (::fstat(fd, &status) != 0)
    return storageError(name, "stat", errno);
  return static_cast<int64_t>(status.st_size);
}

bool File::isOwn() const {
  struct stat status;
  return ::fstat(fd, &status) == 0 && status.st_uid == ::geteuid() && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
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

absl::Status File::append(const void *source, int64_t count) const {
  const auto *in = static_cast<const char *>(source);
  while (count > 0) {
    const ssize_t put = ::write(fd, in, static_cast<size_t>(count));
    if (put < 0 && errno == EINTR)
      continue;
    if (put < 0)
      return storageError(name, "write", errno);
    in += put;
    count -= put;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> File::readAll(int64_t limit) const {
  const absl::StatusOr<int64_t> bytes = size();
  if (!bytes.ok())
    return bytes.status();
  if (*bytes > limit)
    return absl::InvalidArgumentError(absl::StrCat(name, ": must be at most ", limit, " bytes, got ", *bytes));
  std::string text(static_cast<size_t>(*bytes), '\0');
  if (absl::Status status = readAt(0, text.data(), *bytes); !status.ok())
    return status;
  return text;
}

absl::StatusOr<std::string> readWholeFile(const std::string &path, int64_t limit) {
  const absl::StatusOr<File> file = File::open(path);
  return file.ok() ? file->readAll(limit) : file.status();
}

//===----------------------------------------------------------------------===//
// MappedFile
//===----------------------------------------------------------------------===//

MappedFile &MappedFile::operator=(MappedFile &&other) noexcept {
  std::swap(content, other.content);
  return *this;
}

MappedFile::~MappedFile() {
  if (!content.empty())
    ::munmap(const_cast<char *>(content.data()), content.size());
}

absl::StatusOr<MappedFile> MappedFile::open(const std::string &path) {
  const absl::StatusOr<File> file = File::open(path);
  return file.ok() ? map(*file) : file.status();
}

absl::StatusOr<MappedFile> MappedFile::map(const File &file) {
  const absl::StatusOr<int64_t> bytes = file.size();
  if (!bytes.ok())
    return bytes.status();
  if (*bytes == 0) // which cannot be mapped
    return MappedFile({});
  void *data = ::mmap(nullptr, static_cast<size_t>(*bytes), PROT_READ, MAP_PRIVATE, file.descriptor(), 0);
  if (data == MAP_FAILED)
    return memoryError(file.path(), "map", errno);
  return MappedFile({static_cast<const char *>(data), static_cast<size_t>(*bytes)});
}

} // namespace ds
