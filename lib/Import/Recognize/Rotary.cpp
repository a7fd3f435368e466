// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// Rotary embedding, with x1 and x2 for the halves of x: x cos + concat(-x2, x1) sin, or
// concat(x1 cos - x2 sin, x2 cos + x1 sin). The tables are constants or values that repeat along any of the leading
// dims.

#include "Match.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace ds;
using namespace ds::recognize;

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

namespace {
/// A cosine or sine: a constant or another value, whose dims before its columns are `dims` of the input.
struct Table {
  DenseElementsAttr constant;
  Value value; ///< if it is no constant
  SmallVector<int64_t> dims;

  explicit operator bool() const { return constant || value; }
};
} // namespace

/// What `value` repeats, columns and all; none if it has no columns.
static Table findTable(Value value) {
  int64_t last = static_cast<int64_t>(shapeOfValue(value).size()) - 1;
  Table table;
  if (auto broadcast = value.getDefiningOp<BroadcastOp>()) {
    ArrayRef<int64_t> dims = broadcast.getDims();
    if (dims.empty() || dims.back() != last)
      return {};
    table.dims.assign(dims.begin(), dims.end() - 1);
    value = broadcast.getInput();
  } else {
    llvm::append_range(table.dims, llvm::seq<int64_t>(0, last));
  }
  if (!matchPattern(value, m_Constant(&table.constant))) {
    table.value = value;
  } else if (table.constant.isSplat()) { // one row says all
    auto row = RankedTensorType::get(shapeOfValue(value).back(), table.constant.getElementType());
    table.constant = table.constant.resizeSplat(row);
    table.dims.clear();
  }
  return table;
}

/// Whether it has two inputs, side by side in the last dim.
static bool joinsColumns(ConcatOp concat) {
  return concat.getInputs().size() == 2 && static_cast<int64_t>(concat.getDim()) == concat.getType().getRank() - 1;
}

/// The left columns of a constant, if the right ones are equal to them.
static DenseElementsAttr findHalf(DenseElementsAttr table) {
  SmallVector<int64_t> shape(table.getType().getShape());
  int64_t width = shape.back(), half = shape.back() = width / 2;
  auto type = RankedTensorType::get(shape, table.getElementType());
  if (table.isSplat())
    return table.resizeSplat(type);
  SmallVector<APFloat> numbers(table.getValues<APFloat>()), left;
  for (size_t row = 0; row < numbers.size(); row += width)
    for (size_t place = row; place < row + half; ++place) {
      if (!numbers[place].bitwiseIsEqual(numbers[place + half]))
        return {};
      left.push_back(numbers[place]);
    }
  return DenseElementsAttr::get(type, left);
}

/// The table of the left columns, if the right ones are equal to them.
static Table findHalf(const Table &table) {
  Table half = {{}, {}, table.dims};
  if (table.constant) {
    half.constant = findHalf(table.constant);
    return half;
  }
  auto concat = table.value.getDefiningOp<ConcatOp>();
  if (concat && joinsColumns(concat) && concat.getInputs()[0] == concat.getInputs()[1])
    half.value = concat.getInputs()[0];
  return half;
}

static LogicalResult replaceByRotary(Operation *op, Value x, const Table &cosine, const Table &sine,
                                     PatternRewriter &rewriter) {
  if (!cosine || !sine || cosine.dims != sine.dims)
    return rewriter.notifyMatchFailure(op, "cosine and sine are no tables of the same dims");
  auto materialize = [&](const Table &table) -> Value {
    return table.constant ? arith::ConstantOp::create(rewriter, op->getLoc(), table.constant) : table.value;
  };
  int64_t last = static_cast<int64_t>(shapeOfValue(x).size()) - 1,
          first = last - static_cast<int64_t>(sine.dims.size());
  DenseI64ArrayAttr dims;
  if (!llvm::equal(sine.dims, llvm::seq(first, last)))
    dims = rewriter.getDenseI64ArrayAttr(sine.dims);
  Value cosines = materialize(cosine), sines = materialize(sine);
  rewriter.replaceOpWithNewOp<RotaryEmbeddingOp>(op, x.getType(), x, cosines, sines, dims);
  return success();
}

//===----------------------------------------------------------------------===//
// Whole rows
//===----------------------------------------------------------------------===//

/// Whether `value` is half number `half` of x's last dim.
static bool isHalf(Value value, Value x, int64_t half) {
  auto slice = value.getDefiningOp<SliceOp>();
  if (!slice || slice.getInput() != x || slice.getType().getShape().back() * 2 != shapeOfValue(x).back())
    return false;
  return slice.getOffsets().back() == half * slice.getType().getShape().back() &&
         slice.getType().getShape().drop_back() == shapeOfValue(x).drop_back() &&
         llvm::all_of(slice.getStrides(), [](int64_t stride) { return stride == 1; });
}

