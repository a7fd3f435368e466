// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// What a call of compiled code needs: the code in memory, and buffers that notice writes past their end.

#ifndef DS_TEST_UNIT_CODEGEN_OBJECTCALL_H
#define DS_TEST_UNIT_CODEGEN_OBJECTCALL_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/ErrorHandling.h"

#include <dlfcn.h>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

namespace ds::test {

/// As the plan calls it: buffers, extents, begin, end, chunk.
using KernelFunction = void(void *const *, const int64_t *, int64_t, int64_t, int64_t);

/// Memory that starts on a cache line, full of NaN, with guard bytes at its end.
class GuardedBuffer {
public:
  explicit GuardedBuffer(int64_t bytes) : bytes(bytes), memory(bytes + 2 * kGuard, '\xff') {}
  char *data() { return memory.data() + (64 - reinterpret_cast<uintptr_t>(memory.data()) % 64) % 64; }
  void checkGuard() {
    for (int64_t place = 0; place < kGuard; ++place)
      if (data()[bytes + place] != '\xff')
        llvm::report_fatal_error("a kernel wrote past the end of a buffer");
  }

private:
  static constexpr int64_t kGuard = 64;
  int64_t bytes;
  std::vector<char> memory;
};

/// A shared object in memory.
class LoadedObject {
public:
  explicit LoadedObject(llvm::ArrayRef<uint8_t> bytes) : file(memfd_create("kernels", MFD_CLOEXEC)) {
    if (::write(file, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()))
      llvm::report_fatal_error("cannot write an object");
    handle = dlopen(("/proc/self/fd/" + std::to_string(file)).c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle)
      llvm::report_fatal_error(dlerror());
  }
  ~LoadedObject() {
    dlclose(handle);
    close(file);
  }
  template <typename FunctionT> FunctionT *find(const std::string &symbol) {
    return reinterpret_cast<FunctionT *>(dlsym(handle, symbol.c_str()));
  }

private:
  int file;
  void *handle;
};

} // namespace ds::test

#endif // DS_TEST_UNIT_CODEGEN_OBJECTCALL_H
