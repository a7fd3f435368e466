// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "Checks.h"

#include <set>

using namespace ds::plan;
using ds::Mesh;

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

/// The number of elements of `shape`, counting empty dims as 1; -1 if that is above the limit or a dim is negative.
static int64_t boundedElements(const ds::Shape &shape) {
  int64_t elements = 1;
  for (int64_t size : shape)
    if (size < 0 || __builtin_mul_overflow(elements, std::max<int64_t>(size, 1), &elements) || elements > kMaxElements)
      return -1;
  return elements;
}

/// All axis ids of the table, in dims, flat, partial and at.
static std::vector<uint16_t> axesOf(const LayoutT &layout) {
  std::vector<uint16_t> axes = layout.flat;
  for (const auto &dim : layout.dims)
    for (const auto &factor : dim->factors)
      axes.insert(axes.end(), factor->axes.begin(), factor->axes.end());
  for (const auto &partial : layout.partial)
    axes.push_back(partial->axis);
  for (const auto &at : layout.at)
    axes.push_back(at->axis);
  return axes;
}

absl::Status ds::plan::checkLayout(const PlanT &plan, const LayoutT *layout, const Shape &shape,
                                   const std::string &owner) {
  if (!layout)
    return invalidPlan(owner, " has no layout");
  if (boundedElements(shape) < 0)
    return invalidPlan(owner, " must have dims >= 0 and at most ", kMaxElements, " elements");
  for (uint16_t axis : axesOf(*layout))
    if (axis >= plan.mesh.size())
      return invalidPlan(owner, " refers to unknown axis ", axis);
  for (const auto &dim : layout->dims) {
    Shape sizes;
    for (const auto &factor : dim->factors)
      sizes.push_back(factor->size);
    if (boundedElements(sizes) < 0)
      return invalidPlan(owner, " must have factors >= 0 and at most ", kMaxElements, " elements in a dim");
  }
  for (const auto &partial : layout->partial)
    if (partial->reduce > ReduceKind::MAX)
      return invalidPlan(owner, " has unknown reduction ", static_cast<int>(partial->reduce));
  if (layout->memory > MemoryTier::MAX)
    return invalidPlan(owner, " has unknown memory tier ", static_cast<int>(layout->memory));
  // A lone factor must be the dim, which layoutOf takes for granted.
  for (size_t i = 0; i < layout->dims.size() && i < shape.size(); ++i)
    if (layout->dims[i]->factors.size() == 1 && layout->dims[i]->factors[0]->size != shape[i])
      return invalidPlan(owner, " must have a factor of ", shape[i], " in dim ", i, ", got ",
                         layout->dims[i]->factors[0]->size);
  if (auto fault = findLayoutFault(layoutOf(plan, *layout), shape, meshOf(plan)))
    return invalidPlan(owner, " has no valid layout: ", *fault);
  return absl::OkStatus();
}

//===----------------------------------------------------------------------===//
// Tensors in buffers
//===----------------------------------------------------------------------===//

namespace {
/// What variables and ports have in common.
struct Tensor {
  std::string owner; ///< for errors
  DataType type;
  const ds::Shape &shape;
  const LayoutT *layout;
  uint32_t buffer;
};
} // namespace

static absl::Status checkTensor(const PlanT &plan, const Tensor &tensor) {
  if (tensor.type > DataType::MAX)
    return invalidPlan(tensor.owner, " has unknown type ", static_cast<int>(tensor.type));
  DS_RETURN_IF_ERROR(checkLayout(plan, tensor.layout, tensor.shape, tensor.owner));
  if (tensor.buffer >= plan.buffers.size())
    return invalidPlan(tensor.owner, " refers to unknown buffer ", tensor.buffer);
  const Mesh mesh = meshOf(plan);
  uint64_t elements = maxLength(elementsExtent(layoutOf(plan, *tensor.layout), tensor.shape, mesh), mesh);
  uint64_t bytes = elements * sizeOf(tensor.type);
  if (bytes > plan.buffers[tensor.buffer]->bytes)
    return invalidPlan(bufferName(plan, tensor.buffer), " must hold the ", bytes, " bytes of ", tensor.owner, ", got ",
                       plan.buffers[tensor.buffer]->bytes);
  return absl::OkStatus();
}

/// The bytes of the whole tensor.
static uint64_t globalBytes(const Tensor &tensor) {
  uint64_t elements = 1;
  for (int64_t size : tensor.shape)
    elements *= static_cast<uint64_t>(size);
  return elements * sizeOf(tensor.type);
}

//===----------------------------------------------------------------------===//
// Variables
//===----------------------------------------------------------------------===//

/// Whether `path` is relative and has no part "..".
static bool staysInside(const std::string &path) {
  return !path.empty() && path[0] != '/' && path.find('\0') == std::string::npos &&
         ("/" + path + "/").find("/../") == std::string::npos;
}

/// A source must be bytes of a file whose content the plan knows, else another file of that name would be read.
static absl::Status checkSourceFile(const PlanT &plan, const FileRangeT &source, const std::string &owner) {
  for (const auto &file : plan.model_files) {
    if (file->path != source.path)
      continue;
    if (source.offset > file->bytes || source.length > file->bytes - source.offset)
      return invalidPlan(owner, " must have a source in the ", file->bytes, " bytes of \"", source.path, "\", got ",
                         source.length, " from ", source.offset);
    return absl::OkStatus();
  }
  return invalidPlan(owner, " must have a source in one of the model's files, got \"", source.path, "\"");
}

