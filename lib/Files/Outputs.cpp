// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Files/Outputs.h"

#include "ds/Files/Folder.h"

#include "FileErrors.h"

#include "absl/strings/numbers.h"

#include <fcntl.h>
#include <filesystem>
#include <map>
#include <optional>
#include <sys/stat.h>
#include <unistd.h>

namespace fs = std::filesystem;

namespace ds {

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

/// The descriptor of this process that `path` is a name of.
static std::optional<int> findDescriptor(const std::string &path) {
  if (path == "/dev/stdout")
    return STDOUT_FILENO;
  if (path == "/dev/stderr")
    return STDERR_FILENO;
  int number = -1;
  for (const std::string folder : {"/dev/fd/", "/proc/self/fd/"})
    if (path.rfind(folder, 0) == 0 && absl::SimpleAtoi(path.substr(folder.size()), &number) && number >= 0)
      return number;
  return std::nullopt;
}

bool isStream(const std::string &path) {
  if (findDescriptor(path))
    return true;
  struct stat status;
  return ::lstat(path.c_str(), &status) == 0 && S_ISCHR(status.st_mode);
}

absl::StatusOr<File> openForAppending(const std::string &path) {
  int fd = -1;
  if (const std::optional<int> descriptor = findDescriptor(path)) {
    fd = ::fcntl(*descriptor, F_DUPFD_CLOEXEC, 0); // to open it by name would begin at its start again
  } else {
    if (!isStream(path))
      if (absl::Status status = checkWritable(path); !status.ok())
        return status;
    fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC, 0666);
    if (fd >= 0)
      ::fcntl(fd, F_SETFL, 0); // only the opening must not wait
  }
  if (fd < 0)
    return inputError(path, "write", errno);
  return File(fd, path);
}

absl::Status writeOutput(const std::string &path, std::string_view content) {
  if (!isStream(path))
    return writeWholeFile(path, content);
  const absl::StatusOr<File> file = openForAppending(path);
  return file.ok() ? file->append(content.data(), static_cast<int64_t>(content.size())) : file.status();
}

//===----------------------------------------------------------------------===//
// What must not be lost
//===----------------------------------------------------------------------===//

/// What one file has in common under all its names: its number if it exists, else its folder's number and its name.
static std::string identityOf(const std::string &path) {
  struct stat status;
  if (::stat(path.c_str(), &status) == 0)
    return absl::StrCat(status.st_dev, ":", status.st_ino);
  const fs::path folder = fs::path(path).parent_path();
  if (::stat(folder.empty() ? "." : folder.c_str(), &status) != 0)
    return path;
  return absl::StrCat(status.st_dev, ":", status.st_ino, "/", fs::path(path).filename().string());
}

/// The identities of the files that are read, and their paths. Of a folder of data these are the arrays.
static std::map<std::string, std::string> filesRead(const std::vector<std::string> &inputs) {
  std::map<std::string, std::string> files;
  for (const std::string &input : inputs) {
    if (input.empty())
      continue;
    files.emplace(identityOf(input), input);
    for (const std::string &name : namesIn(input)) {
      const fs::path path = fs::path(input) / name;
      if (path.extension() == ".npy")
        files.emplace(identityOf(path.string()), path.string());
    }
  }
  return files;
}

absl::Status checkOutputs(const std::vector<Output> &outputs, const std::vector<std::string> &inputs) {
  const std::map<std::string, std::string> read = filesRead(inputs);
  std::map<std::string, std::string> written; // identities and flags
  for (const Output &output : outputs) {
    if (output.path.empty() || (output.mayBeStream && isStream(output.path)))
      continue;
    if (absl::Status status = checkWritable(output.path); !status.ok())
      return absl::Status(status.code(), absl::StrCat(output.flag, " ", status.message()));
    const std::string identity = identityOf(output.path);
    if (const auto input = read.find(identity); input != read.end())
      return absl::InvalidArgumentError(
          absl::StrCat(output.flag, " ", output.path, ": would be written over ", input->second, ", which is read"));
    if (const auto [other, isNew] = written.emplace(identity, output.flag); !isNew)
      return absl::InvalidArgumentError(
          absl::StrCat(output.flag, " ", output.path, ": is the file of ", other->second, " as well"));
  }
  return absl::OkStatus();
}

} // namespace ds
