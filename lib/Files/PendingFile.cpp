// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Files/PendingFile.h"

#include "FileErrors.h"

#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

namespace ds {

PendingFile::PendingFile(PendingFile &&other) noexcept
    : data(std::move(other.data)), path(std::move(other.path)), temporary(std::move(other.temporary)) {
  other.temporary.clear();
}

PendingFile::~PendingFile() {
  if (!temporary.empty())
    ::unlink(temporary.c_str());
}

static std::string parentFolder(const std::string &path) {
  const std::filesystem::path parent = std::filesystem::path(path).parent_path();
  return parent.empty() ? "." : parent.string();
}

//===----------------------------------------------------------------------===//
// What may be replaced
//===----------------------------------------------------------------------===//

static const char *kindOf(mode_t mode) {
  if (S_ISDIR(mode))
    return "a folder";
  if (S_ISLNK(mode))
    return "a symbolic link, name the file that it leads to";
  if (S_ISFIFO(mode))
    return "a named pipe";
  return S_ISSOCK(mode) ? "a socket" : "a device";
}

absl::Status checkWritable(const std::string &path) {
  struct stat status;
  if (::lstat(path.c_str(), &status) == 0) {
    if (!S_ISREG(status.st_mode))
      return absl::InvalidArgumentError(absl::StrCat(path, ": cannot write: is ", kindOf(status.st_mode)));
  } else if (errno != ENOENT && errno != ENOTDIR) { // of these more can be said
    return inputError(path, "write", errno);
  }
  const std::string folder = parentFolder(path);
  if (::stat(folder.c_str(), &status) != 0 || !S_ISDIR(status.st_mode))
    return absl::InvalidArgumentError(absl::StrCat(path, ": cannot write: ", folder, " is no folder"));
  if (::access(folder.c_str(), W_OK | X_OK) != 0)
    return inputError(path, "write", errno);
  return absl::OkStatus();
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

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

absl::Status PendingFile::reserve(int64_t bytes) {
  int error = bytes > 0 && ::fallocate(data.descriptor(), 0, 0, bytes) != 0 ? errno : 0;
  if (error == EOPNOTSUPP || error == ENOSYS) { // where room cannot be taken, at least look whether there is some
    struct statvfs disk;
    const bool isKnown = ::fstatvfs(data.descriptor(), &disk) == 0;
    const bool fits = !isKnown || bytes / static_cast<int64_t>(disk.f_frsize) < static_cast<int64_t>(disk.f_bavail);
    error = fits ? 0 : ENOSPC;
  }
  if (error == 0)
    return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat(path, ": cannot take the ", bytes, " bytes that it will have: ", std::strerror(error)));
}

/// Gives the file a name if it has none: its own one where that is free, else one beside it.
absl::Status PendingFile::makeName() {
  if (!temporary.empty())
    return absl::OkStatus();
  const std::string source = absl::StrCat("/proc/self/fd/", data.descriptor());
  auto link = [&](const std::string &name) {
    return ::linkat(AT_FDCWD, source.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0;
  };
  if (link(path))
    return absl::OkStatus();
  if (errno != EEXIST)
    return storageError(path, "name", errno);
  const std::string name = temporaryName(path);
  ::unlink(name.c_str()); // of a process of this number that was killed
  if (!link(name))
    return storageError(path, "name", errno);
  temporary = name;
  return absl::OkStatus();
}

absl::Status PendingFile::takePlace() {
  if (absl::Status status = makeName(); !status.ok())
    return status;
  if (!temporary.empty() && std::rename(temporary.c_str(), path.c_str()) != 0)
    return storageError(path, "rename", errno);
  temporary.clear();
  return absl::OkStatus();
}

absl::Status PendingFile::commit() {
  // A rename that survives a crash while the data does not would leave a damaged file.
  if (::fsync(data.descriptor()) != 0)
    return storageError(path, "flush", errno);
  return takePlace();
}

absl::Status PendingFile::commitToCache() {
  if (::fchmod(data.descriptor(), 0644) != 0)
    return storageError(path, "protect", errno);
  return takePlace();
}

absl::Status writeWholeFile(const std::string &path, std::string_view content) {
  absl::StatusOr<PendingFile> file = PendingFile::create(path);
  if (!file.ok())
    return file.status();
  absl::Status status = file->file().writeAt(0, content.data(), static_cast<int64_t>(content.size()));
  return status.ok() ? file->commit() : status;
}

} // namespace ds
