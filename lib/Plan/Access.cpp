// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Plan/Access.h"

#include "ds/Plan/Check.h"
#include "ds/Plan/Extents.h"
#include "ds/Plan/LibrarySignature.h"

using namespace ds::plan;

namespace {
/// What an operation touches, in the making.
class AccessList {
public:
  AccessList(const PlanT &plan, DataType type) : plan(plan), type(type) {}

  Access &read(uint32_t buffer, std::vector<uint32_t> extents) { return add(buffer, std::move(extents), true, false); }
  Access &write(uint32_t buffer, std::vector<uint32_t> extents) { return add(buffer, std::move(extents), false, true); }

  void read(const ViewT &view) { read(view.buffer, extentsOf(view)); }
  void write(const ViewT &view, bool accumulate) { write(view.buffer, extentsOf(view)).reads = accumulate; }

  /// The elements of a tensor of `shape`, the number on the rank that holds most.
  void setTensor(Access &access, const ds::Layout &layout, const ds::Shape &shape) {
    const ds::Mesh mesh = meshOf(plan);
    access.count = maxLength(elementsExtent(layout, shape, mesh), mesh);
  }

  std::vector<Access> take() { return std::move(list); }

private:
  Access &add(uint32_t buffer, std::vector<uint32_t> extents, bool reads, bool writes) {
    return list.emplace_back(Access{buffer, reads, writes, 1, std::move(extents), {}, {}, type});
  }

  static std::vector<uint32_t> extentsOf(const ViewT &view) {
    std::vector<uint32_t> extents;
    for (const auto &dim : view.dims)
      extents.push_back(dim->extent);
    return extents;
  }

  const PlanT &plan;
  DataType type;
  std::vector<Access> list;
};
} // namespace

//===----------------------------------------------------------------------===//
// One function per operation
//===----------------------------------------------------------------------===//

static std::vector<Access> accesses(const PlanT &, const KernelCallT &call) {
  std::vector<Access> list;
  for (size_t i = 0; i < call.buffers.size(); ++i) {
    bool writes = i >= call.first_output;
    list.push_back({call.buffers[i], !writes, writes});
    if (!writes || i - call.first_output >= call.results.size())
      continue;
    const KernelResultT &result = *call.results[i - call.first_output];
    list.back().extents = {result.count};
    list.back().type = result.type;
  }
  return list;
}

static std::vector<Access> accesses(const PlanT &plan, const MatmulT &matmul) {
  AccessList list(plan, matmul.type);
  auto extentsOf = [&](const std::vector<uint16_t> &dims) {
    std::vector<uint32_t> extents;
    for (uint16_t dim : dims)
      extents.push_back(matmul.extents[dim]);
    return extents;
  };
  list.read(matmul.a, extentsOf(matmul.a_dims));
  list.read(matmul.b, extentsOf(matmul.b_dims));
  if (matmul.bias != kNoBuffer)
    list.read(matmul.bias, extentsOf(matmul.bias_dims));
  list.write(matmul.c, extentsOf(matmul.c_dims)).reads = matmul.accumulate;
  return list.take();
}

static std::vector<Access> accesses(const PlanT &plan, const CopyT &copy) {
  AccessList list(plan, copy.type);
  list.read(*copy.source);
  list.write(*copy.target, copy.accumulate);
  return list.take();
}

static std::vector<Access> accesses(const PlanT &plan, const FillT &fill) {
  AccessList list(plan, fill.type);
  list.write(fill.buffer, {fill.count});
  return list.take();
}

/// Multiplies the access by an argument of a library call that is an int, or one int per spatial dim. An int that no
/// buffer could fit gives a count that none has.
static void multiply(Access &access, const std::vector<int64_t> &ints) {
  for (int64_t value : ints)
    if (value < 0 || __builtin_mul_overflow(access.count, value, &access.count))
      access.count = kMaxElements;
}

static std::vector<Access> accesses(const PlanT &, const LibraryCallT &call) {
  const LibrarySignature &signature = signatureOf(call.function);
  const LibraryArguments arguments(call);
  std::vector<Access> list;
  for (size_t i = 0; i < call.buffers.size(); ++i) {
    const LibraryBuffer &buffer = signature.buffers[i];
    Access access{call.buffers[i], !buffer.isOutput, buffer.isOutput};
    for (ArgumentName dim : buffer.dims) {
      if (!arguments.isExtent(dim)) {
        multiply(access, arguments.ints(dim));
        continue;
      }
      const std::vector<uint32_t> ids = arguments.extents(dim);
      access.extents.insert(access.extents.end(), ids.begin(), ids.end());
    }
    if (!buffer.divisor.empty())
      access.divisor = arguments.extents(buffer.divisor).front();
    access.type = buffer.holdsIndices ? DataType::I64 : call.type;
    list.push_back(std::move(access));
  }
  return list;
}

