// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "KernelCache.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Chrono.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/xxhash.h"

#include <elf.h>
#include <link.h>

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
// What makes code
//===----------------------------------------------------------------------===//

/// The build id in the notes [begin, end) of a loaded object; empty if there is none.
static StringRef findBuildId(const char *begin, const char *end) {
  while (begin + sizeof(ElfW(Nhdr)) <= end) {
    const auto *note = reinterpret_cast<const ElfW(Nhdr) *>(begin);
    const char *name = begin + sizeof(*note), *content = name + llvm::alignTo(note->n_namesz, 4);
    if (note->n_type == NT_GNU_BUILD_ID && StringRef(name, note->n_namesz) == StringRef("GNU", 4))
      return StringRef(content, note->n_descsz);
    begin = content + llvm::alignTo(note->n_descsz, 4);
  }
  return StringRef();
}

/// The build ids of this program and of all libraries that it has loaded, in hexadecimal: the code generator's version,
/// LLVM's and MLIR's. Empty if an object has none, so that its changes would not be seen.
static std::string compilerIdentity() {
  struct Found {
    std::string text;
    bool isComplete = true;
  } found;
  dl_iterate_phdr(
      [](dl_phdr_info *object, size_t, void *data) {
        StringRef id;
        for (const ElfW(Phdr) & header : llvm::ArrayRef(object->dlpi_phdr, object->dlpi_phnum))
          if (const char *start = reinterpret_cast<const char *>(object->dlpi_addr + header.p_vaddr);
              header.p_type == PT_NOTE && id.empty())
            id = findBuildId(start, start + header.p_memsz);
        auto *result = static_cast<Found *>(data);
        result->text += llvm::toHex(id, /*LowerCase=*/true);
        result->isComplete &= !id.empty();
        return 0;
      },
      &found);
  return found.isComplete ? found.text : "";
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
  std::string maker = compiler + target.triple + " " + target.tuning;
  for (const std::string &feature : target.features)
    maker += " " + feature;
  suffix = "-" + hashOf(maker) + kExtension.str();
  if (std::error_code error = fs::create_directories(folder)) {
    fail(folder, error);
    folder.clear();
  }
}

std::string KernelCache::pathOf(StringRef hash) const {
  SmallString<128> path(folder);
  llvm::sys::path::append(path, hash + suffix);
  return path.str().str();
}

void KernelCache::fail(const std::string &path, std::error_code error) {
  std::lock_guard<std::mutex> lock(mutex);
  if (!firstFault)
    firstFault = "cannot write \"" + path + "\": " + error.message();
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
  llvm::Expected<fs::file_t> file = fs::openNativeFileForRead(pathOf(hash));
  if (!file) {
    llvm::consumeError(file.takeError()); // it was never compiled
    return std::nullopt;
  }
  auto contents =
      llvm::MemoryBuffer::getOpenFile(*file, hash, -1, /*RequiresNullTerminator=*/false, /*IsVolatile=*/true);
  const llvm::sys::TimePoint<> now =
      std::chrono::time_point_cast<llvm::sys::TimePoint<>::duration>(std::chrono::system_clock::now());
  (void)fs::setLastAccessAndModificationTime(*file, now); // in a folder that only may be read, nothing is removed
  (void)fs::closeFile(*file);
  if (!contents)
    return std::nullopt;
  StringRef bytes = (*contents)->getBuffer(), checksum = bytes.take_front(32), code = bytes.drop_front(checksum.size());
  if (checksum != checksumOf(hash, code))
    return std::nullopt; // compiled anew, and stored over it
  return ObjectCode(code.begin(), code.end());
}

void KernelCache::store(StringRef hash, ArrayRef<char> object) {
  if (folder.empty())
    return;
  const std::string path = pathOf(hash);
  llvm::Expected<fs::TempFile> file = fs::TempFile::create(path + ".%%%%%%%%");
  if (!file)
    return fail(path, llvm::errorToErrorCode(file.takeError()));
  llvm::raw_fd_ostream out(file->FD, /*shouldClose=*/false);
  const StringRef code(object.data(), object.size());
  out << checksumOf(hash, code) << code;
  out.flush();
  const std::error_code error = out.error();
  out.clear_error();
  if (error) {
    llvm::consumeError(file->discard());
    return fail(path, error);
  }
  if (llvm::Error failure = file->keep(path))
    fail(path, llvm::errorToErrorCode(std::move(failure)));
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
