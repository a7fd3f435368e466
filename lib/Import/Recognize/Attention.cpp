// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// Attention: two contractions around a softmax.
//
// 1. The contraction of probabilities and values is the root; its left side is a softmax over the columns.
// 2. From the softmax down: masks, then scales, then the contraction of queries and keys.
// 3. A constant mask that hides exactly what comes later is `causal`; another one, or one of the inputs, is the bias.
//    `causal` hides by minus infinity. A finite mask does not where the bias hides all that a row sees, so that the
//    two are no attention together.
// 4. Operands are brought into the order [B, H, S, D]; repeated key heads are taken back.

#include "Match.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/SmallPtrSet.h"

#include <cmath>

using namespace mlir;
using namespace ds;
using namespace ds::recognize;

/// Scores that a mask lowers by so much have probability 0.
static constexpr double kHidden = -1e4;

namespace {
/// What stands between a softmax and the contraction under it.
struct Scores {
  MatmulOp product;
  double scale = 1;
  bool isCausal = false;
  bool futureIsFinite = false; ///< the causal mask is by a finite number
  Value bias;                  ///< of the scores' rank, or broadcast to them
};
} // namespace

//===----------------------------------------------------------------------===//
// Masks
//===----------------------------------------------------------------------===//

/// Whether a value, and all that it is computed from, is free of variables: the gradient of a bias is not computed.
static bool isFreeOfVariables(Value value) {
  SmallVector<Value> pending = {value};
  llvm::SmallPtrSet<Operation *, 16> seen;
  while (!pending.empty()) {
    Operation *op = pending.pop_back_val().getDefiningOp();
    if (!op || !seen.insert(op).second)
      continue;
    if (isa<ReadOp>(op) || seen.size() > 64)
      return false;
    llvm::append_range(pending, op->getOperands());
  }
  return true;
}

/// The constant under a broadcast over rows and columns of the scores, if there is one.
static DenseElementsAttr findConstantMask(Value mask) {
  Value source = findColumns(mask, static_cast<int64_t>(shapeOfValue(mask).size()) - 2);
  DenseElementsAttr constant;
  if (source && matchPattern(source, m_Constant(&constant)))
    return constant;
  return {};
}

/// Whether `isHidden(element)` holds exactly where column t > row s + T - S.
template <typename T, typename Predicate> static bool hidesTheFuture(DenseElementsAttr mask, Predicate isHidden) {
  int64_t rows = mask.getType().getShape()[0], columns = mask.getType().getShape()[1], at = 0;
  if (columns < rows)
    return false;
  for (const T &element : mask.getValues<T>()) {
    int64_t row = at / columns, column = at % columns;
    ++at;
    if (isHidden(element) != (column > row + columns - rows))
      return false;
  }
  return true;
}

/// Whether a bias may be so low that it hides: all but a constant that is seen not to be.
static bool mayHide(Value bias) {
  DenseElementsAttr constant = findElements(bias);
  return !constant || !constant.getElementType().isF32() ||
         llvm::any_of(constant.getValues<float>(), [](float number) { return !(number > kHidden / 2); });
}

/// Takes in a mask that is added. False if it cannot be said.
static bool addMask(Scores &scores, Value mask) {
  if (findSplat(mask) == 0.0)
    return true;
  bool isPure = true, isFinite = false;
  auto isHidden = [&](float number) {
    bool hides = number <= kHidden;
    isPure &= hides || number == 0;
    isFinite |= hides && std::isfinite(number);
    return hides;
  };
  DenseElementsAttr constant = findConstantMask(mask);
  if (constant && constant.getElementType().isF32() && hidesTheFuture<float>(constant, isHidden) && isPure) {
    scores.isCausal = true;
    scores.futureIsFinite |= isFinite;
    return true;
  }
  if (scores.bias || !isFreeOfVariables(mask))
    return false;
  scores.bias = mask;
  return true;
}

