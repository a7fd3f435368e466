// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// A plan that a compiler could have made for a very small "training": no kernels, but an input split over the ranks, a
/// loss reduced over them, a parameter kept in flat shards, gathered and updated.

#ifndef DS_TEST_UNIT_RUNTIME_TINYTRAINING_H
#define DS_TEST_UNIT_RUNTIME_TINYTRAINING_H

#include "../Plan/SmallPlan.h"

#include <cstring>

namespace ds::plan {

inline constexpr int64_t kTinySamples = 7, kTinyWidth = 4;
inline const ds::Shape kTinyWeight = {6, 5};

/// The initial value of element i of "weight".
inline float tinyWeight(int64_t i) { return 0.5f * static_cast<float>(i) - 3.0f; }

namespace tiny {

inline std::vector<uint8_t> floatBytes(const std::vector<float> &values) {
  std::vector<uint8_t> bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

inline void addPort(std::vector<std::unique_ptr<PortT>> &ports, const PlanT &plan, const std::string &name,
                    const ds::Shape &shape, const ds::Layout &layout, uint32_t buffer) {
  auto port = std::make_unique<PortT>();
  port->name = name;
  port->type = DataType::F32;
  port->shape = shape;
  port->layout = toPlanLayout(layout, shape, meshOf(plan));
  port->buffer = buffer;
  ports.push_back(std::move(port));
}

inline void addVariable(PlanT &plan, const std::string &name, VariableRole role, uint32_t buffer,
                        const std::vector<float> &values) {
  ds::Layout layout = ds::Layout::replicated(2);
  layout.flat = {"dp"};
  auto variable = std::make_unique<VariableT>();
  variable->name = name;
  variable->role = role;
  variable->type = DataType::F32;
  variable->shape = kTinyWeight;
  variable->layout = toPlanLayout(layout, kTinyWeight, meshOf(plan));
  variable->buffer = buffer;
  variable->inline_data = floatBytes(values);
  variable->trainable = role == VariableRole::Parameter;
  plan.variables.push_back(std::move(variable));
}

/// target = source, or target += source, over dense tensors of these extents.
inline CopyT copyOf(uint32_t source, uint32_t target, const std::vector<uint32_t> &extents, bool accumulate = false) {
  CopyT copy;
  copy.extents = extents;
  copy.accumulate = accumulate;
  for (auto [view, buffer] : {std::make_pair(&copy.source, source), std::make_pair(&copy.target, target)}) {
    *view = std::make_unique<ViewT>();
    (*view)->buffer = buffer;
    for (size_t i = 0; i < extents.size(); ++i) {
      auto dim = std::make_unique<ViewDimT>();
      dim->loop = static_cast<int16_t>(i);
      dim->extent = extents[i];
      (*view)->dims.push_back(std::move(dim));
    }
  }
  return copy;
}

/// The sum of the squares of a dense [rows, columns].
inline MatmulT sumOfSquares(uint32_t input, uint32_t output, uint32_t rows, uint32_t columns) {
  MatmulT matmul;
  matmul.a = matmul.b = input;
  matmul.c = output;
  matmul.extents = {rows, columns};
  matmul.a_dims = matmul.b_dims = {0, 1};
  return matmul;
}

} // namespace tiny

/// Each step: loss = the sum of the squares of x; grad_norm = the learning rate; y = x; weight += increment (all 0.25).
/// With `repeats` the step does the loss that many times.
inline PlanT tinyTraining(int64_t ranks, uint32_t repeats = 0) {
  TestPlan builder({{"dp", ranks, {}}});
  PlanT &plan = builder.plan;
  const ds::Mesh mesh = meshOf(plan);
  const uint32_t last = repeats ? 10 : 5;
  builder.arena(8 * 256);
  uint32_t ids[8];
  const char *names[] = {"x", "ds.learning_rate", "loss", "grad_norm", "weight", "increment", "whole weight", "y"};
  for (uint32_t i = 0; i < 8; ++i)
    ids[i] = builder.buffer(names[i], i * 256, 256, {0, last});
  const auto [x, rate, loss, norm, weight, increment, whole, y] = ids;

  ds::Layout rows = ds::Layout::replicated(2), flat = rows;
  rows.dims[0][0].axes = {"dp"};
  flat.flat = {"dp"};
  const ds::Shape inputShape = {kTinySamples, kTinyWidth};
  const uint32_t ownRows = builder.extent(dimExtent(rows, inputShape, 0, mesh));
  const uint32_t width = builder.extent(constantExtent(kTinyWidth));
  const uint32_t one = builder.extent(constantExtent(1));
  const uint32_t shard = builder.extent(elementsExtent(flat, kTinyWeight, mesh));
  const uint32_t all = builder.extent(constantExtent(kTinyWeight[0] * kTinyWeight[1]));

  const size_t compute = builder.queue("compute"), network = builder.queue("dp", QueueKind::Collective);
  const auto loop = [&](auto operation) {
    for (const size_t queue : {compute, network})
      if (repeats)
        builder.add(queue, operation);
  };
  plan.events = 3;
  LoopBeginT begin;
  begin.count = repeats;
  loop(begin);
  builder.add(compute, tiny::sumOfSquares(x, loss, ownRows, width), {}, {0}).name = "squares";
  builder.add(network, builder.collective(CollectiveKind::AllReduce, 0, {loss, loss}, one), {0}, {1}).name =
      "sum of losses";
  loop(LoopEndT());
  builder.add(network, builder.collective(CollectiveKind::AllGather, 0, {weight, whole}, all), {}, {2}).name =
      "gather weight";
  builder.add(compute, tiny::copyOf(rate, norm, {one}));
  builder.add(compute, tiny::copyOf(increment, weight, {shard}, true), {2}).name = "update";
  builder.add(compute, tiny::copyOf(x, y, {ownRows, width}));

  std::vector<float> weights, quarters(kTinyWeight[0] * kTinyWeight[1], 0.25f);
  for (size_t i = 0; i < quarters.size(); ++i)
    weights.push_back(tinyWeight(static_cast<int64_t>(i)));
  tiny::addVariable(plan, "weight", VariableRole::Parameter, weight, weights);
  tiny::addVariable(plan, "increment", VariableRole::OptimizerState, increment, quarters);
  tiny::addPort(plan.inputs, plan, "x", inputShape, rows, x);
  tiny::addPort(plan.inputs, plan, "ds.learning_rate", {}, ds::Layout::replicated(0), rate);
  tiny::addPort(plan.outputs, plan, "loss", {}, ds::Layout::replicated(0), loss);
  tiny::addPort(plan.outputs, plan, "grad_norm", {}, ds::Layout::replicated(0), norm);
  tiny::addPort(plan.outputs, plan, "y", inputShape, rows, y);
  plan.samples_per_step = kTinySamples;
  plan.config = R"({"train_batch_size": 7, "optimizer": {"type": "SGD", "params": {"lr": 0.5}}})";
  return std::move(builder.plan);
}

} // namespace ds::plan

#endif // DS_TEST_UNIT_RUNTIME_TINYTRAINING_H
