// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// LayerNorm and RMSNorm, spelt as means, roots and quotients.

#include "Match.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace ds;
using namespace ds::recognize;

namespace {
/// A mean over the last dims from `rank` on.
struct Mean {
  Value input;
  int64_t rank = 0;
};

/// (x - mean) / sqrt(variance + epsilon), or x / sqrt(mean(x^2) + epsilon), over the last dims from `rank` on.
struct Normalized {
  Value input;
  int64_t rank = 0;
  double epsilon = 0;
  bool isCentered = false;
};
} // namespace

/// Matches a mean, with or without dims of size 1 in place of the folded ones.
static std::optional<Mean> findMean(Value value) {
  Product product = findProduct(dropUnitReshapes(value), 1);
  if (product.values.size() != 1)
    return std::nullopt;
  Value inner = dropUnitReshapes(product.values[0]);
  auto sum = inner.getDefiningOp<ReduceOp>();
  if (!sum || sum.getKind() != Reduction::Sum)
    return std::nullopt;
  int64_t last = sum.getInput().getType().getRank(), rank = last - static_cast<int64_t>(sum.getDims().size());
  if (!llvm::equal(sum.getDims(), llvm::seq<int64_t>(rank, last)))
    return std::nullopt;
  int64_t count = 1;
  for (int64_t size : shapeOfValue(sum.getInput()).drop_front(rank))
    count *= size;
  if (!isClose(product.factor * static_cast<double>(count), 1))
    return std::nullopt;
  return Mean{sum.getInput(), rank};
}

/// Matches sqrt(mean(y^2) + epsilon); gives y as the mean's input.
static std::optional<Mean> findDeviation(Value value, double &epsilon) {
  auto sum = dropUnitReshapes(value).getDefiningOp<arith::AddFOp>();
  if (!sum)
    return std::nullopt;
  for (auto [mean, constant] : {std::pair(sum.getLhs(), sum.getRhs()), std::pair(sum.getRhs(), sum.getLhs())}) {
    std::optional<double> splat = findSplat(constant);
    std::optional<Mean> found = splat ? findMean(mean) : std::nullopt;
    auto square = found ? found->input.getDefiningOp<arith::MulFOp>() : arith::MulFOp();
    if (!square || square.getLhs() != square.getRhs())
      continue;
    epsilon = *splat;
    return Mean{square.getLhs(), found->rank};
  }
  return std::nullopt;
}

/// Matches the rows 1 / sqrt(..) and gives the argument of the root.
static Value findInverseRoot(Value rows) {
  rows = dropUnitReshapes(rows);
  if (auto root = rows.getDefiningOp<math::RsqrtOp>())
    return root.getOperand();
  auto quotient = rows.getDefiningOp<arith::DivFOp>();
  if (!quotient || findSplat(quotient.getLhs()) != 1.0)
    return {};
  auto root = dropUnitReshapes(quotient.getRhs()).getDefiningOp<math::SqrtOp>();
  return root ? root.getOperand() : Value();
}

/// `numerator` over the rows sqrt(argument), if the argument is the numerator's own mean square.
static std::optional<Normalized> findNormalized(Value numerator, Value argument) {
  Normalized result;
  std::optional<Mean> deviation = argument ? findDeviation(argument, result.epsilon) : std::nullopt;
  if (!deviation || deviation->input != numerator)
    return std::nullopt;
  result.input = numerator;
  result.rank = deviation->rank;
  auto difference = numerator.getDefiningOp<arith::SubFOp>();
  Value rows = difference ? findRows(difference.getRhs(), deviation->rank) : Value();
  std::optional<Mean> mean = rows ? findMean(rows) : std::nullopt;
  if (mean && mean->rank == deviation->rank && mean->input == difference.getLhs()) {
    result.input = difference.getLhs();
    result.isCentered = true;
  }
  return result;
}

static std::optional<Normalized> findNormalized(Value value) {
  int64_t rank = static_cast<int64_t>(shapeOfValue(value).size());
  auto rowsOf = [&](Value operand) {
    for (int64_t from = rank - 1; from >= 0; --from)
      if (Value rows = findRows(operand, from))
        return rows;
    return Value();
  };
  if (auto quotient = value.getDefiningOp<arith::DivFOp>()) {
    Value rows = rowsOf(quotient.getRhs());
    auto root = rows ? dropUnitReshapes(rows).getDefiningOp<math::SqrtOp>() : math::SqrtOp();
    return root ? findNormalized(quotient.getLhs(), root.getOperand()) : std::nullopt;
  }
  auto product = value.getDefiningOp<arith::MulFOp>();
  if (!product)
    return std::nullopt;
  for (auto [numerator, factor] :
       {std::pair(product.getLhs(), product.getRhs()), std::pair(product.getRhs(), product.getLhs())})
    if (Value rows = rowsOf(factor))
      if (std::optional<Normalized> result = findNormalized(numerator, findInverseRoot(rows)))
        return result;
  return std::nullopt;
}

namespace {
/// normalized(x) * scale.
struct RecognizeNorm : OpRewritePattern<arith::MulFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::MulFOp op, PatternRewriter &rewriter) const override {
    for (auto [value, factor] : {std::pair(op.getLhs(), op.getRhs()), std::pair(op.getRhs(), op.getLhs())}) {
      if (!isa<RankedTensorType>(value.getType()))
        return failure();
      std::optional<Normalized> normalized = findNormalized(value);
      Value scale = normalized ? findColumns(factor, normalized->rank) : Value();
      if (!scale)
        continue;
      auto epsilon = rewriter.getF64FloatAttr(normalized->epsilon);
      if (normalized->isCentered)
        rewriter.replaceOpWithNewOp<LayerNormOp>(op, op.getType(), normalized->input, scale, Value(), epsilon);
      else
        rewriter.replaceOpWithNewOp<RmsNormOp>(op, op.getType(), normalized->input, scale, epsilon);
      return success();
    }
    return rewriter.notifyMatchFailure(op, "is no norm times a scale");
  }
};

/// layer_norm(x, scale) + bias.
struct RecognizeNormBias : OpRewritePattern<arith::AddFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::AddFOp op, PatternRewriter &rewriter) const override {
    for (auto [value, addend] : {std::pair(op.getLhs(), op.getRhs()), std::pair(op.getRhs(), op.getLhs())}) {
      auto norm = value.getDefiningOp<LayerNormOp>();
      if (!norm || norm.getBias() || !norm->hasOneUse())
        continue;
      Value bias = findColumns(addend, norm.getType().getRank() - norm.getScale().getType().getRank());
      if (!bias)
        continue;
      rewriter.replaceOpWithNewOp<LayerNormOp>(op, op.getType(), norm.getInput(), norm.getScale(), bias,
                                               norm.getEpsilonAttr());
      return success();
    }
    return rewriter.notifyMatchFailure(op, "adds no bias to a norm");
  }
};
} // namespace

void recognize::addNormPatterns(RewritePatternSet &patterns) {
  patterns.add<RecognizeNorm, RecognizeNormBias>(patterns.getContext());
}