/// Takes in a mask that selects between scores and a number that hides. Only a causal one.
static bool selectMask(Scores &scores, Value condition, bool hidesIfTrue, Value hidden) {
  std::optional<double> number = findSplat(hidden);
  DenseElementsAttr constant = findConstantMask(condition);
  if (!number || *number > kHidden || !constant)
    return false;
  if (!hidesTheFuture<bool>(constant, [&](bool isTrue) { return isTrue == hidesIfTrue; }))
    return false;
  scores.isCausal = true;
  scores.futureIsFinite |= std::isfinite(*number);
  return true;
}

//===----------------------------------------------------------------------===//
// From the softmax down
//===----------------------------------------------------------------------===//

/// Whether a contraction lies under masks and scales.
static bool leadsToProduct(Value value, unsigned depth = 0) {
  Operation *op = value.getDefiningOp();
  if (!op || depth > 6)
    return false;
  if (isa<MatmulOp>(op))
    return true;
  if (!isa<arith::AddFOp, arith::MulFOp, arith::DivFOp, arith::SelectOp>(op))
    return false;
  return llvm::any_of(op->getOperands(), [&](Value operand) { return leadsToProduct(operand, depth + 1); });
}

/// Splits a mask off the top; gives what it masks, or null.
static Value takeMask(Scores &scores, Value value) {
  if (auto sum = value.getDefiningOp<arith::AddFOp>()) {
    bool isLeft = leadsToProduct(sum.getLhs());
    Value rest = isLeft ? sum.getLhs() : sum.getRhs();
    return addMask(scores, isLeft ? sum.getRhs() : sum.getLhs()) ? rest : Value();
  }
  if (auto choice = value.getDefiningOp<arith::SelectOp>()) {
    bool hidesIfTrue = findSplat(choice.getTrueValue()).has_value();
    Value rest = hidesIfTrue ? choice.getFalseValue() : choice.getTrueValue();
    Value hidden = hidesIfTrue ? choice.getTrueValue() : choice.getFalseValue();
    return selectMask(scores, choice.getCondition(), hidesIfTrue, hidden) ? rest : Value();
  }
  return {};
}

static std::optional<Scores> findScores(Value value) {
  Scores scores;
  while (value && value.getDefiningOp() && isa<arith::AddFOp, arith::SelectOp>(value.getDefiningOp()))
    value = takeMask(scores, value);
  if (!value || (scores.futureIsFinite && scores.bias && mayHide(scores.bias)))
    return std::nullopt;
  Product product = findProduct(value, 1);
  if (product.values.size() != 1)
    return std::nullopt;
  scores.scale = product.factor;
  scores.product = product.values[0].getDefiningOp<MatmulOp>();
  if (!scores.product)
    return std::nullopt;
  return scores;
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// Takes a constant factor off an operand of the scores.
static void takeScale(Value &value, double &scale) {
  Product product = findProduct(value, 1);
  if (product.values.size() != 1 || product.values[0] == value)
    return;
  value = product.values[0];
  scale *= product.factor;
}

static Value createReshape(PatternRewriter &rewriter, Value value, ArrayRef<int64_t> shape) {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getShape() == shape)
    return value;
  return ReshapeOp::create(rewriter, value.getLoc(), RankedTensorType::get(shape, type.getElementType()), value);
}

/// The operand with its letters in the wanted order; a letter that it lacks becomes a dim of size 1.
static Value arrange(PatternRewriter &rewriter, Value value, StringRef letters, StringRef wanted) {
  SmallVector<int64_t> permutation, permuted, full;
  for (char letter : wanted) {
    size_t dim = letters.find(letter);
    full.push_back(dim == StringRef::npos ? 1 : shapeOfValue(value)[dim]);
    if (dim == StringRef::npos)
      continue;
    permutation.push_back(static_cast<int64_t>(dim));
    permuted.push_back(full.back());
  }
  if (!llvm::is_sorted(permutation)) {
    auto type = RankedTensorType::get(permuted, getElementTypeOrSelf(value));
    value = TransposeOp::create(rewriter, value.getLoc(), type, value, permutation);
  }
  return createReshape(rewriter, value, full);
}