/// Whether `value` is concat(-x2, x1).
static bool isTurned(Value value, Value x) {
  auto concat = value.getDefiningOp<ConcatOp>();
  if (!concat || !joinsColumns(concat))
    return false;
  auto negative = concat.getInputs()[0].getDefiningOp<arith::NegFOp>();
  return negative && isHalf(negative.getOperand(), x, 1) && isHalf(concat.getInputs()[1], x, 0);
}

namespace {
/// x cos + concat(-x2, x1) sin.
struct RecognizeRotary : OpRewritePattern<arith::AddFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::AddFOp op, PatternRewriter &rewriter) const override {
    for (auto [first, second] : {std::pair(op.getLhs(), op.getRhs()), std::pair(op.getRhs(), op.getLhs())}) {
      auto straight = first.getDefiningOp<arith::MulFOp>(), crossed = second.getDefiningOp<arith::MulFOp>();
      if (straight && crossed && isa<RankedTensorType>(op.getType()) &&
          succeeded(rewrite(op, straight, crossed, rewriter)))
        return success();
    }
    return rewriter.notifyMatchFailure(op, "is no rotary embedding");
  }

private:
  static LogicalResult rewrite(arith::AddFOp op, arith::MulFOp straight, arith::MulFOp crossed,
                               PatternRewriter &rewriter) {
    for (unsigned i : {0u, 1u})
      for (unsigned j : {0u, 1u}) {
        Value x = straight.getOperand(i);
        if (!isTurned(crossed.getOperand(j), x))
          continue;
        Table cosine = findTable(straight.getOperand(1 - i)), sine = findTable(crossed.getOperand(1 - j));
        if (!cosine || !sine)
          continue;
        Table halfCosine = findHalf(cosine), halfSine = findHalf(sine);
        if (halfCosine && halfSine)
          return replaceByRotary(op, x, halfCosine, halfSine, rewriter);
        return replaceByRotary(op, x, cosine, sine, rewriter);
      }
    return failure();
  }
};

//===----------------------------------------------------------------------===//
// Halves
//===----------------------------------------------------------------------===//

/// concat(x1 cos - x2 sin, x2 cos + x1 sin).
struct RecognizeRotaryOfHalves : OpRewritePattern<ConcatOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ConcatOp op, PatternRewriter &rewriter) const override {
    if (!joinsColumns(op))
      return rewriter.notifyMatchFailure(op, "does not join two halves");
    auto difference = op.getInputs()[0].getDefiningOp<arith::SubFOp>();
    auto sum = op.getInputs()[1].getDefiningOp<arith::AddFOp>();
    auto straight = difference ? difference.getLhs().getDefiningOp<arith::MulFOp>() : arith::MulFOp();
    if (!sum || !straight)
      return rewriter.notifyMatchFailure(op, "is no rotary embedding");
    for (Value half : straight->getOperands())
      if (auto slice = half.getDefiningOp<SliceOp>(); slice && slice.getInput().getType() == op.getType())
        if (succeeded(rewrite(op, slice.getInput(), difference, sum, rewriter)))
          return success();
    return rewriter.notifyMatchFailure(op, "is no rotary embedding");
  }

private:
  /// What `value` multiplies half number `half` of x with, if it does.
  static Value findFactor(Value value, Value x, int64_t half) {
    auto product = value.getDefiningOp<arith::MulFOp>();
    for (unsigned i : {0u, 1u})
      if (product && isHalf(product.getOperand(i), x, half))
        return product.getOperand(1 - i);
    return {};
  }

  static LogicalResult rewrite(ConcatOp op, Value x, arith::SubFOp difference, arith::AddFOp sum,
                               PatternRewriter &rewriter) {
    Value cosine = findFactor(difference.getLhs(), x, 0), sine = findFactor(difference.getRhs(), x, 1);
    if (!cosine || !sine)
      return failure();
    for (auto [straight, crossed] : {std::pair(sum.getLhs(), sum.getRhs()), std::pair(sum.getRhs(), sum.getLhs())})
      if (findFactor(straight, x, 1) == cosine && findFactor(crossed, x, 0) == sine)
        return replaceByRotary(op, x, findTable(cosine), findTable(sine), rewriter);
    return failure();
  }
};
} // namespace

void recognize::addRotaryPatterns(RewritePatternSet &patterns) {
  patterns.add<RecognizeRotary, RecognizeRotaryOfHalves>(patterns.getContext());
}