static absl::Status checkInitialData(const PlanT &plan, const VariableT &variable, const Tensor &tensor) {
  uint64_t bytes = globalBytes(tensor);
  if (const FileRangeT *source = variable.source.get()) {
    if (!staysInside(source->path))
      return invalidPlan(tensor.owner, " must have a source inside the model's folder, got \"", source->path, "\"");
    if (source->length != bytes)
      return invalidPlan(tensor.owner, " must have a source of ", bytes, " bytes, got ", source->length);
    return checkSourceFile(plan, *source, tensor.owner);
  }
  if (!variable.inline_data.empty() && variable.inline_data.size() != bytes)
    return invalidPlan(tensor.owner, " must have ", bytes, " bytes of data, got ", variable.inline_data.size());
  return absl::OkStatus();
}

static absl::Status checkVariable(const PlanT &plan, const Program &program, const VariableT &variable) {
  Tensor tensor{absl::StrCat("variable \"", variable.name, "\""), variable.type, variable.shape, variable.layout.get(),
                variable.buffer};
  DS_RETURN_IF_ERROR(checkTensor(plan, tensor));
  if (variable.role > VariableRole::MAX)
    return invalidPlan(tensor.owner, " has unknown role ", static_cast<int>(variable.role));
  if (!variable.layout->partial.empty())
    return invalidPlan(tensor.owner, " must not be partial");
  DS_RETURN_IF_ERROR(checkInitialData(plan, variable, tensor));
  const BufferT &buffer = *plan.buffers[variable.buffer];
  if (buffer.first != 0 || buffer.last < program.lastOrder)
    return invalidPlan(bufferName(plan, variable.buffer), " of ", tensor.owner, " must live from 0 to ",
                       program.lastOrder, ", got ", buffer.first, " to ", buffer.last);
  return absl::OkStatus();
}

//===----------------------------------------------------------------------===//
// Ports
//===----------------------------------------------------------------------===//

static absl::Status checkPort(const PlanT &plan, const PortT &port, const std::string &kind) {
  Tensor tensor{absl::StrCat(kind, " \"", port.name, "\""), port.type, port.shape, port.layout.get(), port.buffer};
  DS_RETURN_IF_ERROR(checkTensor(plan, tensor));
  // Written by the run itself. An output "loss" may be anything: only a scalar is reported as the loss.
  bool isFloat = port.type == DataType::F32 || port.type == DataType::F64;
  if (kind == "input" && port.name == "ds.learning_rate" && (!isFloat || !port.shape.empty()))
    return invalidPlan(tensor.owner, " must be a scalar of f32 or f64");
  return absl::OkStatus();
}

static absl::Status checkInput(const PlanT &plan, const PortT &port) {
  DS_RETURN_IF_ERROR(checkPort(plan, port, "input"));
  if (!port.layout->partial.empty() || !port.layout->flat.empty())
    return invalidPlan("input \"", port.name, "\" must be neither partial nor flat");
  if (port.allowed && (port.type < DataType::I64 || port.allowed->low > port.allowed->high))
    return invalidPlan("input \"", port.name, "\" must allow a range of integers, got [", port.allowed->low, ", ",
                       port.allowed->high, ") of ", std::string(nameOf(port.type)));
  if (plan.buffers[port.buffer]->first != 0)
    return invalidPlan(bufferName(plan, port.buffer), " of input \"", port.name, "\" must live from 0, got ",
                       plan.buffers[port.buffer]->first);
  return absl::OkStatus();
}

static absl::Status checkOutput(const PlanT &plan, const Program &program, const PortT &port) {
  DS_RETURN_IF_ERROR(checkPort(plan, port, "output"));
  if (plan.buffers[port.buffer]->last < program.lastOrder)
    return invalidPlan(bufferName(plan, port.buffer), " of output \"", port.name, "\" must live to ", program.lastOrder,
                       ", got ", plan.buffers[port.buffer]->last);
  return absl::OkStatus();
}

absl::Status ds::plan::checkVariables(const PlanT &plan, const Program &program) {
  std::set<std::pair<VariableRole, std::string>> variables;
  std::map<uint32_t, std::string> owners;
  for (const auto &variable : plan.variables) {
    if (!variables.emplace(variable->role, variable->name).second)
      return invalidPlan("two variables of one role are called \"", variable->name, "\"");
    DS_RETURN_IF_ERROR(checkVariable(plan, program, *variable));
    auto [owner, isNew] = owners.emplace(variable->buffer, variable->name);
    if (!isNew)
      return invalidPlan("variables \"", owner->second, "\" and \"", variable->name, "\" must not share ",
                         bufferName(plan, variable->buffer));
  }
  std::set<std::string> names;
  for (const auto &port : plan.inputs) {
    if (!names.insert(port->name).second)
      return invalidPlan("two inputs are called \"", port->name, "\"");
    DS_RETURN_IF_ERROR(checkInput(plan, *port));
  }
  names.clear();
  for (const auto &port : plan.outputs) {
    if (!names.insert(port->name).second)
      return invalidPlan("two outputs are called \"", port->name, "\"");
    DS_RETURN_IF_ERROR(checkOutput(plan, program, *port));
  }
  return absl::OkStatus();
}
