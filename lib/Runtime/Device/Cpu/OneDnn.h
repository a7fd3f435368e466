// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// oneDNN behind absl::Status. Its C interface, since exceptions stay out of this project.

#ifndef DS_RUNTIME_DEVICE_CPU_ONEDNN_H
#define DS_RUNTIME_DEVICE_CPU_ONEDNN_H

#include "ds/Runtime/Device/Task.h"

#include "oneapi/dnnl/dnnl.h"

#include <utility>

namespace ds::runtime {

/// Owns a handle of oneDNN.
template <typename Handle, dnnl_status_t (*Destroy)(Handle)> class DnnlHandle {
public:
  DnnlHandle() = default;
  DnnlHandle(DnnlHandle &&other) noexcept : handle(std::exchange(other.handle, nullptr)) {}
  DnnlHandle &operator=(DnnlHandle &&other) noexcept {
    std::swap(handle, other.handle);
    return *this;
  }
  ~DnnlHandle() {
    if (handle)
      Destroy(handle);
  }

  Handle get() const { return handle; }
  /// For functions that create one; must be empty.
  Handle *out() { return &handle; }

private:
  Handle handle = nullptr;
};
using DnnlMemory = DnnlHandle<dnnl_memory_t, dnnl_memory_destroy>;
using DnnlPrimitive = DnnlHandle<dnnl_primitive_t, dnnl_primitive_destroy>;
using DnnlAttributes = DnnlHandle<dnnl_primitive_attr_t, dnnl_primitive_attr_destroy>;
using DnnlPostOps = DnnlHandle<dnnl_post_ops_t, dnnl_post_ops_destroy>;
using DnnlPrimitiveDesc = DnnlHandle<dnnl_primitive_desc_t, dnnl_primitive_desc_destroy>;
using DnnlPrimitiveIterator = DnnlHandle<dnnl_primitive_desc_iterator_t, dnnl_primitive_desc_iterator_destroy>;

/// Internal, with `what` and oneDNN's reason, unless `status` is success.
absl::Status dnnlStatus(dnnl_status_t status, const char *what);

/// The CPU, and a stream on it for the calling thread.
dnnl_engine_t dnnlCpu();
dnnl_stream_t dnnlStream();

/// The descriptor of a tensor with these strides (elements). Fails if there are more than 12 dims.
absl::StatusOr<dnnl_memory_desc_t> describeTensor(const std::vector<int64_t> &sizes,
                                                  const std::vector<int64_t> &strides, plan::DataType type);
/// The same for a dense row-major tensor.
absl::StatusOr<dnnl_memory_desc_t> describeDense(const std::vector<int64_t> &sizes, plan::DataType type);
absl::StatusOr<DnnlMemory> wrapMemory(const dnnl_memory_desc_t &description, void *data);

/// Attributes with the scratchpad left to us: oneDNN's own belongs to the thread that made the primitive.
absl::StatusOr<DnnlAttributes> makeAttributes();

/// The bytes that a primitive works in.
size_t scratchBytes(const_dnnl_primitive_desc_t description);

/// A primitive with its arguments bound.
class BoundPrimitive {
public:
  /// Makes the primitive of `description` (of attributes by makeAttributes), which works in `space`.
  static absl::StatusOr<BoundPrimitive> create(const_dnnl_primitive_desc_t description, ScratchSpace &space);
  absl::Status bind(int argument, const dnnl_memory_desc_t &description, void *data);
  /// The same for memory in the scratch space, `offset` bytes from its begin; behind what the primitive itself needs.
  absl::Status bindScratch(int argument, const dnnl_memory_desc_t &description, size_t offset);
  /// Moves bound argument number `index` (in the order of bind calls) to other memory.
  void rebind(size_t index, void *data) { dnnl_memory_set_data_handle(memories[index + 1].get(), data); }
  size_t numBound() const { return arguments.size() - 1; }
  absl::Status run();

private:
  DnnlPrimitive primitive;
  ScratchSpace *scratch = nullptr;
  void *boundScratch = nullptr;
  std::vector<std::pair<size_t, size_t>> inScratch; ///< numbers of memories, and their offsets
  std::vector<DnnlMemory> memories;                 ///< the scratchpad, then those of bind
  std::vector<dnnl_exec_arg_t> arguments;
};

} // namespace ds::runtime

#endif // DS_RUNTIME_DEVICE_CPU_ONEDNN_H
