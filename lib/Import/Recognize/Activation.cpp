// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// GELU by erf and by tanh, sigmoid, SiLU, and logarithms of sigmoids.

#include "Match.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>

using namespace mlir;
using namespace ds;
using namespace ds::recognize;

/// Matches 1 + y or y + 1; gives y.
static Value findOnePlus(Value value) {
  auto sum = value.getDefiningOp<arith::AddFOp>();
  if (!sum)
    return {};
  if (findSplat(sum.getRhs()) == 1.0)
    return sum.getLhs();
  return findSplat(sum.getLhs()) == 1.0 ? sum.getRhs() : Value();
}

/// Whether `value` is erf(x / sqrt 2).
static bool isErf(Value value, Value x) {
  auto erf = value.getDefiningOp<math::ErfOp>();
  if (!erf)
    return false;
  Product argument = findProduct(erf.getOperand(), 1, x);
  return argument.values.size() == 1 && argument.values[0] == x && isClose(argument.factor, std::sqrt(0.5));
}

/// Whether `value` is `factor` times x to the power of `count`.
static bool isPower(Value value, Value x, double factor, unsigned count) {
  Product product = findProduct(value, count, x);
  return product.values.size() == count && llvm::all_equal(product.values) && product.values[0] == x &&
         isClose(product.factor, factor);
}

/// Whether `value` is x + 0.044715 x^3.
static bool isCubic(Value value, Value x) {
  auto sum = value.getDefiningOp<arith::AddFOp>();
  if (!sum)
    return false;
  return (sum.getLhs() == x && isPower(sum.getRhs(), x, 0.044715, 3)) ||
         (sum.getRhs() == x && isPower(sum.getLhs(), x, 0.044715, 3));
}

/// Whether `value` is tanh(sqrt(2 / pi) (x + 0.044715 x^3)), the outer x in or out of the bracket.
static bool isTanh(Value value, Value x) {
  auto tanh = value.getDefiningOp<math::TanhOp>();
  if (!tanh)
    return false;
  Product argument = findProduct(tanh.getOperand(), 2, x);
  if (!isClose(argument.factor, std::sqrt(2 / M_PI)))
    return false;
  if (argument.values.size() == 1)
    return isCubic(argument.values[0], x);
  if (argument.values.size() != 2 || !llvm::is_contained(argument.values, x))
    return false;
  Value square = findOnePlus(argument.values[argument.values[0] == x ? 1 : 0]);
  return square && isPower(square, x, 0.044715, 2);
}

/// The values under `root` that stand behind products, quotients and sums, to a small depth: candidates for x.
static void addCandidates(Value root, unsigned depth, SmallVectorImpl<Value> &candidates) {
  candidates.push_back(root);
  Operation *op = root.getDefiningOp();
  if (!op || depth == 0 || !isa<arith::MulFOp, arith::DivFOp, arith::AddFOp>(op))
    return;
  for (Value operand : op->getOperands())
    addCandidates(operand, depth - 1, candidates);
}

namespace {
/// 0.5 x (1 + erf(..)) or 0.5 x (1 + tanh(..)), multiplied in any order.
struct RecognizeGelu : OpRewritePattern<arith::MulFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::MulFOp op, PatternRewriter &rewriter) const override {
    SmallVector<Value> factors;
    if (isa<RankedTensorType>(op.getType()))
      addCandidates(op, 3, factors);
    for (Value factor : factors) {
      Value inner = findOnePlus(factor);
      Operation *curve = inner ? inner.getDefiningOp() : nullptr;
      if (!curve || !isa<math::ErfOp, math::TanhOp>(curve))
        continue;
      SmallVector<Value> candidates;
      addCandidates(curve->getOperand(0), 3, candidates);
      for (Value x : candidates)
        if (succeeded(rewrite(op, x, factor, inner, rewriter)))
          return success();
    }
    return rewriter.notifyMatchFailure(op, "is no GELU");
  }

private:
  static LogicalResult rewrite(arith::MulFOp op, Value x, Value factor, Value inner, PatternRewriter &rewriter) {
    bool isErfKind = isErf(inner, x);
    if (!isErfKind && !isTanh(inner, x))
      return failure();
    Product product = findProduct(op, 4, {x, factor});
    if (product.values.size() != 2 || !isClose(product.factor, 0.5) || !llvm::is_contained(product.values, x) ||
        !llvm::is_contained(product.values, factor))
      return failure();
    rewriter.replaceOpWithNewOp<GeluOp>(op, op.getType(), x, isErfKind ? GeluKind::Erf : GeluKind::Tanh);
    return success();
  }
};

/// 1 / (1 + exp(-x)), whose own gradient overflows.
struct RecognizeSigmoid : OpRewritePattern<arith::DivFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::DivFOp op, PatternRewriter &rewriter) const override {
    if (!isa<RankedTensorType>(op.getType()) || findSplat(op.getLhs()) != 1.0)
      return failure();
    Value power = findOnePlus(op.getRhs());
    auto exp = power ? power.getDefiningOp<math::ExpOp>() : math::ExpOp();
    auto negative = exp ? exp.getOperand().getDefiningOp<arith::NegFOp>() : arith::NegFOp();
    if (!negative)
      return rewriter.notifyMatchFailure(op, "is no sigmoid");
    rewriter.replaceOpWithNewOp<SigmoidOp>(op, op.getType(), negative.getOperand());
    return success();
  }
};

/// x sigmoid(x).
struct RecognizeSilu : OpRewritePattern<arith::MulFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::MulFOp op, PatternRewriter &rewriter) const override {
    for (auto [x, factor] : {std::pair(op.getLhs(), op.getRhs()), std::pair(op.getRhs(), op.getLhs())}) {
      auto sigmoid = factor.getDefiningOp<SigmoidOp>();
      if (!sigmoid || sigmoid.getInput() != x)
        continue;
      rewriter.replaceOpWithNewOp<SiluOp>(op, op.getType(), x);
      return success();
    }
    return rewriter.notifyMatchFailure(op, "is no SiLU");
  }
};

/// log(sigmoid(x)) = -softplus(-x) and log(1 - sigmoid(x)) = -softplus(x): log-sigmoids and the binary cross entropies
/// of logits, as exporters spell them. The spelt ones are minus infinity where the sigmoid is 0 or 1 in f32, from 17
/// on.
struct RecognizeLogSigmoid : OpRewritePattern<math::LogOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::LogOp op, PatternRewriter &rewriter) const override {
    auto rest = op.getOperand().getDefiningOp<arith::SubFOp>();
    bool isOfRest = rest && findSplat(rest.getLhs()) == 1.0;
    auto sigmoid = (isOfRest ? rest.getRhs() : op.getOperand()).getDefiningOp<SigmoidOp>();
    if (!sigmoid)
      return rewriter.notifyMatchFailure(op, "is no logarithm of a sigmoid");
    Value x = sigmoid.getInput();
    if (!isOfRest)
      x = arith::NegFOp::create(rewriter, op.getLoc(), x);
    Value softplus = SoftplusOp::create(rewriter, op.getLoc(), op.getType(), x);
    rewriter.replaceOpWithNewOp<arith::NegFOp>(op, softplus);
    return success();
  }
};
} // namespace

void recognize::addActivationPatterns(RewritePatternSet &patterns) {
  patterns.add<RecognizeGelu, RecognizeSigmoid, RecognizeSilu, RecognizeLogSigmoid>(patterns.getContext());
}
