// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "LibraryPatterns.h"

#include "ds/Dialect/IndexNotation.h"

using namespace mlir;
using namespace ds;

static void setNotation(Operation *op, const IndexNotation &notation) {
  op->setAttr("indices", StringAttr::get(op->getContext(), notation.str()));
}

/// A kernel of attention reads its rows as vectors: the last index stays last.
static bool keepsOrder(Operation *op, StringRef before, StringRef after) {
  return isa<MatmulOp, FusedMatmulOp>(op) || before.back() == after.back();
}

static SmallVector<int64_t> inverse(ArrayRef<int64_t> permutation) {
  SmallVector<int64_t> inverse(permutation.size());
  for (auto [place, dim] : llvm::enumerate(permutation))
    inverse[dim] = place;
  return inverse;
}

/// Whether `value` is, or joins dims of, a result of an attention, which can be written in another order.
static bool isAttentionResult(Value value) {
  if (auto join = value.getDefiningOp<ReshapeOp>())
    value = join.getInput();
  return isa_and_nonnull<FusedAttentionOp, FusedAttentionGradOp>(value.getDefiningOp());
}

namespace {

/// A transposed operand: its letters in the order of what is transposed.
template <typename OpT> struct FoldOperandTranspose : OpRewritePattern<OpT> {
  using OpRewritePattern<OpT>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpT op, PatternRewriter &rewriter) const override {
    IndexNotation notation = notationOf(op);
    for (unsigned number = 0; number < notation.operands.size(); ++number) {
      std::string &letters = notation.operands[number];
      auto transpose = op->getOperand(number).template getDefiningOp<TransposeOp>();
      if (!transpose)
        continue;
      std::string permuted(letters);
      for (auto [place, dim] : llvm::enumerate(transpose.getPermutation()))
        permuted[dim] = letters[place];
      if (!keepsOrder(op, letters, permuted))
        continue;
      letters = permuted;
      rewriter.modifyOpInPlace(op, [&] {
        op->setOperand(number, transpose.getInput());
        setNotation(op, notation);
      });
      return success();
    }
    return failure();
  }
};

/// Whether all users of `result` but `except` can read it in another order, of which `keepsLast` tells whether the last
/// dim stays last.
static bool othersTakeAnyOrder(Value result, Operation *except, bool keepsLast) {
  return llvm::all_of(result.getUsers(), [&](Operation *user) {
    return user == except || (takesAnyOrder(user) && (keepsLast || isa<MatmulOp, FusedMatmulOp>(user)));
  });
}

/// A transpose of a result whose other users take any order: the result is written in its order.
struct FoldResultTranspose : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(TransposeOp op, PatternRewriter &rewriter) const override {
    auto result = dyn_cast<OpResult>(op.getInput());
    bool keepsLast = op.getPermutation().back() == op.getType().getRank() - 1;
    if (!result || !takesAnyOrder(result.getOwner()) || !othersTakeAnyOrder(result, op, keepsLast))
      return rewriter.notifyMatchFailure(op, "is not of a result in any order, for users in any order");
    Operation *owner = result.getOwner();
    IndexNotation notation = notationOf(owner);
    if (notation.results.size() != owner->getNumResults())
      return rewriter.notifyMatchFailure(op, "transposes a packed result");
    std::string &letters = notation.results[result.getResultNumber()], permuted;
    for (int64_t dim : op.getPermutation())
      permuted.push_back(letters[dim]);
    if (!keepsOrder(owner, letters, permuted))
      return rewriter.notifyMatchFailure(op, "moves the last index");
    letters = permuted;
    RankedTensorType before = op.getInput().getType();
    SmallVector<OpOperand *> others;
    for (OpOperand &use : result.getUses())
      if (use.getOwner() != op)
        others.push_back(&use);
    rewriter.modifyOpInPlace(owner, [&] {
      result.setType(op.getType());
      setNotation(owner, notation);
    });
    SmallVector<int64_t> back = inverse(op.getPermutation());
    rewriter.replaceOp(op, result);
    rewriter.setInsertionPointAfter(owner);
    for (OpOperand *use : others) {
      Value transposed = TransposeOp::create(rewriter, owner->getLoc(), before, result, back);
      rewriter.modifyOpInPlace(use->getOwner(), [&] { use->set(transposed); });
    }
    return success();
  }
};

/// A transpose of a transpose is one.
struct FoldTransposeOfTranspose : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(TransposeOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getInput().getDefiningOp<TransposeOp>();
    if (!inner)
      return failure();
    SmallVector<int64_t> permutation;
    for (int64_t dim : op.getPermutation())
      permutation.push_back(inner.getPermutation()[dim]);
    rewriter.replaceOpWithNewOp<TransposeOp>(op, op.getType(), inner.getInput(), permutation);
    return success();
  }
};

/// reshape(transpose(x)) that splits dims is transpose(reshape(x)): the transpose comes next to its user.
struct SinkTransposeBelowSplit : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReshapeOp op, PatternRewriter &rewriter) const override {
    auto transpose = op.getInput().getDefiningOp<TransposeOp>();
    if (!transpose || !llvm::all_of(op->getUsers(), takesAnyOrder))
      return rewriter.notifyMatchFailure(op, "does not stand between a transpose and users in any order");
    auto groups = groupDims(transpose.getType().getShape(), op.getType().getShape());
    if (!groups)
      return rewriter.notifyMatchFailure(op, "does more than split dims");
    // Dims of the result in the order of x.
    ArrayRef<int64_t> permutation = transpose.getPermutation();
    SmallVector<int64_t> order;
    for (size_t dim = 0; dim < permutation.size(); ++dim)
      llvm::append_range(order, (*groups)[llvm::find(permutation, static_cast<int64_t>(dim)) - permutation.begin()]);
    Value split = ReshapeOp::create(rewriter, op.getLoc(), permutedType(op.getType(), order), transpose.getInput());
    rewriter.replaceOpWithNewOp<TransposeOp>(op, op.getType(), split, inverse(order));
    return success();
  }
};

