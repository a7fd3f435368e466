// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

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

/// matmul + broadcast(bias): the library adds the bias while it writes the result.
struct FuseBias : OpRewritePattern<arith::AddFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::AddFOp op, PatternRewriter &rewriter) const override {
    for (unsigned number : {0u, 1u}) {
      auto matmul = op->getOperand(number).getDefiningOp<MatmulOp>();
      auto bias = op->getOperand(1 - number).getDefiningOp<BroadcastOp>();
      if (!matmul || !bias || !matmul->hasOneUse() || bias.getDims().size() != 1 || !layoutOf(matmul.getResult()).partial.empty())
        continue;
      StringAttr letter = rewriter.getStringAttr(matmul.getResultIndices().substr(bias.getDims()[0], 1));
      rewriter.replaceOpWithNewOp<FusedMatmulOp>(op, op.getType(), matmul.getLhs(), matmul.getRhs(), bias.getInput(), Value(),
                                                 matmul.getIndicesAttr(), letter);
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
      if (!matmul || !matmul->hasOneUse() || !isa<BlockArgument>(carried) || !isa<scf::ForOp>(op->getParentOp()) || !carried.hasOneUse())
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
    patterns.add<FoldOperandTranspose, FoldResultTranspose, FoldTransposeOfTranspose, FuseBias, FuseAccumulation>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
