// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "LibraryPatterns.h"

#include "ds/Passes/GreedyRewrites.h"
#include "ds/Passes/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace ds {
#define GEN_PASS_DEF_MATCHLIBRARYCALLSPASS
#include "ds/Passes/Passes.h.inc"
} // namespace ds

using namespace mlir;
using namespace ds;

namespace {

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
                                                 matmul.getIndicesAttr(), rewriter.getStringAttr(""),
                                                 ActivationAttr::get(op.getContext(), Activation::None));
      return success();
    }
    return rewriter.notifyMatchFailure(op, "is no carried value plus a matmul");
  }
};

struct MatchLibraryCalls : ds::impl::MatchLibraryCallsPassBase<MatchLibraryCalls> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<FuseAccumulation>(&getContext());
    populateFoldTransposePatterns(patterns);
    populateFoldPackedTensorPatterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns), flatRewrites())))
      signalPassFailure();
  }
};

} // namespace
