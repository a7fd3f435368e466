// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// Softmax and normalizations.

#include "Registry.h"

using namespace mlir;
using namespace ds;
using namespace ds::onnx_import;

template <typename OpT> static LogicalResult importSoftmax(NodeContext &context) {
  const Tensor &input = context.input(0);
  FailureOr<int64_t> dim = context.dimAttribute("axis", -1, input.rank());
  if (failed(dim) || failed(context.expectFloat(0)))
    return failure();
  Value value = context.build.materialize(input);
  return context.finish(context.build.emit<OpT>(value.getType(), value, *dim));
}

/// Before opset 13 the dims from `axis` on are one.
template <typename OpT> static LogicalResult importSoftmaxOfRest(NodeContext &context) {
  const Tensor &input = context.input(0);
  FailureOr<int64_t> axis = context.dimAttribute("axis", 1, input.rank());
  if (failed(axis) || failed(context.expectFloat(0)))
    return failure();
  TensorBuilder &build = context.build;
  const Dims rows = {*countOf(input.shape().take_front(*axis)), *countOf(input.shape().drop_front(*axis))};
  Value value = build.materialize(build.reshape(input, rows));
  return context.finish(build.reshape(build.emit<OpT>(value.getType(), value, 1), input.shape()));
}

/// The input, then those of the inputs `parameters` that are there, broadcast to the dims that are normalized: all from
/// `axis` on.
static FailureOr<SmallVector<Value>> normOperands(NodeContext &context, ArrayRef<unsigned> parameters) {
  const Tensor &input = context.input(0);
  FailureOr<int64_t> axis = context.dimAttribute("axis", -1, input.rank());
  if (failed(axis) || failed(context.expectFloat(0)))
    return failure();
  TensorBuilder &build = context.build;
  DimsRef normalized = input.shape().drop_front(*axis);
  SmallVector<Value> operands = {build.materialize(input)};
  for (unsigned i : parameters) {
    if (!context.hasInput(i))
      continue;
    std::optional<Dims> shape = broadcastShapes(context.input(i).shape(), normalized);
    if (failed(context.expectSameElement(0, i)))
      return failure();
    if (!shape || DimsRef(*shape) != normalized)
      return context.malformed("must have an input " + Twine(i) + " that broadcasts to " + textOf(normalized) +
                               ", got " + textOf(context.input(i).shape()));
    operands.push_back(build.materialize(build.broadcastTo(context.input(i), normalized)));
  }
  return operands;
}

static FloatAttr epsilonOf(NodeContext &context) {
  return context.build.ops().getF64FloatAttr(context.floatAttribute("epsilon", 1e-5f));
}

static LogicalResult importLayerNorm(NodeContext &context) {
  FailureOr<SmallVector<Value>> operands = normOperands(context, {1, 2});
  if (failed(operands))
    return failure();
  if (context.isOutputUsed(1) || context.isOutputUsed(2))
    return context.unsupported("gives its statistics away");
  const Value input = operands->front(), bias = operands->size() > 2 ? operands->back() : Value();
  return context.finish(
      context.build.emit<LayerNormOp>(input.getType(), input, (*operands)[1], bias, epsilonOf(context)));
}

static LogicalResult importRmsNorm(NodeContext &context) {
  FailureOr<SmallVector<Value>> operands = normOperands(context, {1});
  if (failed(operands))
    return failure();
  const Value input = operands->front();
  return context.finish(context.build.emit<RmsNormOp>(input.getType(), input, operands->back(), epsilonOf(context)));
}

//===----------------------------------------------------------------------===//
// Batch normalization
//===----------------------------------------------------------------------===//

namespace {
/// Statistics of the channels, [C].
struct Statistics {
  Tensor mean, variance;
};
} // namespace

/// [C] as [C, 1, ..], which broadcasts over an [N, C, spatial..] tensor.
static Tensor asChannels(TensorBuilder &build, const Tensor &tensor, int64_t rank) {
  Dims shape(std::max<int64_t>(rank - 1, 1), 1);
  shape[0] = tensor.shape()[0];
  return build.reshape(tensor, shape);
}

/// Mean and biased variance over the whole batch, in two passes.
static Statistics batchStatistics(TensorBuilder &build, const Tensor &input) {
  Dims dims;
  for (int64_t dim = 0; dim < input.rank(); ++dim)
    if (dim != 1)
      dims.push_back(dim);
  double count = static_cast<double>(input.count()) / static_cast<double>(input.shape()[1]);
  auto average = [&](const Tensor &values) {
    Tensor sum = build.reduce(Fold::Sum, values, dims);
    return build.binary(Binary::Div, sum, build.scalar(sum, count));
  };
  Statistics statistics;
  statistics.mean = average(input);
  Tensor centered = build.binary(Binary::Sub, input, asChannels(build, statistics.mean, input.rank()));
  statistics.variance = average(build.binary(Binary::Mul, centered, centered));
  return statistics;
}

