// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// The machine code that a plan carries.

#ifndef DS_RUNTIME_DEVICE_NATIVEKERNELS_H
#define DS_RUNTIME_DEVICE_NATIVEKERNELS_H

#include "ds/Plan/Plan.h"

namespace ds::runtime {

/// Rows [begin, end), chunk number `chunk`; see plan::Kernel.
using KernelFunction = void (*)(void *const *buffers, const int64_t *extents, int64_t begin, int64_t end,
                                int64_t chunk);
using KernelFinish = void (*)(void *const *buffers, const int64_t *extents, int64_t chunks);

struct KernelEntry {
  KernelFunction run = nullptr;
  KernelFinish finish = nullptr; ///< null unless the kernel has one
};

/// The kernels of a plan, loaded.
class NativeKernels {
public:
  /// Loads the plan's objects that this machine can run, through memory files, and looks up all kernels (the first
  /// object that has the symbol). Fails with FailedPrecondition, naming object and CPU features, if a kernel is only in
  /// objects that need features which this machine lacks.
  static absl::StatusOr<std::unique_ptr<NativeKernels>> load(const plan::PlanT &plan);
  ~NativeKernels();

  /// By the kernel's id in the plan.
  const std::vector<KernelEntry> &entries() const { return kernels; }

private:
  NativeKernels() = default;
  absl::Status loadObjects(const plan::PlanT &plan);
  absl::Status loadObject(const plan::NativeObjectT &object);
  absl::Status findKernels(const plan::PlanT &plan);

  std::vector<int> files;
  std::vector<void *> handles;
  std::vector<KernelEntry> kernels;
  std::string refusals; ///< why objects were not loaded
};

/// LLVM's names of those of `features` that this machine lacks ("+avx512f" as "avx512f"; "-x" asks for nothing). A name
/// that is not known counts as lacking.
std::vector<std::string> findMissingCpuFeatures(const std::vector<std::string> &features);

} // namespace ds::runtime

#endif // DS_RUNTIME_DEVICE_NATIVEKERNELS_H
