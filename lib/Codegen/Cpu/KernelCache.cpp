// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "KernelCache.h"

#include "ds/Codegen/CompilerIdentity.h"
#include "ds/Files/PendingFile.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/xxhash.h"

#include <sys/stat.h>

using namespace mlir;
using namespace ds;
namespace fs = llvm::sys::fs;

static constexpr uint64_t kMaxBytes = uint64_t(256) << 20;
static constexpr StringRef kExtension = ".kernel";

std::string ds::hashOf(StringRef bytes) {
  const llvm::XXH128_hash_t hash = llvm::xxh3_128bits(llvm::arrayRefFromStringRef(bytes));
  return llvm::utohexstr(hash.high64, /*LowerCase=*/true, 16) + llvm::utohexstr(hash.low64, /*LowerCase=*/true, 16);
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

KernelCache::KernelCache(std::string givenFolder, const CpuTarget &target) : folder(std::move(givenFolder)) {
  if (folder.empty())
    return;
  const std::string compiler = compilerIdentity();
  if (compiler.empty()) {
    firstFault = "the compiler must be linked with --build-id, as all libraries that it loads";
    folder.clear();
    return;
  }
  suffix = "-" + hashOf(compiler + target.describe()) + kExtension.str();
  if (std::error_code error = fs::create_directories(folder)) {
    firstFault = folder + ": cannot write: " + error.message();
    folder.clear();
  }
}

std::string KernelCache::pathOf(StringRef hash) const {
  SmallString<128> path(folder);
  llvm::sys::path::append(path, hash + suffix);
  return path.str().str();
}

void KernelCache::fail(const absl::Status &status) {
  std::lock_guard<std::mutex> lock(mutex);
  if (!firstFault)
    firstFault = std::string(status.message());
}

std::optional<std::string> KernelCache::fault() {
  std::lock_guard<std::mutex> lock(mutex);
  return firstFault;
}

/// What a file begins with: the digest of its kernel's hash and of the code, so that a file of another name is no good.
static std::string checksumOf(StringRef hash, StringRef code) { return hashOf((hash + code).str()); }

std::optional<ObjectCode> KernelCache::find(StringRef hash) {
  if (folder.empty())
    return std::nullopt;
  const absl::StatusOr<File> file = File::open(pathOf(hash));
  if (!file.ok() || !file->isOwn()) // it was never compiled, or by someone else, whose code must not be run
    return std::nullopt;
  const absl::StatusOr<std::string> content = file->readAll(kMaxBytes);
  if (!content.ok())
    return std::nullopt;
  ::futimens(file->descriptor(), nullptr); // used now
  StringRef bytes = *content, checksum = bytes.take_front(32), code = bytes.drop_front(checksum.size());
  if (checksum != checksumOf(hash, code))
    return std::nullopt; // compiled anew, and stored over it
  return ObjectCode(code.begin(), code.end());
}

void KernelCache::store(StringRef hash, ArrayRef<char> object) {
  if (folder.empty())
    return;
  const std::string path = pathOf(hash);
  absl::StatusOr<PendingFile> file = PendingFile::create(path);
  if (!file.ok())
    return fail(file.status());
  const StringRef code(object.data(), object.size());
  const std::string content = checksumOf(hash, code) + code.str();
  absl::Status status = file->file().writeAt(0, content.data(), static_cast<int64_t>(content.size()));
  if (status.ok())
    status = file->commitToCache();
  if (!status.ok())
    fail(status);
}

void KernelCache::trim() {
  if (folder.empty())
    return;
  struct Entry {
    llvm::sys::TimePoint<> used;
    uint64_t bytes;
    std::string path;
  };
  std::vector<Entry> entries;
  uint64_t bytes = 0;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; it != end && !error; it.increment(error)) {
    llvm::ErrorOr<fs::basic_file_status> status = it->status();
    if (!status || !StringRef(it->path()).contains(kExtension)) // also what a killed compiler left half-written
      continue;
    entries.push_back({status->getLastModificationTime(), status->getSize(), it->path()});
    bytes += status->getSize();
  }
  llvm::sort(entries, [](const Entry &a, const Entry &b) { return a.used < b.used; });
  for (const Entry &entry : entries) {
    if (bytes <= kMaxBytes)
      return;
    if (!fs::remove(entry.path))
      bytes -= entry.bytes;
  }
}