static Tensor normalize(NodeContext &context, const Statistics &statistics) {
  TensorBuilder &build = context.build;
  const Tensor &input = context.input(0);
  int64_t rank = input.rank();
  Tensor centered = build.binary(Binary::Sub, input, asChannels(build, statistics.mean, rank));
  Tensor epsilon = build.scalar(statistics.variance, context.floatAttribute("epsilon", 1e-5f));
  Tensor deviation = build.unary(Unary::Sqrt, build.binary(Binary::Add, statistics.variance, epsilon));
  Tensor factor = build.binary(Binary::Div, context.input(1), deviation);
  Tensor scaled = build.binary(Binary::Mul, centered, asChannels(build, factor, rank));
  return build.binary(Binary::Add, scaled, asChannels(build, context.input(2), rank));
}

/// running * momentum + batch * (1 - momentum), assigned to the running statistic if that is a variable.
static Tensor updateRunning(NodeContext &context, unsigned i, const Tensor &batch) {
  TensorBuilder &build = context.build;
  double momentum = context.floatAttribute("momentum", 0.9f);
  const Tensor &running = context.input(i);
  Tensor kept = build.binary(Binary::Mul, running, build.scalar(running, momentum));
  Tensor updated = build.binary(Binary::Add, kept, build.binary(Binary::Mul, batch, build.scalar(batch, 1 - momentum)));
  if (running.getWeight())
    context.state.assign(*running.getWeight(), updated);
  return updated;
}

/// Inputs 1 to 4 are one number per channel.
static LogicalResult expectChannels(NodeContext &context) {
  const Tensor &input = context.input(0);
  if (failed(context.expectRank(0, 2, 8)) || failed(context.expectFloat(0)))
    return failure();
  for (unsigned i = 1; i < 5; ++i) {
    if (failed(context.expectSameElement(0, i)))
      return failure();
    if (context.input(i).shape() != DimsRef({input.shape()[1]}))
      return context.malformed("must have an input " + Twine(i) + " of shape [" + Twine(input.shape()[1]) + "], got " +
                               textOf(context.input(i).shape()));
  }
  return success();
}

/// Normalizes by the batch and updates the running statistics.
static LogicalResult trainBatchNorm(NodeContext &context) {
  const Tensor &input = context.input(0);
  if (input.count() == 0)
    return context.malformed("must have a batch to normalize, got shape " + textOf(input.shape()));
  Statistics statistics = batchStatistics(context.build, input);
  context.outputs = {normalize(context, statistics), updateRunning(context, 3, statistics.mean),
                     updateRunning(context, 4, statistics.variance)};
  return success();
}

static LogicalResult importBatchNorm(NodeContext &context) {
  if (failed(expectChannels(context)))
    return failure();
  if (context.intAttribute("training_mode", 0) != 0)
    return trainBatchNorm(context);
  if (context.isOutputUsed(1) || context.isOutputUsed(2))
    return context.malformed("must have one output unless in training mode");
  return context.finish(normalize(context, {context.input(3), context.input(4)}));
}

/// Before opset 14 the mode is told by the outputs alone: five of them train, the last two of which are the statistics
/// of the batch.
static LogicalResult importBatchNormByOutputs(NodeContext &context) {
  if (context.intAttribute("spatial", 1) == 0) // of opset 7
    return context.unsupported("normalizes each place of an image by itself");
  if (failed(expectChannels(context)))
    return failure();
  bool trains = llvm::any_of(llvm::drop_begin(context.node.output()), [](const auto &name) { return !name.empty(); });
  if (!trains)
    return context.finish(normalize(context, {context.input(3), context.input(4)}));
  if (failed(trainBatchNorm(context)))
    return failure();
  Statistics statistics = batchStatistics(context.build, context.input(0));
  context.outputs.insert(context.outputs.end(), {statistics.mean, statistics.variance});
  return success();
}

void ds::onnx_import::addNormOps(Registry &registry) {
  registry.add("Softmax", 1, 1, 1, importSoftmaxOfRest<SoftmaxOp>);
  registry.add("Softmax", 13, 1, 1, importSoftmax<SoftmaxOp>);
  registry.add("LogSoftmax", 1, 1, 1, importSoftmaxOfRest<LogSoftmaxOp>);
  registry.add("LogSoftmax", 13, 1, 1, importSoftmax<LogSoftmaxOp>);
  registry.add("LayerNormalization", 17, 2, 3, importLayerNorm);
  registry.add("RMSNormalization", 23, 2, 2, importRmsNorm);
  registry.add("BatchNormalization", 7, 5, 5, importBatchNormByOutputs);
  registry.add("BatchNormalization", 14, 5, 5, importBatchNorm);
}
