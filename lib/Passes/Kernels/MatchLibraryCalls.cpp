// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "TensorBuilder.h"

#include "ds/Passes/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace ds {
#define GEN_PASS_DEF_MATCHLIBRARYCALLSPASS
#include "ds/Passes/Passes.h.inc"
} // namespace ds

using namespace mlir;
using namespace ds;

namespace {

std::string joinIndices(StringRef left, StringRef right, StringRef result) {
  return (left + "," + right + "->" + result).str();
}

/// A transposed operand: its letters in the order of what is transposed.
struct FoldOperandTranspose : OpRewritePattern<MatmulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MatmulOp op, PatternRewriter &rewriter) const override {
    for (unsigned number : {0u, 1u}) {
      auto transpose = op->getOperand(number).getDefiningOp<TransposeOp>();
      if (!transpose)
        continue;
      std::string letters(number == 0 ? op.getLhsIndices() : op.getRhsIndices()), permuted(letters);
      for (auto [place, dim] : llvm::enumerate(transpose.getPermutation()))
        permuted[dim] = letters[place];
      std::string indices = number == 0 ? joinIndices(permuted, op.getRhsIndices(), op.getResultIndices())
                                        : joinIndices(op.getLhsIndices(), permuted, op.getResultIndices());
      rewriter.modifyOpInPlace(op, [&] {
        op->setOperand(number, transpose.getInput());
        op.setIndices(indices);
      });
      return success();
    }
    return failure();
  }
};

/// A transpose that is the one user of a matmul: the matmul writes in its order.
struct FoldResultTranspose : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(TransposeOp op, PatternRewriter &rewriter) const override {
    auto matmul = op.getInput().getDefiningOp<MatmulOp>();
    if (!matmul || !matmul->hasOneUse())
      return rewriter.notifyMatchFailure(op, "is not the one user of a matmul");
    std::string letters;
    for (int64_t dim : op.getPermutation())
      letters.push_back(matmul.getResultIndices()[dim]);
    rewriter.replaceOpWithNewOp<MatmulOp>(op, op.getType(), matmul.getLhs(), matmul.getRhs(),
                                          joinIndices(matmul.getLhsIndices(), matmul.getRhsIndices(), letters));
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

/// For each dim of `small` the dims of `big` that multiply to it, in order; nothing if there is no such grouping.
std::optional<SmallVector<SmallVector<int64_t>>> groupDims(ArrayRef<int64_t> small, ArrayRef<int64_t> big) {
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

/// reshape(transpose(x)) that splits dims is transpose(reshape(x)): the transpose comes next to the matmul.
struct SinkTransposeBelowSplit : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReshapeOp op, PatternRewriter &rewriter) const override {
    auto transpose = op.getInput().getDefiningOp<TransposeOp>();
    if (!transpose || !llvm::all_of(op->getUsers(), llvm::IsaPred<MatmulOp>))
      return rewriter.notifyMatchFailure(op, "does not stand between a transpose and matmuls");
    auto groups = groupDims(transpose.getType().getShape(), op.getType().getShape());
    if (!groups)
      return rewriter.notifyMatchFailure(op, "does more than split dims");
    // Dims of the result in the order of x, and back.
    ArrayRef<int64_t> permutation = transpose.getPermutation();
    SmallVector<int64_t> order, back(op.getType().getRank());
    for (size_t dim = 0; dim < permutation.size(); ++dim)
      llvm::append_range(order, (*groups)[llvm::find(permutation, static_cast<int64_t>(dim)) - permutation.begin()]);
    for (auto [place, dim] : llvm::enumerate(order))
      back[dim] = place;
    Value split = ReshapeOp::create(rewriter, op.getLoc(), permutedType(op.getType(), order), transpose.getInput());
    rewriter.replaceOpWithNewOp<TransposeOp>(op, op.getType(), split, back);
    return success();
  }
};

/// transpose(reshape(matmul)) that joins dims is reshape(transpose(matmul)).
struct HoistTransposeAboveJoin : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(TransposeOp op, PatternRewriter &rewriter) const override {
    auto join = op.getInput().getDefiningOp<ReshapeOp>();
    auto matmul = join ? join.getInput().getDefiningOp<MatmulOp>() : MatmulOp();
    if (!matmul || !join->hasOneUse() || !matmul->hasOneUse())
      return rewriter.notifyMatchFailure(op, "is not the one user of a reshaped matmul");
    auto groups = groupDims(join.getType().getShape(), matmul.getType().getShape());
    if (!groups)
      return rewriter.notifyMatchFailure(op, "reshape does more than join dims");
    SmallVector<int64_t> order;
    for (int64_t dim : op.getPermutation())
      llvm::append_range(order, (*groups)[dim]);
    Value transposed = TransposeOp::create(rewriter, op.getLoc(), permutedType(matmul.getType(), order), matmul, order);
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), transposed);
    return success();
  }
};

/// matmul + broadcast(bias): the library adds the bias while it writes the result.
struct FuseBias : OpRewritePattern<arith::AddFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::AddFOp op, PatternRewriter &rewriter) const override {
    for (unsigned number : {0u, 1u}) {
      auto matmul = op->getOperand(number).getDefiningOp<MatmulOp>();
      auto bias = op->getOperand(1 - number).getDefiningOp<BroadcastOp>();
      if (!matmul || !bias || !matmul->hasOneUse() || bias.getDims().size() != 1 ||
          !layoutOf(matmul.getResult()).partial.empty())
        continue;
      StringAttr letter = rewriter.getStringAttr(matmul.getResultIndices().substr(bias.getDims()[0], 1));
      rewriter.replaceOpWithNewOp<FusedMatmulOp>(op, op.getType(), matmul.getLhs(), matmul.getRhs(), bias.getInput(),
                                                 Value(), matmul.getIndicesAttr(), letter);
      return success();
    }
    return rewriter.notifyMatchFailure(op, "is no matmul plus a bias");
  }
};

/// carried + matmul: the product is added to what a loop carries, in place.
struct FuseAccumulation : OpRewritePattern<arith::AddFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::AddFOp op, PatternRewriter &rewriter) const override {
    for (unsigned number : {0u, 1u}) {
      auto matmul = op->getOperand(number).getDefiningOp<MatmulOp>();
      Value carried = op->getOperand(1 - number);
      if (!matmul || !matmul->hasOneUse() || !isa<BlockArgument>(carried) || !isa<scf::ForOp>(op->getParentOp()) ||
          !carried.hasOneUse())
        continue;
      // Where the matmul stands: its operands need not live until the sum.
      rewriter.setInsertionPoint(matmul);
      rewriter.replaceOpWithNewOp<FusedMatmulOp>(op, op.getType(), matmul.getLhs(), matmul.getRhs(), Value(), carried,
                                                 matmul.getIndicesAttr(), rewriter.getStringAttr(""));
      return success();
    }
    return rewriter.notifyMatchFailure(op, "is no carried value plus a matmul");
  }
};

struct MatchLibraryCalls : ds::impl::MatchLibraryCallsPassBase<MatchLibraryCalls> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<FoldOperandTranspose, FoldResultTranspose, FoldTransposeOfTranspose, SinkTransposeBelowSplit,
                 HoistTransposeAboveJoin, FuseBias, FuseAccumulation>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
