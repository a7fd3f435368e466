// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Plans written by hand, for tests.

#ifndef DS_TEST_UNIT_RUNTIME_PLANPROGRAM_H
#define DS_TEST_UNIT_RUNTIME_PLANPROGRAM_H

#include "ds/Plan/Extents.h"
#include "ds/Runtime/Device/Float16.h"
#include "ds/Runtime/Executor.h"

#include "gtest/gtest.h"

#include <cmath>
#include <cstring>
#include <random>

namespace ds::runtime::test {

/// The element type of a plan for a C++ type.
template <typename T> constexpr plan::DataType kType = plan::DataType::F32;
template <> inline constexpr plan::DataType kType<double> = plan::DataType::F64;
template <> inline constexpr plan::DataType kType<BFloat16> = plan::DataType::BF16;
template <> inline constexpr plan::DataType kType<Float16> = plan::DataType::F16;
template <> inline constexpr plan::DataType kType<int64_t> = plan::DataType::I64;
template <> inline constexpr plan::DataType kType<int32_t> = plan::DataType::I32;
template <> inline constexpr plan::DataType kType<uint8_t> = plan::DataType::Bool;

/// A plan under construction, then an executor of it.
class PlanProgram {
public:
  PlanProgram() {
    plan.arenas.push_back(std::make_unique<plan::ArenaT>());
    plan.arenas[0]->name = "device";
    addQueue("compute", plan::QueueKind::Compute);
  }

  uint32_t addAxis(const std::string &name, uint32_t size) {
    plan.mesh.push_back(std::make_unique<plan::MeshAxisT>());
    plan.mesh.back()->name = name;
    plan.mesh.back()->size = size;
    return static_cast<uint32_t>(plan.mesh.size() - 1);
  }

  uint32_t addQueue(const std::string &name, plan::QueueKind kind) {
    plan.queues.push_back(std::make_unique<plan::QueueT>());
    plan.queues.back()->name = name;
    plan.queues.back()->kind = kind;
    return static_cast<uint32_t>(plan.queues.size() - 1);
  }

  uint32_t extent(int64_t size) {
    plan.extents.push_back(std::make_unique<plan::ExtentT>(plan::constantExtent(size)));
    return static_cast<uint32_t>(plan.extents.size() - 1);
  }
  /// The extent of [0, size) split over an axis.
  uint32_t splitExtent(int64_t size, uint16_t axis) {
    auto factor = std::make_unique<plan::FactorT>();
    factor->size = size;
    factor->axes = {axis};
    plan.extents.push_back(std::make_unique<plan::ExtentT>());
    plan.extents.back()->factors.push_back(std::move(factor));
    return static_cast<uint32_t>(plan.extents.size() - 1);
  }
  std::vector<uint32_t> extents(const std::vector<int64_t> &sizes) {
    std::vector<uint32_t> ids;
    for (int64_t size : sizes)
      ids.push_back(extent(size));
    return ids;
  }

  /// A buffer of `count` elements, with a gap behind it that must not change.
  template <typename T> uint32_t buffer(int64_t count) {
    auto table = std::make_unique<plan::BufferT>();
    table->name = "b" + std::to_string(plan.buffers.size());
    table->offset = plan.arenas[0]->bytes;
    table->bytes = static_cast<uint64_t>(count) * sizeof(T);
    plan.arenas[0]->bytes = (table->offset + table->bytes + 511) / 256 * 256;
    plan.buffers.push_back(std::move(table));
    return static_cast<uint32_t>(plan.buffers.size() - 1);
  }
  /// A buffer that will hold `values` before the first step.
  template <typename T> uint32_t buffer(const std::vector<T> &values) {
    const uint32_t id = buffer<T>(static_cast<int64_t>(values.size()));
    initial.emplace_back(id, std::vector<char>(values.size() * sizeof(T)));
    if (!values.empty())
      std::memcpy(initial.back().second.data(), values.data(), values.size() * sizeof(T));
    return id;
  }

  template <typename Operation>
  void add(Operation operation, const std::string &name = "", uint32_t queue = 0, std::vector<uint32_t> waits = {},
           std::vector<uint32_t> signals = {}) {
    auto instruction = std::make_unique<plan::InstructionT>();
    instruction->operation.Set(std::move(operation));
    instruction->name = name;
    instruction->order = order++;
    for (uint32_t event : signals)
      plan.events = std::max(plan.events, event + 1);
    instruction->waits = std::move(waits);
    instruction->signals = std::move(signals);
    plan.queues[queue]->instructions.push_back(std::move(instruction));
  }

  absl::Status start(ExecutorOptions options = {}, int64_t rank = 0, Transport *given = nullptr) {
    if (!given) {
      own = createSingleRankTransport();
      given = own.get();
    }
    absl::StatusOr<std::unique_ptr<Executor>> created = Executor::create(plan, rank, *given, options);
    if (!created.ok())
      return created.status();
    executor = *std::move(created);
    for (const auto &[id, bytes] : initial)
      if (!bytes.empty())
        std::memcpy(executor->buffer(id).data, bytes.data(), bytes.size());
    return absl::OkStatus();
  }
  /// Starts, if need be, and runs a step.
  absl::Status run(int threads = 1) {
    if (!executor) {
      ExecutorOptions options;
      options.threads = threads;
      if (absl::Status status = start(options); !status.ok())
        return status;
    }
    return executor->runStep();
  }

  template <typename T> std::vector<T> read(uint32_t id) const {
    const BufferView view = executor->buffer(id);
    std::vector<T> values(view.bytes / sizeof(T));
    if (!values.empty())
      std::memcpy(values.data(), view.data, values.size() * sizeof(T));
    return values;
  }

  plan::PlanT plan;
  std::unique_ptr<Executor> executor;

private:
  uint32_t order = 0;
  std::vector<std::pair<uint32_t, std::vector<char>>> initial;
  std::unique_ptr<Transport> own;
};

/// Normally distributed numbers.
inline std::vector<float> randomFloats(int64_t count, uint32_t seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(static_cast<size_t>(count));
  for (float &value : values)
    value = normal(generator);
  return values;
}

inline std::vector<int64_t> randomIndices(int64_t count, int64_t low, int64_t high, uint32_t seed) {
  std::mt19937 generator(seed);
  std::vector<int64_t> values(static_cast<size_t>(count));
  for (int64_t &value : values)
    value = low + static_cast<int64_t>(generator() % static_cast<uint64_t>(high - low));
  return values;
}

} // namespace ds::runtime::test

#endif // DS_TEST_UNIT_RUNTIME_PLANPROGRAM_H