/// transpose(reshape(x)) that joins dims of a result in any order is reshape(transpose(x)).
struct HoistTransposeAboveJoin : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(TransposeOp op, PatternRewriter &rewriter) const override {
    auto join = op.getInput().getDefiningOp<ReshapeOp>();
    Operation *producer = join ? join.getInput().getDefiningOp() : nullptr;
    if (!producer || !takesAnyOrder(producer) || !join->hasOneUse())
      return rewriter.notifyMatchFailure(op, "is not the one user of a reshaped result in any order");
    RankedTensorType type = join.getInput().getType();
    auto groups = groupDims(join.getType().getShape(), type.getShape());
    if (!groups)
      return rewriter.notifyMatchFailure(op, "reshape does more than join dims");
    SmallVector<int64_t> order;
    for (int64_t dim : op.getPermutation())
      llvm::append_range(order, (*groups)[dim]);
    if (!othersTakeAnyOrder(join.getInput(), join, order.back() == type.getRank() - 1))
      return rewriter.notifyMatchFailure(op, "other users want the order as it is");
    Value transposed = TransposeOp::create(rewriter, op.getLoc(), permutedType(type, order), join.getInput(), order);
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), transposed);
    return success();
  }
};

/// The dims of a rotation's tables after `placeOf` told where each dim of its input goes; null if the tables would have
/// to be transposed too.
static DenseI64ArrayAttr moveTableDims(RotaryEmbeddingOp op, function_ref<int64_t(int64_t)> placeOf) {
  SmallVector<int64_t> moved = llvm::map_to_vector(op.getTableDims(), placeOf);
  return llvm::is_sorted(moved) ? DenseI64ArrayAttr::get(op.getContext(), moved) : DenseI64ArrayAttr();
}

/// rotary(transpose(x)) is transpose(rotary(x)): the transpose comes next to the attention.
struct SinkTransposeBelowRotary : OpRewritePattern<RotaryEmbeddingOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(RotaryEmbeddingOp op, PatternRewriter &rewriter) const override {
    auto transpose = op.getInput().getDefiningOp<TransposeOp>();
    if (!transpose || transpose.getPermutation().back() != op.getType().getRank() - 1 ||
        isAttentionResult(transpose.getInput()))
      return rewriter.notifyMatchFailure(op, "is not of a transpose that keeps the last dim");
    DenseI64ArrayAttr dims = moveTableDims(op, [&](int64_t dim) { return transpose.getPermutation()[dim]; });
    if (!dims)
      return rewriter.notifyMatchFailure(op, "has tables of the transposed order");
    Value input = transpose.getInput();
    Value rotated =
        RotaryEmbeddingOp::create(rewriter, op.getLoc(), input.getType(), input, op.getCosine(), op.getSine(), dims);
    rewriter.replaceOpWithNewOp<TransposeOp>(op, op.getType(), rotated, transpose.getPermutation());
    return success();
  }
};

/// transpose(rotary(x)) is rotary(transpose(x)): the transpose comes next to the attention that makes x.
struct HoistTransposeAboveRotary : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(TransposeOp op, PatternRewriter &rewriter) const override {
    auto rotary = op.getInput().getDefiningOp<RotaryEmbeddingOp>();
    ArrayRef<int64_t> permutation = op.getPermutation();
    if (!rotary || !rotary->hasOneUse() || permutation.back() != op.getType().getRank() - 1 ||
        !isAttentionResult(rotary.getInput()))
      return rewriter.notifyMatchFailure(op, "does not follow the rotation of an attention's result");
    DenseI64ArrayAttr dims =
        moveTableDims(rotary, [&](int64_t dim) { return llvm::find(permutation, dim) - permutation.begin(); });
    if (!dims)
      return rewriter.notifyMatchFailure(op, "follows a rotation by tables of another order");
    Value transposed = TransposeOp::create(rewriter, op.getLoc(), op.getType(), rotary.getInput(), permutation);
    rewriter.replaceOpWithNewOp<RotaryEmbeddingOp>(op, op.getType(), transposed, rotary.getCosine(), rotary.getSine(),
                                                   dims);
    return success();
  }
};

} // namespace

std::optional<SmallVector<SmallVector<int64_t>>> ds::groupDims(ArrayRef<int64_t> small, ArrayRef<int64_t> big) {
  SmallVector<SmallVector<int64_t>> groups;
  size_t next = 0;
  for (int64_t size : small) {
    groups.emplace_back();
    int64_t product = 1;
    while (next < big.size() && (groups.back().empty() || product < size)) {
      product *= big[next];
      groups.back().push_back(next++);
    }
    if (product != size)
      return std::nullopt;
  }
  if (next != big.size())
    return std::nullopt;
  return groups;
}

void ds::populateFoldTransposePatterns(RewritePatternSet &patterns) {
  patterns
      .add<FoldOperandTranspose<MatmulOp>, FoldOperandTranspose<FusedMatmulOp>, FoldOperandTranspose<FusedAttentionOp>,
           FoldOperandTranspose<FusedAttentionGradOp>, FoldResultTranspose, FoldTransposeOfTranspose,
           SinkTransposeBelowSplit, HoistTransposeAboveJoin, SinkTransposeBelowRotary, HoistTransposeAboveRotary>(
          patterns.getContext());
}
