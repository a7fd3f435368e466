// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Machine code of kernels, kept in a folder from one compilation to the next.

#ifndef DS_LIB_CODEGEN_CPU_KERNELCACHE_H
#define DS_LIB_CODEGEN_CPU_KERNELCACHE_H

#include "NativeCode.h"

#include "absl/status/status.h"

#include <mutex>

namespace ds {

/// 128 bits, in hexadecimal; of no cryptographic strength.
std::string hashOf(llvm::StringRef text);

/// One file per kernel, by the hash of its structure, of the target and of the compiler itself. Files appear whole or
/// not at all, so that compilers may share a folder, and begin with a checksum: a damaged one is as good as none, and
/// so is one of another user, who could have put any code there. May be used from many threads.
class KernelCache {
public:
  /// `folder` is made where it is missing; empty: nothing is kept.
  KernelCache(std::string folder, const CpuTarget &target);

  std::optional<ObjectCode> find(llvm::StringRef hash);
  void store(llvm::StringRef hash, llvm::ArrayRef<char> object);
  /// Removes the files used longest ago, down to 256 MiB.
  void trim();
  /// Why a kernel could not be stored, if so.
  std::optional<std::string> fault();

private:
  std::string pathOf(llvm::StringRef hash) const;
  void fail(const absl::Status &status);

  std::string folder, suffix;
  std::mutex mutex; ///< of firstFault
  std::optional<std::string> firstFault;
};

} // namespace ds

#endif // DS_LIB_CODEGEN_CPU_KERNELCACHE_H
