// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "OneDnn.h"

#include "ds/Runtime/StatusMacros.h"

#include "absl/strings/str_cat.h"

using namespace ds;
using namespace ds::runtime;

static const char *reasonOf(dnnl_status_t status) {
  switch (status) {
  case dnnl_out_of_memory:
    return "out of memory";
  case dnnl_invalid_arguments:
    return "invalid arguments";
  case dnnl_unimplemented:
    return "not implemented";
  default:
    return "runtime error";
  }
}

absl::Status ds::runtime::dnnlStatus(dnnl_status_t status, const char *what) {
  if (status == dnnl_success)
    return absl::OkStatus();
  return absl::InternalError(absl::StrCat("cannot ", what, ": oneDNN reports ", reasonOf(status)));
}

dnnl_engine_t ds::runtime::dnnlCpu() {
  static const dnnl_engine_t engine = [] {
    dnnl_engine_t created = nullptr;
    dnnl_engine_create(&created, dnnl_cpu, 0);
    return created;
  }();
  return engine;
}

dnnl_stream_t ds::runtime::dnnlStream() {
  thread_local DnnlHandle<dnnl_stream_t, dnnl_stream_destroy> stream;
  if (!stream.get())
    dnnl_stream_create(stream.out(), dnnlCpu(), dnnl_stream_default_flags);
  return stream.get();
}

static absl::StatusOr<dnnl_data_type_t> dnnlType(plan::DataType type) {
  switch (type) {
  case plan::DataType::F32:
    return dnnl_f32;
  case plan::DataType::BF16:
    return dnnl_bf16;
  default:
    return absl::UnimplementedError(absl::StrCat("type must be f32 or bf16, got ", std::string(plan::nameOf(type))));
  }
}

absl::StatusOr<dnnl_memory_desc_t> ds::runtime::describeTensor(const std::vector<int64_t> &sizes,
                                                               const std::vector<int64_t> &strides,
                                                               plan::DataType type) {
  DS_ASSIGN_OR_RETURN(const dnnl_data_type_t dataType, dnnlType(type));
  dnnl_memory_desc_t description;
  DS_RETURN_IF_ERROR(dnnlStatus(dnnl_memory_desc_init_by_strides(&description, static_cast<int>(sizes.size()),
                                                                 sizes.data(), dataType, strides.data()),
                                "describe a tensor"));
  return description;
}

absl::StatusOr<dnnl_memory_desc_t> ds::runtime::describeDense(const std::vector<int64_t> &sizes, plan::DataType type) {
  std::vector<int64_t> strides(sizes.size(), 1);
  for (size_t i = sizes.size(); i-- > 1;)
    strides[i - 1] = strides[i] * std::max<int64_t>(sizes[i], 1);
  return describeTensor(sizes, strides, type);
}

absl::StatusOr<DnnlMemory> ds::runtime::wrapMemory(const dnnl_memory_desc_t &description, void *data) {
  DnnlMemory memory;
  DS_RETURN_IF_ERROR(dnnlStatus(dnnl_memory_create(memory.out(), &description, dnnlCpu(), data), "wrap memory"));
  return memory;
}

absl::StatusOr<DnnlAttributes> ds::runtime::makeAttributes() {
  DnnlAttributes attributes;
  DS_RETURN_IF_ERROR(dnnlStatus(dnnl_primitive_attr_create(attributes.out()), "create attributes"));
  DS_RETURN_IF_ERROR(dnnlStatus(dnnl_primitive_attr_set_scratchpad_mode(attributes.get(), dnnl_scratchpad_mode_user),
                                "set the scratchpad"));
  return attributes;
}

size_t ds::runtime::scratchBytes(const_dnnl_primitive_desc_t description) {
  return dnnl_memory_desc_get_size(dnnl_primitive_desc_query_md(description, dnnl_query_scratchpad_md, 0));
}

absl::StatusOr<BoundPrimitive> BoundPrimitive::create(const_dnnl_primitive_desc_t description, ScratchSpace &space) {
  BoundPrimitive bound;
  DS_RETURN_IF_ERROR(dnnlStatus(dnnl_primitive_create(bound.primitive.out(), description), "create a primitive"));
  const dnnl_memory_desc_t *scratchpad = dnnl_primitive_desc_query_md(description, dnnl_query_scratchpad_md, 0);
  bound.scratch = &space;
  DS_RETURN_IF_ERROR(bound.bindScratch(DNNL_ARG_SCRATCHPAD, *scratchpad, 0));
  return bound;
}

absl::Status BoundPrimitive::bindScratch(int argument, const dnnl_memory_desc_t &description, size_t offset) {
  scratch->reserve(std::max<size_t>(offset + dnnl_memory_desc_get_size(&description), 1));
  inScratch.push_back({memories.size(), offset});
  return bind(argument, description, static_cast<char *>(scratch->data()) + offset);
}

absl::Status BoundPrimitive::bind(int argument, const dnnl_memory_desc_t &description, void *data) {
  DS_ASSIGN_OR_RETURN(DnnlMemory memory, wrapMemory(description, data));
  arguments.push_back({argument, memory.get()});
  memories.push_back(std::move(memory));
  return absl::OkStatus();
}

absl::Status BoundPrimitive::run() {
  if (boundScratch != scratch->data()) { // It moved when a later task was built.
    boundScratch = scratch->data();
    for (const auto &[number, offset] : inScratch)
      dnnl_memory_set_data_handle(memories[number].get(), static_cast<char *>(boundScratch) + offset);
  }
  return dnnlStatus(
      dnnl_primitive_execute(primitive.get(), dnnlStream(), static_cast<int>(arguments.size()), arguments.data()),
      "run a primitive");
}
