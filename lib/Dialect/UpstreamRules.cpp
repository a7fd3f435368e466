// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// The layout rules of upstream ops, as external models.

#include "ds/Dialect/DsDialect.h"
#include "ds/Dialect/Splat.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace ds;

namespace {

/// No operand may be partial.
template <typename OpT> struct ElementwiseModel : LayoutRuleOpInterface::ExternalModel<ElementwiseModel<OpT>, OpT> {
  LayoutRule getLayoutRule(Operation *op) const { return elementwiseRule(op); }
};

/// Sums pass through: of all operands alike, or of the one.
template <typename OpT> struct AdditiveModel : LayoutRuleOpInterface::ExternalModel<AdditiveModel<OpT>, OpT> {
  LayoutRule getLayoutRule(Operation *op) const {
    LayoutRule rule = elementwiseRule(op);
    SmallVector<unsigned> all = llvm::to_vector(llvm::seq<unsigned>(0, op->getNumOperands()));
    rule.setLinear(PartialRule::Additive, all);
    return rule;
  }
};

/// max of maxima, min of minima.
template <typename OpT, ReduceKind kind>
struct ExtremumModel : LayoutRuleOpInterface::ExternalModel<ExtremumModel<OpT, kind>, OpT> {
  LayoutRule getLayoutRule(Operation *op) const {
    LayoutRule rule = elementwiseRule(op);
    rule.setLinear(PartialRule::Additive, {0, 1}, {kind});
    return rule;
  }
};

/// A splat may be split; other elements are whole on every rank.
struct ConstantModel : LayoutRuleOpInterface::ExternalModel<ConstantModel, arith::ConstantOp> {
  LayoutRule getLayoutRule(Operation *op) const {
    LayoutRule rule = elementwiseRule(op);
    if (!isSplat(op->getResult(0)))
      for (RuleIndex &index : rule.indices)
        index.kind = IndexKind::Whole;
    return rule;
  }
};

template <typename... Ops> void attachElementwise(MLIRContext *context) {
  (Ops::template attachInterface<ElementwiseModel<Ops>>(*context), ...);
}

template <typename... Ops> void attachAdditive(MLIRContext *context) {
  (Ops::template attachInterface<AdditiveModel<Ops>>(*context), ...);
}

} // namespace

void ds::registerLayoutRuleModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, arith::ArithDialect *) {
    arith::ConstantOp::attachInterface<ConstantModel>(*context);
    attachAdditive<arith::AddFOp, arith::SubFOp, arith::NegFOp, arith::ExtFOp, arith::AddIOp, arith::SubIOp>(context);
    attachElementwise<arith::MulFOp, arith::DivFOp, arith::RemFOp, arith::MulIOp, arith::DivSIOp, arith::RemSIOp,
                      arith::FloorDivSIOp, arith::AndIOp, arith::OrIOp, arith::XOrIOp, arith::MaxSIOp, arith::MinSIOp,
                      arith::CmpFOp, arith::CmpIOp, arith::SelectOp, arith::SIToFPOp, arith::UIToFPOp, arith::FPToSIOp,
                      arith::TruncFOp, arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp>(context);
    arith::MaximumFOp::attachInterface<ExtremumModel<arith::MaximumFOp, ReduceKind::Max>>(*context);
    arith::MinimumFOp::attachInterface<ExtremumModel<arith::MinimumFOp, ReduceKind::Min>>(*context);
  });
  registry.addExtension(+[](MLIRContext *context, math::MathDialect *) {
    attachElementwise<math::AbsFOp, math::AbsIOp, math::CeilOp, math::CosOp, math::ErfOp, math::ExpM1Op, math::ExpOp,
                      math::FloorOp, math::FmaOp, math::Log1pOp, math::LogOp, math::PowFOp, math::RoundEvenOp,
                      math::RsqrtOp, math::SinOp, math::SqrtOp, math::TanhOp>(context);
  });
}
