// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// Losses over labels.

#include "Registry.h"

using namespace mlir;
using namespace ds;
using namespace ds::onnx_import;

/// Scores [N, C, d..] with the classes last: [N, d.., C].
static Tensor classesLast(TensorBuilder &build, const Tensor &scores) {
  Dims permutation = {0};
  llvm::append_range(permutation, llvm::seq<int64_t>(2, scores.rank()));
  permutation.push_back(1);
  return build.transpose(scores, permutation);
}

static LogicalResult expectLabels(NodeContext &context) {
  const Tensor &scores = context.input(0);
  if (failed(context.expectFloat(0)) || failed(context.expectRank(0, 2, 8)) || failed(context.expectInteger(1)))
    return failure();
  Dims expected = {scores.shape()[0]};
  llvm::append_range(expected, scores.shape().drop_front(2));
  if (context.input(1).shape() != DimsRef(expected))
    return context.malformed("must have labels of shape " + textOf(expected) + ", got " +
                             textOf(context.input(1).shape()));
  if (!context.hasInput(2))
    return success();
  if (failed(context.expectSameElement(0, 2)))
    return failure();
  if (context.input(2).shape() != DimsRef({scores.shape()[1]}))
    return context.malformed("must have a weight per class, of shape [" + Twine(scores.shape()[1]) + "], got " +
                             textOf(context.input(2).shape()));
  return success();
}

namespace {
/// The labels of a loss, and how much each of them counts.
struct Labels {
  Tensor isIgnored; ///< null if no label is ignored
  Tensor safe;      ///< a class everywhere: 0 where the label is ignored
  Tensor weight;    ///< of its class, 0 where it is ignored; null if all that are not ignored count alike
};
} // namespace

static Labels readLabels(NodeContext &context, int64_t ignored) {
  TensorBuilder &build = context.build;
  const Tensor &labels = context.input(1);
  Labels result;
  result.safe = labels;
  if (ignored != kIgnoresNothing) {
    HostTensor ignoredLabel = makeSplat(labels.element(), {}, 0);
    ignoredLabel.data[0] = wrapTo(labels.element(), ignored);
    result.isIgnored = build.compare(Comparison::Equal, labels, ignoredLabel);
    result.safe = build.select(result.isIgnored, build.scalar(labels, 0), labels);
  }
  if (!context.hasInput(2))
    return result;
  result.weight = build.gather(context.input(2), result.safe, 0);
  if (result.isIgnored)
    result.weight = build.select(result.isIgnored, build.scalar(result.weight, 0), result.weight);
  return result;
}

/// Losses of the labels, weighed, by `reduction`: as they are, summed, or averaged by the weights that count.
static LogicalResult finishLoss(NodeContext &context, Tensor losses, const Labels &labels) {
  TensorBuilder &build = context.build;
  if (labels.weight)
    losses = build.binary(Binary::Mul, losses, labels.weight);
  std::string reduction = context.stringAttribute("reduction", "mean");
  if (reduction == "none")
    return context.finish(losses);
  Dims all = dimRange(0, losses.rank());
  Tensor sum = build.reduce(Fold::Sum, losses, all);
  if (reduction == "sum")
    return context.finish(sum);
  if (reduction != "mean")
    return context.malformed("must have reduction none, sum or mean, got '" + reduction + "'");
  Tensor total = build.scalar(sum, static_cast<double>(losses.count()));
  if (labels.weight)
    total = build.reduce(Fold::Sum, labels.weight, all);
  else if (labels.isIgnored)
    total = build.reduce(Fold::Sum, build.cast(build.unary(Unary::Not, labels.isIgnored), losses.element()), all);
  return context.finish(build.binary(Binary::Div, sum, total));
}

static LogicalResult importSoftmaxCrossEntropy(NodeContext &context) {
  if (failed(expectLabels(context)))
    return failure();
  TensorBuilder &build = context.build;
  int64_t ignored = context.intAttribute("ignore_index", kIgnoresNothing);
  const Tensor &labels = context.input(1);
  Tensor logits = classesLast(build, context.input(0));
  Tensor losses = build.emit<CrossEntropyOp>(build.type(logits.element(), labels.shape()), build.materialize(logits),
                                             build.materialize(labels), ignored);
  if (failed(finishLoss(context, losses, readLabels(context, ignored))))
    return failure();
  if (context.isOutputUsed(1)) {
    Value scores = build.materialize(context.input(0));
    context.outputs.push_back(build.emit<LogSoftmaxOp>(scores.getType(), scores, int64_t(1)));
  }
  return success();
}

/// Minus the score at the label; a label that is ignored gives 0.
static LogicalResult importNegativeLogLikelihood(NodeContext &context) {
  if (failed(expectLabels(context)))
    return failure();
  TensorBuilder &build = context.build;
  Labels labels = readLabels(context, context.intAttribute("ignore_index", kIgnoresNothing));
  Tensor scores = classesLast(build, context.input(0));
  Dims column(labels.safe.shape());
  column.push_back(1);
  Tensor ids = build.reshape(build.cast(labels.safe, Element::I64), column);
  Tensor picked = build.emit<GatherElementsOp>(build.type(scores.element(), column), build.materialize(scores),
                                               build.materialize(ids), scores.rank() - 1);
  Tensor losses = build.unary(Unary::Neg, build.reshape(picked, labels.safe.shape()));
  if (labels.isIgnored)
    losses = build.select(labels.isIgnored, build.scalar(losses, 0), losses);
  return finishLoss(context, losses, labels);
}

void ds::onnx_import::addLossOps(Registry &registry) {
  registry.add("SoftmaxCrossEntropyLoss", 12, 2, 3, importSoftmaxCrossEntropy);
  registry.add("NegativeLogLikelihoodLoss", 12, 2, 3, importNegativeLogLikelihood);
}
