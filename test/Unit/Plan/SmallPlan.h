// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// A small plan that passes check(), and the pieces to change it with.

#ifndef DS_TEST_UNIT_PLAN_SMALLPLAN_H
#define DS_TEST_UNIT_PLAN_SMALLPLAN_H

#include "ds/Plan/Extents.h"

#include <utility>

namespace ds::plan {

/// Builds a plan instruction by instruction; `order` follows the order of the calls.
class TestPlan {
public:
  explicit TestPlan(std::vector<ds::MeshAxis> axes) { plan.mesh = toPlanMesh(Mesh(std::move(axes))); }

  /// A file that variables may have their values in.
  void addModelFile(const std::string &path, uint64_t bytes) {
    auto table = std::make_unique<ModelFileT>();
    table->path = path;
    table->bytes = bytes;
    table->hash = "0123456789abcdef0123456789abcdef";
    plan.model_files.push_back(std::move(table));
  }

  uint8_t arena(uint64_t bytes) {
    auto table = std::make_unique<ArenaT>();
    table->name = "device";
    table->bytes = bytes;
    plan.arenas.push_back(std::move(table));
    return static_cast<uint8_t>(plan.arenas.size() - 1);
  }

  uint32_t buffer(std::string name, uint64_t offset, uint64_t bytes, std::pair<uint32_t, uint32_t> live) {
    auto table = std::make_unique<BufferT>();
    table->name = std::move(name);
    table->offset = offset;
    table->bytes = bytes;
    table->first = live.first;
    table->last = live.second;
    plan.buffers.push_back(std::move(table));
    return static_cast<uint32_t>(plan.buffers.size() - 1);
  }

  uint32_t extent(const ExtentT &value) { return ExtentTable(plan).idOf(value); }

  size_t queue(std::string name, QueueKind kind = QueueKind::Compute) {
    auto table = std::make_unique<QueueT>();
    table->name = std::move(name);
    table->kind = kind;
    plan.queues.push_back(std::move(table));
    return plan.queues.size() - 1;
  }

  /// Appends `operation` to a queue.
  template <typename OperationT>
  InstructionT &add(size_t queue, OperationT operation, std::vector<uint32_t> waits = {},
                    std::vector<uint32_t> signals = {}) {
    auto table = std::make_unique<InstructionT>();
    table->operation.Set(std::move(operation));
    table->waits = std::move(waits);
    table->signals = std::move(signals);
    table->order = nextOrder++;
    table->name = "op" + std::to_string(table->order);
    plan.queues[queue]->instructions.push_back(std::move(table));
    return *plan.queues[queue]->instructions.back();
  }

  FillT fill(uint32_t buffer, uint32_t count) {
    FillT fill;
    fill.buffer = buffer;
    fill.count = count;
    return fill;
  }

  /// One segment [1, whole, 1].
  CollectiveT collective(CollectiveKind kind, uint16_t axis, std::pair<uint32_t, uint32_t> buffers, uint32_t whole) {
    CollectiveT collective;
    collective.kind = kind;
    collective.axis = axis;
    auto segment = std::make_unique<SegmentT>();
    segment->input = buffers.first;
    segment->output = buffers.second;
    segment->whole = whole;
    segment->outer = segment->middle = segment->scatter_whole = segment->inner = extent(constantExtent(1));
    collective.segments.push_back(std::move(segment));
    return collective;
  }

  ToPartialT toPartial(uint32_t input, uint32_t output, uint32_t count) {
    ToPartialT operation;
    operation.input = input;
    operation.output = output;
    operation.count = count;
    return operation;
  }

  PlanT plan;

private:
  uint32_t nextOrder = 0;
};

/// Two queues on a mesh <dp = 2>: a shard of 10 elements is filled and gathered, and the whole is copied.
/// Buffers 0: shard, 1: whole, 2: result; extents 0: shard, 1: 10, 2: 1.
inline TestPlan smallPlan() {
  TestPlan builder({{"dp", 2, {}}});
  builder.arena(1024);
  uint32_t shard = builder.buffer("shard", 0, 256, {0, 1});
  uint32_t whole = builder.buffer("whole", 256, 256, {1, 2});
  uint32_t result = builder.buffer("result", 512, 256, {2, 2});
  ds::Layout split = ds::Layout::replicated(1);
  split.dims[0][0].axes = {"dp"};
  uint32_t part = builder.extent(dimExtent(split, {10}, 0, meshOf(builder.plan)));
  uint32_t ten = builder.extent(constantExtent(10));
  size_t compute = builder.queue("compute"), network = builder.queue("dp", QueueKind::Collective);
  builder.plan.events = 2;
  builder.add(compute, builder.fill(shard, part), {}, {0});
  builder.add(network, builder.collective(CollectiveKind::AllGather, 0, {shard, whole}, ten), {0}, {1});
  builder.add(compute, builder.toPartial(whole, result, ten), {1});
  return builder;
}

} // namespace ds::plan

#endif // DS_TEST_UNIT_PLAN_SMALLPLAN_H
