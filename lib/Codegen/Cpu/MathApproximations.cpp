// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// exp and expm1: e^x = 2^n e^r with n = round(x / ln 2) and |r| <= ln 2 / 2 (Cody and Waite 1980), e^r by a minimax
// polynomial, for exp of degree 5 with e^0 = 1. n is found by adding 1.5 * 2^23, which rounds to integers and leaves n
// in the low bits.
//
// erf: y (3 - y^2) / 2 for an odd minimax polynomial y of degree 17 up to 3.85, from where on both are 1. As the cubic
// is flat where y is 1, y may approach 1 more slowly and less exactly than erf, which would take degree 31.

#include "LowerKernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace {

/// Arithmetic on f32 scalars or vectors.
class FloatBuilder {
public:
  FloatBuilder(OpBuilder &builder, Location loc, Type type) : builder(builder), loc(loc), type(type) {}

  Value number(float value) { return constant(builder.getF32FloatAttr(value), type); }
  Value add(Value a, Value b) { return arith::AddFOp::create(builder, loc, a, b); }
  Value sub(Value a, Value b) { return arith::SubFOp::create(builder, loc, a, b); }
  Value mul(Value a, Value b) { return arith::MulFOp::create(builder, loc, a, b); }
  Value fma(Value a, Value b, Value c) { return math::FmaOp::create(builder, loc, a, b, c); }
  Value isLess(Value a, Value b) { return arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OLT, a, b); }
  Value select(Value condition, Value a, Value b) { return arith::SelectOp::create(builder, loc, condition, a, b); }
  /// The lesser and the greater of `x` and `bound`; NaN stays NaN.
  Value least(Value x, Value bound) { return select(isLess(bound, x), bound, x); }
  Value greatest(Value x, Value bound) { return select(isLess(x, bound), bound, x); }
  /// Horner's rule; the highest power first.
  Value polynomial(Value x, ArrayRef<float> coefficients) {
    Value sum = number(coefficients.front());
    for (float coefficient : coefficients.drop_front())
      sum = fma(sum, x, number(coefficient));
    return sum;
  }

  /// 2^(n - 1) and r for e^x = 2^n e^r; x is from -87.3 to 88.8; from -87 down the power is 0.
  std::pair<Value, Value> splitExponent(Value x) {
    constexpr float kRounder = 12582912.0f + 126.0f; // 1.5 * 2^23, and the exponent's bias less one
    Value shifted = fma(x, number(1.442695041f), number(kRounder)), n = sub(shifted, number(kRounder));
    Value rest = fma(n, number(-6.93145752e-1f), x);
    rest = fma(n, number(-1.42860677e-6f), rest);
    Type bitsType = type.isF32() ? Type(builder.getI32Type()) : cast<VectorType>(type).clone(builder.getI32Type());
    Value bits = arith::BitcastOp::create(builder, loc, bitsType, shifted);
    bits = arith::ShLIOp::create(builder, loc, bits, constant(builder.getI32IntegerAttr(23), bitsType));
    return {arith::BitcastOp::create(builder, loc, type, bits), rest};
  }

private:
  Value constant(TypedAttr value, Type of) {
    if (auto vector = dyn_cast<VectorType>(of))
      value = DenseElementsAttr::get(vector, Attribute(value));
    return arith::ConstantOp::create(builder, loc, value);
  }

  OpBuilder &builder;
  Location loc;
  Type type;
};

template <typename OpT> struct F32Pattern : OpRewritePattern<OpT> {
  using OpRewritePattern<OpT>::OpRewritePattern;
  virtual Value expand(FloatBuilder &b, OpT op) const = 0;

  LogicalResult matchAndRewrite(OpT op, PatternRewriter &rewriter) const final {
    if (!getElementTypeOrSelf(op.getType()).isF32())
      return rewriter.notifyMatchFailure(op, "is not f32");
    FloatBuilder b(rewriter, op.getLoc(), op.getType());
    rewriter.replaceOp(op, expand(b, op));
    return success();
  }
};

struct ExpandExp : F32Pattern<math::ExpOp> {
  using F32Pattern::F32Pattern;
  Value expand(FloatBuilder &b, math::ExpOp op) const final {
    // At the lower bound n - 1 is -127, the exponent of zero.
    Value bounded = b.least(b.greatest(op.getOperand(), b.number(-87.3f)), b.number(88.8f));
    auto [halfPower, rest] = b.splitExponent(bounded);
    // Twice e^rest, as the power is the half.
    Value twice = b.polynomial(
        rest, {2 * 8.28936044e-3f, 2 * 4.18981761e-2f, 2 * 1.66676521e-1f, 2 * 4.99991477e-1f, 2 * 9.99999702e-1f, 2});
    return b.mul(twice, halfPower);
  }
};

struct ExpandExpM1 : F32Pattern<math::ExpM1Op> {
  using F32Pattern::F32Pattern;
  Value expand(FloatBuilder &b, math::ExpM1Op op) const final {
    Value x = op.getOperand(), greatest = b.number(88.8f), least = b.number(-86.9f);
    Value bounded = b.least(b.greatest(x, least), greatest);
    auto [halfPower, rest] = b.splitExponent(bounded);
    Value tail =
        b.polynomial(rest, {1.98423862e-4f, 1.39337569e-3f, 8.33333287e-3f, 4.16664742e-2f, 1.66666672e-1f, 0.5f});
    Value restM1 = b.fma(b.mul(rest, rest), tail, rest);
    Value half = b.fma(halfPower, restM1, b.sub(halfPower, b.number(0.5f)));
    return b.add(half, half);
  }
};

struct ExpandErf : F32Pattern<math::ErfOp> {
  using F32Pattern::F32Pattern;
  Value expand(FloatBuilder &b, math::ErfOp op) const final {
    // y / x over u = 2 (x / 3.86)^2 - 1, where the terms do not cancel. At 3.85 the result is 1 with fma and without.
    Value x = b.least(b.greatest(op.getOperand(), b.number(-3.85f)), b.number(3.85f));
    Value u = b.fma(b.mul(x, x), b.number(2 / (3.86f * 3.86f)), b.number(-1));
    Value y = b.mul(
        x, b.polynomial(u, {6.368150353e-04f, -1.675206702e-03f, 5.103569943e-03f, -1.447022520e-02f, 3.214524686e-02f,
                            -6.148030981e-02f, 1.045732051e-01f, -1.689818501e-01f, 3.631863296e-01f}));
    return b.mul(y, b.fma(b.mul(y, y), b.number(-0.5f), b.number(1.5f)));
  }
};

/// One instruction where the CPU has it; where it has not, fma would be a call.
struct ContractFma : OpRewritePattern<math::FmaOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::FmaOp op, PatternRewriter &rewriter) const final {
    constexpr auto kContract = arith::FastMathFlags::contract;
    Value product = arith::MulFOp::create(rewriter, op.getLoc(), op.getA(), op.getB(), kContract);
    rewriter.replaceOpWithNewOp<arith::AddFOp>(op, product, op.getC(), kContract);
    return success();
  }
};

} // namespace

void ds::populateMathApproximationPatterns(RewritePatternSet &patterns) {
  patterns.add<ContractFma, ExpandExp, ExpandExpM1, ExpandErf>(patterns.getContext(), /*benefit=*/10);
}
