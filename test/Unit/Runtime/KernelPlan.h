// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Plans by hand that call the kernels of TestKernels.c.

#ifndef DS_TEST_UNIT_RUNTIME_KERNELPLAN_H
#define DS_TEST_UNIT_RUNTIME_KERNELPLAN_H

#include "PlanProgram.h"

#include <fstream>
#include <iterator>

namespace ds::runtime::test {

class KernelPlan : public PlanProgram {
public:
  KernelPlan() {
    std::ifstream file(DS_TEST_KERNELS, std::ios::binary);
    plan.objects.push_back(std::make_unique<plan::NativeObjectT>());
    plan.objects[0]->target = "x86_64-unknown-linux-gnu";
    plan.objects[0]->data.assign(std::istreambuf_iterator<char>(file), {});
  }

  plan::KernelCallT kernelCall(const std::string &symbol, bool hasFinish, std::vector<uint32_t> buffers,
                               std::vector<uint32_t> extentIds, int64_t rows, uint32_t chunks) {
    auto kernel = std::make_unique<plan::KernelT>();
    kernel->hash = kernel->symbol = symbol;
    kernel->has_finish = hasFinish;
    plan.kernels.push_back(std::move(kernel));
    plan::KernelCallT call;
    call.kernel = static_cast<uint32_t>(plan.kernels.size() - 1);
    call.buffers = std::move(buffers);
    call.extents = std::move(extentIds);
    call.rows = extent(rows);
    call.chunks = chunks;
    return call;
  }

  void addKernelCall(const std::string &symbol, bool hasFinish, std::vector<uint32_t> buffers,
                     std::vector<uint32_t> extentIds, int64_t rows, uint32_t chunks) {
    add(kernelCall(symbol, hasFinish, std::move(buffers), std::move(extentIds), rows, chunks), symbol);
  }

  /// append_mark of `mark` to the log buffer.
  plan::KernelCallT mark(uint32_t log, int64_t mark) {
    return kernelCall("append_mark", false, {log}, {extent(mark)}, 1, 1);
  }
};

} // namespace ds::runtime::test

#endif // DS_TEST_UNIT_RUNTIME_KERNELPLAN_H
