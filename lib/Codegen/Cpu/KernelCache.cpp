// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "KernelCache.h"

#include "ds/Codegen/CompilerIdentity.h"
#include "ds/Files/CacheEntries.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/xxhash.h"

#include <unistd.h>

using namespace mlir;
using namespace ds;
namespace fs = llvm::sys::fs;

static constexpr int64_t kMaxBytes = int64_t(256) << 20;
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
  const std::optional<std::string> content = readCacheEntry(pathOf(hash), kMaxBytes);
  if (!content) // it was never compiled, or by someone else, whose code must not be run
    return std::nullopt;
  StringRef bytes = *content, checksum = bytes.take_front(32), code = bytes.drop_front(checksum.size());
  if (checksum != checksumOf(hash, code))
    return std::nullopt; // compiled anew, and stored over it
  return ObjectCode(code.begin(), code.end());
}

void KernelCache::store(StringRef hash, ArrayRef<char> object) {
  if (folder.empty())
    return;
  const StringRef code(object.data(), object.size());
  if (absl::Status status = writeCacheEntry(pathOf(hash), checksumOf(hash, code) + code.str()); !status.ok())
    fail(status);
}

void KernelCache::trim() {
  const std::vector<CacheEntry> entries = cacheEntries(folder, kExtension.str());
  int64_t bytes = 0;
  for (const CacheEntry &entry : entries)
    bytes += entry.bytes;
  for (const CacheEntry &oldest : llvm::reverse(entries))
    if (bytes > kMaxBytes && ::unlink(oldest.path.c_str()) == 0)
      bytes -= oldest.bytes;
}
