// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "StepBuilder.h"
#include "StepFunction.h"

#include "ds/Dialect/Refusal.h"
#include "ds/Passes/LabelMean.h"
#include "ds/Passes/Passes.h"

#include "llvm/ADT/BitVector.h"

namespace ds {
#define GEN_PASS_DEF_ATTACHLOSSPASS
#include "ds/Passes/Passes.h.inc"
} // namespace ds

using namespace mlir;
using namespace ds;

/// The value of the result `name`; an error with the names there are.
static FailureOr<Value> findOutput(func::FuncOp function, StringRef name) {
  if (std::optional<unsigned> number = findResult(function, name))
    return returnOf(function).getOperand(*number);
  InFlightDiagnostic diagnostic = refuse(function, Refusal::BadInput)
                                  << "has no output \"" << name << "\" for the loss, got ";
  SmallVector<StringRef> names;
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (auto other = function.getResultAttrOfType<StringAttr>(i, kNameAttr))
      names.push_back(other.getValue());
  llvm::interleaveComma(names, diagnostic, [&](StringRef other) { diagnostic << '"' << other << '"'; });
  return diagnostic;
}

/// The argument `name` of integers of `shape`, added if there is none.
static FailureOr<Value> findLabels(func::FuncOp function, StringRef name, ArrayRef<int64_t> shape) {
  auto expected = RankedTensorType::get(shape, IntegerType::get(function.getContext(), 64));
  std::optional<unsigned> number = findArgument(function, name);
  if (!number)
    return appendArgument(function, expected, name);
  Value labels = function.getArgument(*number);
  auto type = dyn_cast<RankedTensorType>(labels.getType());
  if (!type || !type.getElementType().isSignlessInteger() || type.getShape() != shape)
    return refuse(function, Refusal::BadInput)
           << "labels \"" << name << "\" must be integers of the shape of " << expected << ", got " << labels.getType();
  return labels;
}

/// Labels moved one position to the left, so that position i holds label i + 1; the last position does not count. This
/// keeps the logits whole, where slicing would copy them.
static Value shiftLabels(StepBuilder &build, Value labels, int64_t ignoreIndex) {
  RankedTensorType type = tensorTypeOf(labels);
  const int64_t dim = type.getRank() - 1, size = type.getDimSize(dim);
  SmallVector<int64_t> columnShape(type.getShape());
  columnShape[dim] = std::min<int64_t>(size, 1);
  Value last = build.splat(type.clone(columnShape), ignoreIndex);
  return build.concat({build.slice(labels, dim, columnShape[dim], size - columnShape[dim]), last}, dim);
}

namespace {

struct AttachLoss : ds::impl::AttachLossPassBase<AttachLoss> {
  using AttachLossPassBase::AttachLossPassBase;

  void runOnOperation() override {
    FailureOr<func::FuncOp> function = findFunction(getOperation(), kForwardFunction);
    if (failed(function))
      return signalPassFailure();
    FailureOr<Value> loss = logits.empty() ? takeLoss(*function) : attachCrossEntropy(*function);
    if (failed(loss))
      return signalPassFailure();
    dropResults(*function, llvm::BitVector(function->getNumResults(), true));
    Builder builder(&getContext());
    auto named = [&](StringRef name) { return builder.getNamedAttr(kNameAttr, builder.getStringAttr(name)); };
    SmallVector<NamedResult> results = {{*loss, named("loss")}};
    if (labelCount)
      results.push_back({labelCount, named(kLabelCountName)});
    appendResults(*function, results);
    eraseDeadOps(*function);
  }

private:
  /// The output of the graph as a scalar.
  FailureOr<Value> takeLoss(func::FuncOp function) {
    FailureOr<Value> loss = findOutput(function, output);
    if (failed(loss))
      return failure();
    RankedTensorType type = tensorTypeOf(*loss);
    if (!isa<FloatType>(type.getElementType()) || type.getNumElements() != 1)
      return refuse(function, Refusal::BadInput)
             << "output \"" << output << "\" must be one float to be a loss, got " << type;
    OpBuilder builder(endOfComputation(function));
    StepBuilder build(builder, loss->getLoc());
    if (std::optional<LabelMean> mean = findLabelMean(*loss))
      return meanOf(build, *mean);
    if (countsLabels)
      return refuse(function, Refusal::BadInput)
             << "output \"" << output << "\" must be a mean cross entropy to be averaged over labels";
    return build.reshape(*loss, {});
  }

  /// The mean over the labels that count, or their sum; then `labelCount` is set.
  Value meanOf(StepBuilder &build, LabelMean mean) {
    if (!countsLabels)
      return build.div(mean.sum, build.value<arith::MaximumFOp>(mean.count, build.splat(mean.count.getType(), 1)));
    labelCount = mean.count;
    return mean.sum;
  }

  /// The mean cross entropy over the labels that count.
  FailureOr<Value> attachCrossEntropy(func::FuncOp function) {
    FailureOr<Value> scores = findOutput(function, logits);
    if (failed(scores))
      return failure();
    RankedTensorType type = tensorTypeOf(*scores);
    const int64_t minimalRank = shift ? 3 : 2;
    if (!isa<FloatType>(type.getElementType()) || type.getRank() < minimalRank)
      return refuse(function, Refusal::BadInput)
             << "logits \"" << logits << "\" must be floats with " << minimalRank << " dims or more, got " << type;
    FailureOr<Value> targets = findLabels(function, labels, type.getShape().drop_back());
    if (failed(targets))
      return failure();
    OpBuilder builder(endOfComputation(function));
    StepBuilder build(builder, scores->getLoc());
    return crossEntropy(build, *scores, shift ? shiftLabels(build, *targets, ignoreIndex) : *targets);
  }

  /// Of the labels that count.
  Value crossEntropy(StepBuilder &build, Value scores, Value targets) {
    RankedTensorType type = tensorTypeOf(targets);
    RankedTensorType rows = type.clone(tensorTypeOf(scores).getElementType());
    Value each =
        build.widen(build.value<CrossEntropyOp>(rows, scores, targets, static_cast<uint64_t>(ignoreIndex.getValue())));
    Value counts = build.value<arith::CmpIOp>(arith::CmpIPredicate::ne, targets, build.splat(type, ignoreIndex));
    Value ones = build.keepWhere(counts, build.splat(each.getType(), 1));
    SmallVector<int64_t> all = dimRange(0, type.getRank());
    return meanOf(build, {build.reduce(each, all), build.reduce(ones, all)});
  }

  Value labelCount; ///< scalar; null if the loss is a mean
};

} // namespace