/// If [B, H, T, D] repeats each of K heads H / K times, the [B, K, T, D] before.
static Value findUnrepeated(PatternRewriter &rewriter, Value value) {
  auto joined = value.getDefiningOp<ReshapeOp>();
  auto broadcast = joined ? joined.getInput().getDefiningOp<BroadcastOp>() : BroadcastOp();
  if (!broadcast || broadcast.getType().getRank() != 5 || shapeOfValue(value).size() != 4)
    return {};
  ArrayRef<int64_t> five = broadcast.getType().getShape(), four = shapeOfValue(value);
  if (four[0] != five[0] || four[1] != five[1] * five[2] || four[2] != five[3] || four[3] != five[4])
    return {};
  for (int64_t dim : {0, 1, 3, 4})
    if (!llvm::is_contained(broadcast.getDims(), dim) && five[dim] != 1)
      return {};
  if (llvm::is_contained(broadcast.getDims(), 2))
    return {};
  return createReshape(rewriter, broadcast.getInput(), {five[0], five[1], five[3], five[4]});
}

/// The bias as [B or 1, H or 1, S or 1, T].
static Value arrangeBias(PatternRewriter &rewriter, Value bias) {
  auto broadcast = bias.getDefiningOp<BroadcastOp>();
  if (!broadcast)
    return bias;
  ArrayRef<int64_t> full = broadcast.getType().getShape();
  SmallVector<int64_t> shape(full.size(), 1);
  for (int64_t dim : broadcast.getDims())
    shape[dim] = full[dim];
  if (shape.back() != full.back())
    return bias;
  return createReshape(rewriter, broadcast.getInput(), shape);
}

//===----------------------------------------------------------------------===//
// The pattern
//===----------------------------------------------------------------------===//

namespace {
/// One side of a contraction.
struct Side {
  Value value;
  StringRef letters;
};

/// The letters of queries, keys and values, and where they are.
struct Parts {
  Side query, key, value;
  std::string queryOrder, keyOrder, valueOrder;
};
} // namespace

/// The one letter of `a` and `b` that is not in `result`; 0 if there is none or another.
static char contracted(StringRef a, StringRef b, StringRef result) {
  char found = 0;
  for (char letter : a)
    if (b.contains(letter) && !result.contains(letter)) {
      if (found)
        return 0;
      found = letter;
    }
  return found;
}

/// Names the dims of the contraction under the softmax: result [b, h, s, t], query over s, key over t.
static bool findQueryAndKey(MatmulOp product, Parts &parts) {
  StringRef result = product.getResultIndices();
  Side left{product.getLhs(), product.getLhsIndices()}, right{product.getRhs(), product.getRhsIndices()};
  char depth = contracted(left.letters, right.letters, result);
  if (result.size() != 4 || !depth)
    return false;
  bool isSwapped = right.letters.contains(result[2]);
  parts.query = isSwapped ? right : left;
  parts.key = isSwapped ? left : right;
  bool fits = parts.query.letters.size() == 4 && parts.query.letters.contains(result[0]) &&
              parts.query.letters.contains(result[1]) && parts.key.letters.contains(result[0]) &&
              parts.key.letters.contains(result[3]) && !parts.key.letters.contains(result[2]) &&
              !parts.query.letters.contains(result[3]);
  parts.queryOrder = {result[0], result[1], result[2], depth};
  parts.keyOrder = {result[0], result[1], result[3], depth};
  return fits;
}

/// Names the dims of the contraction over the softmax: probabilities [b, h, s, t], values over t.
static bool findValue(MatmulOp root, bool softmaxIsLeft, Parts &parts) {
  StringRef probabilities = softmaxIsLeft ? root.getLhsIndices() : root.getRhsIndices(),
            result = root.getResultIndices();
  parts.value = softmaxIsLeft ? Side{root.getRhs(), root.getRhsIndices()} : Side{root.getLhs(), root.getLhsIndices()};
  char column = contracted(probabilities, parts.value.letters, result);
  if (probabilities.size() != 4 || result.size() != 4 || column != probabilities[3] ||
      !parts.value.letters.contains(probabilities[0]) || parts.value.letters.contains(probabilities[2]))
    return false;
  char width = 0;
  for (char letter : parts.value.letters)
    width = probabilities.contains(letter) ? width : letter;
  parts.valueOrder = {probabilities[0], probabilities[1], column, width};
  return width != 0;
}

