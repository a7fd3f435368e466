// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// From LLVM's dialect to machine code.

#ifndef DS_LIB_CODEGEN_CPU_NATIVECODE_H
#define DS_LIB_CODEGEN_CPU_NATIVECODE_H

#include "mlir/IR/BuiltinOps.h"

#include <memory>
#include <string>
#include <vector>

namespace ds {

/// The CPU that code is made for.
struct CpuTarget {
  std::string triple;
  std::string tuning;                ///< the CPU whose timings the code is scheduled for
  std::vector<std::string> features; ///< that the code may use, sorted

  /// Of a CPU name of LLVM, or "native". Nothing, with a reason in `error`, if it is unknown.
  static std::optional<CpuTarget> find(llvm::StringRef cpu, std::string &error);
  /// All of it in one text.
  std::string describe() const;
  /// The width of its vector registers.
  unsigned vectorBits() const;
};

using ObjectCode = llvm::SmallVector<char, 0>;

/// The object file of a module in LLVM's dialect; may run on many threads. Fails with an error on the module.
mlir::FailureOr<ObjectCode> compileToObject(mlir::ModuleOp module, const CpuTarget &target);

/// The shared object made of `objects`. Nothing, with a reason in `error`, if the linker refuses.
std::optional<std::vector<uint8_t>> linkObjects(llvm::ArrayRef<ObjectCode> objects, std::string &error);

} // namespace ds

#endif // DS_LIB_CODEGEN_CPU_NATIVECODE_H
