// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Kernels written as text, compiled and called as the runtime calls them, beside a naive evaluation in f64.

#ifndef DS_TEST_UNIT_CODEGEN_KERNELS_H
#define DS_TEST_UNIT_CODEGEN_KERNELS_H

#include "ds/Codegen/Cpu.h"

#include <string>
#include <vector>

namespace ds::test {

/// A tensor as numbers, row-major.
struct Tensor {
  std::vector<int64_t> shape;
  std::vector<double> elements;
};

/// A function with one kernel in it.
class ParsedKernel {
public:
  /// `types`: aliases, "m = tensor<8x64xf32>". `body`: from the block's header to the yield. Types without '!' in the
  /// lists are not aliases. Aborts if the text is no kernel, unless the test expects that of analyzeKernel.
  ParsedKernel(const std::vector<std::string> &types, const std::string &inputs, const std::string &results,
               const std::string &body);

  KernelOp op() { return kernel; }
  mlir::MLIRContext *context() { return &mlirContext; }

private:
  mlir::MLIRContext mlirContext;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  KernelOp kernel;
};

/// What the kernel's ops mean, element by element, in f64.
std::vector<Tensor> evaluate(KernelOp kernel, const std::vector<Tensor> &inputs);

/// Random inputs for a kernel: floats in [-2, 2), integers in [0, 20), bools.
std::vector<Tensor> randomInputs(KernelOp kernel, unsigned seed = 0);

/// How a kernel is called.
struct CallOptions {
  int64_t chunks = 0;                                ///< 0: as analyzeKernel says
  std::vector<std::pair<unsigned, unsigned>> shared; ///< result number, input number: in one buffer
  std::vector<std::pair<int64_t, int64_t>> extents; ///< length and begin of each group; empty: those of the whole space
};

/// Compiles and calls the kernel. All buffers end in guard bytes, which are checked.
std::vector<Tensor> compileAndCall(KernelOp kernel, const std::vector<Tensor> &inputs, const CallOptions &options = {});

/// The greatest |a - b| relative to the greatest |b|; 1e30 if only one of the two is NaN somewhere.
double difference(const Tensor &a, const Tensor &b);

/// The names of the symbols that the kernel's object does not define, for what it calls.
CompiledKernel compileOnly(KernelOp kernel, std::vector<uint8_t> &object, const CpuOptions &options = {});

} // namespace ds::test

#endif // DS_TEST_UNIT_CODEGEN_KERNELS_H
