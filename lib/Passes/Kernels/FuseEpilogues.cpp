// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Dialect/DsDialect.h"
#include "ds/Passes/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace ds {
#define GEN_PASS_DEF_FUSEEPILOGUESPASS
#include "ds/Passes/Passes.h.inc"
} // namespace ds

using namespace mlir;
using namespace ds;

/// `product` with an activation, or nothing if it is no contraction that can take one.
static FusedMatmulOp activated(Operation *product, Activation activation, PatternRewriter &rewriter) {
  auto attribute = ActivationAttr::get(rewriter.getContext(), activation);
  if (auto matmul = dyn_cast_or_null<MatmulOp>(product)) {
    if (!matmul.getType().getElementType().isF32() || !layoutOf(matmul.getResult()).partial.empty())
      return {};
    return FusedMatmulOp::create(rewriter, matmul.getLoc(), matmul.getType(), matmul.getLhs(), matmul.getRhs(), Value(),
                                 Value(), matmul.getIndicesAttr(), rewriter.getStringAttr(""), attribute);
  }
  auto fused = dyn_cast_or_null<FusedMatmulOp>(product);
  if (!fused || !fused.getType().getElementType().isF32() || fused.getActivation() != Activation::None)
    return {};
  return FusedMatmulOp::create(rewriter, fused.getLoc(), fused.getType(), fused.getLhs(), fused.getRhs(),
                               fused.getBias(), fused.getAddend(), fused.getIndicesAttr(), fused.getBiasIndicesAttr(),
                               attribute);
}

/// activation(matmul), or of a reshaped one that nobody else reads, but for the `compare` of an activation that is
/// spelt as a choice.
static LogicalResult fuseActivation(Operation *op, Value input, Activation activation, PatternRewriter &rewriter,
                                    Operation *compare = nullptr) {
  auto reshape = input.getDefiningOp<ReshapeOp>();
  Value product = reshape ? reshape.getInput() : input;
  bool isRead = llvm::any_of(input.getUsers(), [&](Operation *user) { return user != op && user != compare; });
  if (isRead || (reshape && !product.hasOneUse()))
    return rewriter.notifyMatchFailure(op, "is not the one user of its input");
  FusedMatmulOp fused = activated(product.getDefiningOp(), activation, rewriter);
  if (!fused)
    return rewriter.notifyMatchFailure(op, "input is no contraction that can take an activation");
  if (reshape)
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op->getResult(0).getType(), fused.getResult());
  else
    rewriter.replaceOp(op, fused.getResult());
  return success();
}

namespace {

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
                                                 Value(), matmul.getIndicesAttr(), letter,
                                                 ActivationAttr::get(op.getContext(), Activation::None));
      return success();
    }
    return rewriter.notifyMatchFailure(op, "is no matmul plus a bias");
  }
};

struct FuseGelu : OpRewritePattern<GeluOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(GeluOp op, PatternRewriter &rewriter) const override {
    return fuseActivation(op, op.getInput(),
                          op.getKind() == GeluKind::Tanh ? Activation::GeluTanh : Activation::GeluErf, rewriter);
  }
};

struct FuseSilu : OpRewritePattern<SiluOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SiluOp op, PatternRewriter &rewriter) const override {
    return fuseActivation(op, op.getInput(), Activation::Silu, rewriter);
  }
};

/// x <= 0 ? 0 : x.
struct FuseRelu : OpRewritePattern<arith::SelectOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::SelectOp op, PatternRewriter &rewriter) const override {
    Value input = op.getFalseValue();
    auto compare = op.getCondition().getDefiningOp<arith::CmpFOp>();
    if (!compare || compare.getPredicate() != arith::CmpFPredicate::OLE || compare.getLhs() != input ||
        !matchPattern(compare.getRhs(), m_AnyZeroFloat()) || !matchPattern(op.getTrueValue(), m_AnyZeroFloat()))
      return rewriter.notifyMatchFailure(op, "is no ReLU");
    if (!compare->hasOneUse())
      return rewriter.notifyMatchFailure(op, "is not the one user of its condition");
    return fuseActivation(op, input, Activation::Relu, rewriter, compare);
  }
};

struct FuseEpilogues : ds::impl::FuseEpiloguesPassBase<FuseEpilogues> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<FuseBias, FuseGelu, FuseSilu, FuseRelu>(&getContext());
    walkAndApplyPatterns(getOperation(), std::move(patterns)); // an activation comes after its bias
  }
};

} // namespace