namespace {
struct RecognizeAttention : OpRewritePattern<MatmulOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(MatmulOp op, PatternRewriter &rewriter) const override {
    auto left = op.getLhs().getDefiningOp<SoftmaxOp>(), right = op.getRhs().getDefiningOp<SoftmaxOp>();
    SoftmaxOp softmax = left ? left : right;
    if (!softmax || softmax.getDim() != 3 || softmax.getType().getRank() != 4 || !softmax->hasOneUse())
      return rewriter.notifyMatchFailure(op, "has no softmax over columns");
    std::optional<Scores> scores = findScores(softmax.getInput());
    Parts parts;
    if (!scores || !findQueryAndKey(scores->product, parts) || !findValue(op, softmax == left, parts))
      return rewriter.notifyMatchFailure(op, "has no scores of queries and keys");
    takeScale(parts.query.value, scores->scale);
    takeScale(parts.key.value, scores->scale);
    rewrite(op, *scores, parts, rewriter);
    return success();
  }

private:
  static void rewrite(MatmulOp op, const Scores &scores, const Parts &parts, PatternRewriter &rewriter) {
    Value query = arrange(rewriter, parts.query.value, parts.query.letters, parts.queryOrder);
    Value key = arrange(rewriter, parts.key.value, parts.key.letters, parts.keyOrder);
    Value value = arrange(rewriter, parts.value.value, parts.value.letters, parts.valueOrder);
    Value fewKeys = findUnrepeated(rewriter, key), fewValues = findUnrepeated(rewriter, value);
    if (fewKeys && fewValues && shapeOfValue(fewKeys)[1] == shapeOfValue(fewValues)[1]) {
      key = fewKeys;
      value = fewValues;
    } else {
      key = repeatHeads(rewriter, key, shapeOfValue(value)[1]);
      value = repeatHeads(rewriter, value, shapeOfValue(key)[1]);
    }
    Value bias = scores.bias ? arrangeBias(rewriter, scores.bias) : Value();
    SmallVector<int64_t> shape(shapeOfValue(query));
    shape.back() = shapeOfValue(value).back();
    auto type = RankedTensorType::get(shape, op.getType().getElementType());
    Value result = AttentionOp::create(rewriter, op.getLoc(), type, query, key, value, bias,
                                       rewriter.getF64FloatAttr(scores.scale),
                                       scores.isCausal ? rewriter.getUnitAttr() : UnitAttr());
    std::string order = parts.valueOrder;
    order[2] = probabilityRow(op, parts);
    rewriter.replaceOp(op, arrange(rewriter, result, order, op.getResultIndices()));
  }

  /// A single head repeated to as many as the other operand has.
  static Value repeatHeads(PatternRewriter &rewriter, Value value, int64_t heads) {
    SmallVector<int64_t> shape(shapeOfValue(value));
    if (shape[1] != 1 || heads == 1)
      return value;
    Type element = getElementTypeOrSelf(value);
    value = createReshape(rewriter, value, {shape[0], shape[2], shape[3]});
    shape[1] = heads;
    const int64_t dims[] = {0, 2, 3};
    return BroadcastOp::create(rewriter, value.getLoc(), RankedTensorType::get(shape, element), value, dims);
  }

  /// The letter of the rows in the root's indices.
  static char probabilityRow(MatmulOp op, const Parts &parts) {
    for (char letter : op.getResultIndices())
      if (!StringRef(parts.valueOrder).contains(letter))
        return letter;
    return 0;
  }
};
} // namespace

void recognize::addAttentionPatterns(RewritePatternSet &patterns) {
  patterns.add<RecognizeAttention>(patterns.getContext());
}
