// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "NativeCode.h"

#include "lld/Common/Driver.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <mutex>

LLD_HAS_DRIVER(elf)

using namespace mlir;
using namespace ds;

namespace {

/// A folder for the linker, which reads and writes files; goes with this object.
class TemporaryFolder {
public:
  static std::unique_ptr<TemporaryFolder> create(std::string &error) {
    SmallString<128> path;
    if (std::error_code code = llvm::sys::fs::createUniqueDirectory("ds-kernels", path)) {
      error = "cannot create a temporary folder: " + code.message();
      return nullptr;
    }
    return std::unique_ptr<TemporaryFolder>(new TemporaryFolder(path.str().str()));
  }
  ~TemporaryFolder() { llvm::sys::fs::remove_directories(path); }

  std::string file(const Twine &name) const {
    SmallString<128> result(path);
    llvm::sys::path::append(result, name);
    return result.str().str();
  }

private:
  explicit TemporaryFolder(std::string path) : path(std::move(path)) {}
  std::string path;
};

} // namespace

static bool writeFile(const std::string &path, ArrayRef<char> bytes, std::string &error) {
  std::error_code code;
  llvm::raw_fd_ostream out(path, code);
  if (!code) {
    out.write(bytes.data(), bytes.size());
    out.close();
    code = out.error();
    out.clear_error();
  }
  if (code)
    error = "cannot write \"" + path + "\": " + code.message();
  return !code;
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

std::optional<std::vector<uint8_t>> ds::linkObjects(ArrayRef<ObjectCode> objects, std::string &error) {
  std::unique_ptr<TemporaryFolder> folder = TemporaryFolder::create(error);
  if (!folder)
    return std::nullopt;
  std::string output = folder->file("kernels.so");
  SmallVector<std::string> arguments = {
      "ld.lld",      "-shared", "--threads=1", "--build-id=none", "--hash-style=gnu", "--gc-sections", "-z",
      "noexecstack", "-z",      "now",         "--strip-all",     "-soname",          "ds-kernels",    "-o",
      output};
  for (auto [number, object] : llvm::enumerate(objects)) {
    arguments.push_back(folder->file(Twine(number) + ".o"));
    if (!writeFile(arguments.back(), object, error))
      return std::nullopt;
  }
  if (!runLinker(arguments, error))
    return std::nullopt;
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> linked =
      llvm::MemoryBuffer::getFile(output, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!linked) {
    error = "cannot read \"" + output + "\": " + linked.getError().message();
    return std::nullopt;
  }
  StringRef bytes = (*linked)->getBuffer();
  return std::vector<uint8_t>(bytes.bytes_begin(), bytes.bytes_end());
}
