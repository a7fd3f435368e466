// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "NativeCode.h"

#include "ds/Files/File.h"

#include "lld/Common/Driver.h"
#include "llvm/Object/ArchiveWriter.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <mutex>
#include <thread>
#include <unistd.h>

LLD_HAS_DRIVER(elf)

using namespace mlir;
using namespace ds;

/// The name under which this process can open the file again.
static std::string nameOf(const File &file) { return "/proc/self/fd/" + std::to_string(file.descriptor()); }

/// All objects in one file, as there may be more of them than a process may have files.
static llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> makeArchive(ArrayRef<ObjectCode> objects) {
  std::vector<llvm::NewArchiveMember> members;
  for (const ObjectCode &object : objects)
    members.emplace_back(llvm::MemoryBufferRef(StringRef(object.data(), object.size()), "kernel.o"));
  return llvm::writeArchiveToBuffer(members, llvm::SymtabWritingMode::NoSymtab, llvm::object::Archive::K_GNU,
                                    /*Deterministic=*/true, /*Thin=*/false);
}

static bool runLinker(ArrayRef<std::string> arguments, std::string &error) {
  static std::mutex oneAtATime; // lld has global state
  std::lock_guard<std::mutex> lock(oneAtATime);
  SmallVector<const char *> pointers;
  for (const std::string &argument : arguments)
    pointers.push_back(argument.c_str());
  llvm::raw_string_ostream messages(error);
  lld::Result result = lld::lldMain(pointers, llvm::nulls(), messages, {{lld::Gnu, &lld::elf::link}});
  return result.retCode == 0;
}

namespace {
/// A file for the linker's output that is read as it is written, and never on a disk.
class OutputPipe {
public:
  OutputPipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0)
      return;
    reader = File(ends[0], "kernels.so");
    writer = File(ends[1], "kernels.so");
    thread = std::thread([this] { readAll(); });
  }
  ~OutputPipe() { (void)finish(); }

  bool isOpen() const { return writer.descriptor() >= 0; }
  std::string name() const { return nameOf(writer); }
  /// All that was written.
  std::string finish() {
    writer = File();
    if (thread.joinable())
      thread.join();
    return std::move(content);
  }

private:
  void readAll() {
    char chunk[1 << 16];
    for (ssize_t got; (got = ::read(reader.descriptor(), chunk, sizeof(chunk))) > 0;)
      content.append(chunk, static_cast<size_t>(got));
  }

  File reader, writer;
  std::string content;
  std::thread thread;
};
} // namespace

/// Links in memory: the linker reads and writes files by name, and on a disk a compiler that is killed would leave
/// them. It replaces a regular file by another one that it writes beside it, but writes into a pipe.
static absl::StatusOr<std::string> link(StringRef archive) {
  const absl::StatusOr<File> input = File::makeInMemory("kernels.a");
  if (!input.ok())
    return input.status();
  if (absl::Status status = input->writeAt(0, archive.data(), archive.size()); !status.ok())
    return status;
  OutputPipe output;
  if (!output.isOpen())
    return absl::FailedPreconditionError(std::string("cannot create a pipe: ") + std::strerror(errno));
  std::string error;
  const bool isLinked = runLinker({"ld.lld", "-shared", "--threads=1", "--build-id=none", "--hash-style=gnu",
                                   "--gc-sections", "-z", "noexecstack", "-z", "now", "--strip-all", "-soname",
                                   "ds-kernels", "--whole-archive", nameOf(*input), "-o", output.name()},
                                  error);
  std::string linked = output.finish();
  if (!isLinked)
    return absl::InternalError(error);
  return linked;
}

std::optional<std::vector<uint8_t>> ds::linkObjects(ArrayRef<ObjectCode> objects, std::string &error) {
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> archive = makeArchive(objects);
  if (!archive) {
    error = llvm::toString(archive.takeError());
    return std::nullopt;
  }
  const absl::StatusOr<std::string> linked = link((*archive)->getBuffer());
  if (!linked.ok()) {
    error = std::string(linked.status().message());
    return std::nullopt;
  }
  return std::vector<uint8_t>(linked->begin(), linked->end());
}
