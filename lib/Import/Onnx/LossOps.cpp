// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// Losses over labels.

#include "Registry.h"

using namespace mlir;
using namespace ds;
using namespace ds::onnx_import;

/// No label has this value, so nothing is ignored.

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
  if (context.hasInput(2))
    return context.unsupported("weighs its classes");
  Dims expected = {scores.shape()[0]};
  llvm::append_range(expected, scores.shape().drop_front(2));
  if (context.input(1).shape() != DimsRef(expected))
    return context.malformed("must have labels of shape " + textOf(expected) + ", got " +
                             textOf(context.input(1).shape()));
  return success();
}

/// Losses of the labels by `reduction`: as they are, summed, or averaged over the labels that count.
static LogicalResult finishLoss(NodeContext &context, const Tensor &losses, int64_t ignored) {
  TensorBuilder &build = context.build;
  std::string reduction = context.stringAttribute("reduction", "mean");
  if (reduction == "none")
    return context.finish(losses);
  Dims all = dimRange(0, losses.rank());
  Tensor sum = build.reduce(Fold::Sum, losses, all);
  if (reduction == "sum")
    return context.finish(sum);
  if (reduction != "mean")
    return context.malformed("must have reduction none, sum or mean, got '" + reduction + "'");
  if (ignored == kIgnoresNothing)
    return context.finish(build.binary(Binary::Div, sum, build.scalar(sum, static_cast<double>(losses.count()))));
  const Tensor &labels = context.input(1);
  HostTensor ignoredLabel = makeSplat(labels.element(), {}, 0);
  ignoredLabel.data[0] = wrapTo(labels.element(), ignored);
  Tensor counts = build.unary(Unary::Not, build.compare(Comparison::Equal, labels, ignoredLabel));
  Tensor count = build.reduce(Fold::Sum, build.cast(counts, losses.element()), all);
  return context.finish(build.binary(Binary::Div, sum, count));
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
  if (failed(finishLoss(context, losses, ignored)))
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
  int64_t ignored = context.intAttribute("ignore_index", kIgnoresNothing);
  const Tensor &labels = context.input(1);
  HostTensor ignoredLabel = makeSplat(labels.element(), {}, 0);
  ignoredLabel.data[0] = wrapTo(labels.element(), ignored);
  Tensor isIgnored = build.compare(Comparison::Equal, labels, ignoredLabel);
  Tensor safe = build.select(isIgnored, build.scalar(labels, 0), labels);
  Tensor scores = classesLast(build, context.input(0));
  Dims column(labels.shape());
  column.push_back(1);
  Tensor ids = build.reshape(build.cast(safe, Element::I64), column);
  Tensor picked = build.emit<GatherElementsOp>(build.type(scores.element(), column), build.materialize(scores),
                                               build.materialize(ids), scores.rank() - 1);
  Tensor losses = build.unary(Unary::Neg, build.reshape(picked, labels.shape()));
  losses = build.select(isIgnored, build.scalar(losses, 0), losses);
  return finishLoss(context, losses, ignored);
}

void ds::onnx_import::addLossOps(Registry &registry) {
  registry.add("SoftmaxCrossEntropyLoss", 12, 2, 3, importSoftmaxCrossEntropy);
  registry.add("NegativeLogLikelihoodLoss", 12, 2, 3, importNegativeLogLikelihood);
}
