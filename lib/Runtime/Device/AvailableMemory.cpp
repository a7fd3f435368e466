// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Runtime/Device/AvailableMemory.h"

#include "ds/Runtime/ErrorCodes.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <sys/resource.h>

using namespace ds::runtime;

/// The number behind `key` in a file of keys and numbers, one pair a line, as the kernel writes them.
static std::optional<int64_t> findNumber(const std::string &path, const std::string &key) {
  std::ifstream file(path);
  for (std::string word; file >> word;) {
    int64_t number = 0;
    if (word == key && file >> number)
      return number;
    file.clear();
    file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return std::nullopt;
}

/// The one number of a file; nothing if it is "max".
static std::optional<int64_t> readNumber(const std::string &path) {
  std::ifstream file(path);
  int64_t number = 0;
  return file >> number ? std::optional(number) : std::nullopt;
}

static void limitTo(AvailableMemory &memory, std::optional<int64_t> bytes, const char *limit) {
  if (bytes && *bytes < memory.bytes)
    memory = {std::max<int64_t>(0, *bytes), limit};
}

/// What the cgroup in `folder` leaves. Pages of files that nobody has used lately can be had back at once.
static std::optional<int64_t> leftInGroup(const std::string &folder) {
  const std::optional<int64_t> most = readNumber(folder + "/memory.max"), used = readNumber(folder + "/memory.current");
  if (!most || !used)
    return std::nullopt;
  return *most - *used + findNumber(folder + "/memory.stat", "inactive_file").value_or(0);
}

/// The cgroup of this process (version 2) and all around it.
static void limitToGroups(AvailableMemory &memory) {
  std::ifstream file("/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("0::/", 0) != 0)
      continue;
    for (std::string path = line.substr(3); !path.empty(); path.resize(path.rfind('/')))
      limitTo(memory, leftInGroup("/sys/fs/cgroup" + path), "left below the memory.max of the cgroup");
  }
}

static void limitToAddressSpace(AvailableMemory &memory) {
  rlimit limit = {};
  const std::optional<int64_t> used = findNumber("/proc/self/status", "VmSize:");
  if (::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur < INT64_MAX && used)
    limitTo(memory, static_cast<int64_t>(limit.rlim_cur) - *used * 1024, "left below the limit of memory (ulimit -v)");
}

AvailableMemory ds::runtime::availableMemory() {
  AvailableMemory memory;
  if (const std::optional<int64_t> kibibytes = findNumber("/proc/meminfo", "MemAvailable:"))
    limitTo(memory, *kibibytes * 1024, "available on this machine");
  limitToGroups(memory);
  limitToAddressSpace(memory);
  return memory;
}

absl::Status ds::runtime::checkAvailable(int64_t bytes, const std::string &what) {
  const AvailableMemory memory = availableMemory();
  if (bytes <= memory.bytes)
    return absl::OkStatus();
  return memoryError(
      absl::StrCat(what, " of ", bytes, " bytes must fit into memory, got ", memory.bytes, " bytes ", memory.limit));
}

int64_t ds::runtime::outOfMemoryKills() { return findNumber("/proc/vmstat", "oom_kill").value_or(0); }
