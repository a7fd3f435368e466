// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// Rotary embedding: x cos + concat(-x2, x1) sin, with tables whose halves are equal.

#include "Match.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace ds;
using namespace ds::recognize;

/// The left half of a constant table [S, D] over the last two dims, if the right half is equal to it.
static DenseElementsAttr findHalfTable(Value value) {
  int64_t rank = static_cast<int64_t>(shapeOfValue(value).size());
  Value source = rank == 2 ? value : rank > 2 ? findColumns(value, rank - 2) : Value();
  DenseElementsAttr table;
  if (!source || !matchPattern(source, m_Constant(&table)))
    return {};
  int64_t rows = table.getType().getShape()[0], width = table.getType().getShape()[1], half = width / 2;
  if (width % 2)
    return {};
  SmallVector<APFloat> numbers(table.getValues<APFloat>()), left;
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < half; ++column) {
      const APFloat &number = numbers[row * width + column];
      if (!number.bitwiseIsEqual(numbers[row * width + half + column]))
        return {};
      left.push_back(number);
    }
  return DenseElementsAttr::get(RankedTensorType::get({rows, half}, table.getElementType()), left);
}

/// Whether `value` is the half of x's last dim that starts at `offset`.
static bool isHalf(Value value, Value x, int64_t offset) {
  auto slice = value.getDefiningOp<SliceOp>();
  if (!slice || slice.getInput() != x || slice.getType().getShape().back() * 2 != shapeOfValue(x).back())
    return false;
  return slice.getOffsets().back() == offset && slice.getStrides().back() == 1 &&
         slice.getType().getShape().drop_back() == shapeOfValue(x).drop_back();
}

/// Whether `value` is concat(-x2, x1).
static bool isRotated(Value value, Value x) {
  auto concat = value.getDefiningOp<ConcatOp>();
  int64_t rank = static_cast<int64_t>(shapeOfValue(x).size());
  if (!concat || concat.getInputs().size() != 2 || static_cast<int64_t>(concat.getDim()) != rank - 1)
    return false;
  auto negative = concat.getInputs()[0].getDefiningOp<arith::NegFOp>();
  return negative && isHalf(negative.getOperand(), x, shapeOfValue(x).back() / 2) &&
         isHalf(concat.getInputs()[1], x, 0);
}

namespace {
struct RecognizeRotary : OpRewritePattern<arith::AddFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::AddFOp op, PatternRewriter &rewriter) const override {
    for (auto [first, second] : {std::pair(op.getLhs(), op.getRhs()), std::pair(op.getRhs(), op.getLhs())}) {
      auto straight = first.getDefiningOp<arith::MulFOp>(), crossed = second.getDefiningOp<arith::MulFOp>();
      if (straight && crossed && isa<RankedTensorType>(op.getType()) && rewrite(op, straight, crossed, rewriter))
        return success();
    }
    return rewriter.notifyMatchFailure(op, "is no rotary embedding");
  }

private:
  static bool rewrite(arith::AddFOp op, arith::MulFOp straight, arith::MulFOp crossed, PatternRewriter &rewriter) {
    for (unsigned i : {0u, 1u})
      for (unsigned j : {0u, 1u}) {
        Value x = straight.getOperand(i);
        if (shapeOfValue(x).size() < 2 || !isRotated(crossed.getOperand(j), x))
          continue;
        DenseElementsAttr cosine = findHalfTable(straight.getOperand(1 - i)),
                          sine = findHalfTable(crossed.getOperand(1 - j));
        if (!cosine || !sine)
          continue;
        Value cosines = arith::ConstantOp::create(rewriter, op.getLoc(), cosine);
        Value sines = arith::ConstantOp::create(rewriter, op.getLoc(), sine);
        rewriter.replaceOpWithNewOp<RotaryEmbeddingOp>(op, op.getType(), x, cosines, sines);
        return true;
      }
    return false;
  }
};
} // namespace

void recognize::addRotaryPatterns(RewritePatternSet &patterns) { patterns.add<RecognizeRotary>(patterns.getContext()); }