/// Adds the two accesses of one segment.
static void addSegment(AccessList &list, const CollectiveT &collective, const SegmentT &segment) {
  const PieceFactor piece{segment.whole, collective.axis}, scatterPiece{segment.scatter_whole, collective.axis};
  switch (collective.kind) {
  case CollectiveKind::AllGather:
    list.read(segment.input, {segment.outer, segment.inner}).piece = piece;
    list.write(segment.output, {segment.outer, segment.whole, segment.inner});
    return;
  case CollectiveKind::ReduceScatter:
    list.read(segment.input, {segment.outer, segment.whole, segment.inner});
    list.write(segment.output, {segment.outer, segment.inner}).piece = piece;
    return;
  case CollectiveKind::AllReduce:
    list.read(segment.input, {segment.whole});
    list.write(segment.output, {segment.whole});
    return;
  case CollectiveKind::AllToAll:
    list.read(segment.input, {segment.outer, segment.middle, segment.scatter_whole, segment.inner}).piece = piece;
    list.write(segment.output, {segment.outer, segment.whole, segment.middle, segment.inner}).piece = scatterPiece;
    return;
  }
}

static std::vector<Access> accesses(const PlanT &plan, const CollectiveT &collective) {
  AccessList list(plan, collective.type);
  for (const auto &segment : collective.segments)
    addSegment(list, collective, *segment);
  return list.take();
}

static std::vector<Access> accesses(const PlanT &plan, const TakeShardT &shard) {
  AccessList list(plan, shard.type);
  list.read(shard.input, {shard.outer, shard.whole, shard.inner});
  list.write(shard.output, {shard.outer, shard.inner}).piece = PieceFactor{shard.whole, shard.axis};
  return list.take();
}

static std::vector<Access> accesses(const PlanT &plan, const ToPartialT &partial) {
  AccessList list(plan, partial.type);
  list.read(partial.input, {partial.count});
  list.write(partial.output, {partial.count});
  return list.take();
}

static std::vector<Access> accesses(const PlanT &plan, const RemapT &remap) {
  AccessList list(plan, remap.type);
  list.setTensor(list.read(remap.input, {}), layoutOf(plan, *remap.from), remap.shape);
  list.setTensor(list.write(remap.output, {}), layoutOf(plan, *remap.to), remap.shape);
  return list.take();
}

//===----------------------------------------------------------------------===//
// Any operation
//===----------------------------------------------------------------------===//

std::vector<Access> ds::plan::accessesOf(const PlanT &plan, const InstructionT &instruction) {
  const OperationUnion &operation = instruction.operation;
  switch (operation.type) {
  case Operation::KernelCall:
    return accesses(plan, *operation.AsKernelCall());
  case Operation::Matmul:
    return accesses(plan, *operation.AsMatmul());
  case Operation::Copy:
    return accesses(plan, *operation.AsCopy());
  case Operation::Fill:
    return accesses(plan, *operation.AsFill());
  case Operation::LibraryCall:
    return accesses(plan, *operation.AsLibraryCall());
  case Operation::Collective:
    return accesses(plan, *operation.AsCollective());
  case Operation::TakeShard:
    return accesses(plan, *operation.AsTakeShard());
  case Operation::ToPartial:
    return accesses(plan, *operation.AsToPartial());
  case Operation::Remap:
    return accesses(plan, *operation.AsRemap());
  case Operation::LoopBegin:
  case Operation::LoopEnd:
  case Operation::NONE:
    return {};
  }
  return {};
}

std::vector<uint32_t> ds::plan::extentsOf(const CollectiveT &collective, const SegmentT &segment) {
  switch (collective.kind) {
  case CollectiveKind::AllGather:
  case CollectiveKind::ReduceScatter:
    return {segment.outer, segment.whole, segment.inner};
  case CollectiveKind::AllReduce:
    return {segment.whole};
  case CollectiveKind::AllToAll:
    return {segment.outer, segment.whole, segment.middle, segment.scatter_whole, segment.inner};
  }
  return {};
}

bool ds::plan::worksInPlace(const InstructionT &instruction) {
  const auto *collective = operationAs<CollectiveT>(instruction);
  return instruction.operation.type == Operation::KernelCall || instruction.operation.type == Operation::ToPartial ||
         (collective && collective->kind == CollectiveKind::AllReduce);
}
