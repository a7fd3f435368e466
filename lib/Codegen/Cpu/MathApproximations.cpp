// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// exp, expm1 and tanh: e^x = 2^n e^r with n = round(x / ln 2) and |r| <= ln 2 / 2 (Cody and Waite 1980), e^r by a
// minimax polynomial, for exp of degree 5 with e^0 = 1. n is found by adding 1.5 * 2^23, which rounds to integers and
// leaves n in the low bits. tanh(x) is m / (m + 2) for m = e^2x - 1, which is never near the pole for |x|.
//
// erf: y (3 - y^2) / 2 for an odd minimax polynomial y of degree 17 up to 3.85, from where on both are 1. As the cubic
// is flat where y is 1, y may approach 1 more slowly and less exactly than erf, which would take degree 31.

#include "FloatBuilder.h"
#include "LowerKernel.h"

#include "ds/Dialect/MathAttributes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

#include <limits>

using namespace mlir;
using namespace ds;

using Predicate = arith::CmpFPredicate;

/// 1 / ln 2, and ln 2 in two parts: multiples of the first by integers up to 2^10 are exact.
static constexpr float kInverseLn2 = 1.442695041f, kLn2 = 6.93145752e-1f, kLn2Rest = 1.42860677e-6f;

namespace {

/// x = n ln 2 + rest.
struct SplitExponent {
  /// `shifted` is 1.5 * 2^23 + bias + n. With the bias 127, 2^n is `powerOfTwo(shifted)` for n from -126 to 127, and 0
  /// for n = -127.
  SplitExponent(FloatBuilder &b, Value x, float bias)
      : shifted(b.fma(x, b.number(kInverseLn2), b.number(kRounder + bias))) {
    Value n = b.sub(shifted, b.number(kRounder + bias));
    rest = b.fma(n, b.number(-kLn2), x);
    rest = b.fma(n, b.number(-kLn2Rest), rest);
  }

  Value shifted, rest;
};

struct ExpandExp : F32Pattern<math::ExpOp> {
  using F32Pattern::F32Pattern;

  static Value exponential(FloatBuilder &b, Value rest) {
    return b.polynomial(rest, {8.28936044e-3f, 4.18981761e-2f, 1.66676521e-1f, 4.99991477e-1f, 9.99999702e-1f, 1});
  }

  /// At -88, n is -127, and the power 0.
  static Value ofBounded(FloatBuilder &b, Value x) {
    const SplitExponent split(b, b.greatest(x, b.number(-88)), 127);
    return b.mul(exponential(b, split.rest), b.powerOfTwo(split.shifted));
  }

  /// n is added to the exponent of e^r, as 2^n has none for n = 128. What that leaves beyond the bounds is replaced;
  /// the product with infinity keeps NaN.
  Value expand(FloatBuilder &b, math::ExpOp op) const final {
    Value x = op.getOperand();
    if (op->hasAttr(kBoundedExpAttr))
      return ofBounded(b, x);
    constexpr float kLeast = -87.3365448f, kGreatest = 88.7228317f; // of normal numbers
    const SplitExponent split(b, x, 0);
    Value n = b.make<arith::ShLIOp>(b.bitsOf(split.shifted), b.integer(23));
    Value power = b.fromBits(b.make<arith::AddIOp>(b.bitsOf(exponential(b, split.rest)), n));
    power = b.select(b.isLess(x, b.number(kLeast)), b.number(0), power);
    Value beyond = b.mul(x, b.number(std::numeric_limits<float>::infinity()));
    return b.select(b.compare(Predicate::UGT, x, b.number(kGreatest)), beyond, power);
  }
};

struct ExpandExpM1 : F32Pattern<math::ExpM1Op> {
  using F32Pattern::F32Pattern;
  Value expand(FloatBuilder &b, math::ExpM1Op op) const final {
    // 2^(n - 1): with 2^n, n = 128 would overflow.
    const SplitExponent split(b, b.least(b.greatest(op.getOperand(), b.number(-86.9f)), b.number(88.8f)), 126);
    Value halfPower = b.powerOfTwo(split.shifted);
    Value tail = b.polynomial(split.rest,
                              {1.98423862e-4f, 1.39337569e-3f, 8.33333287e-3f, 4.16664742e-2f, 1.66666672e-1f, 0.5f});
    Value restM1 = b.fma(b.mul(split.rest, split.rest), tail, split.rest);
    Value half = b.fma(halfPower, restM1, b.sub(halfPower, b.number(0.5f)));
    return b.add(half, half);
  }
};

/// With q = |x| - n ln 2 / 2: m / 2 = (e^2q - 1) / 2 2^n + (2^n - 1) / 2.
struct ExpandTanh : F32Pattern<math::TanhOp> {
  using F32Pattern::F32Pattern;
  Value expand(FloatBuilder &b, math::TanhOp op) const final {
    Value x = b.least(b.abs(op.getOperand()), b.number(9.1f)); // from where on it is 1
    constexpr float kShift = kRounder + 127;
    Value shifted = b.fma(x, b.number(2 * kInverseLn2), b.number(kShift)), n = b.sub(shifted, b.number(kShift));
    Value q = b.fma(n, b.number(-kLn2 / 2), x);
    q = b.fma(n, b.number(-kLn2Rest / 2), q);
    Value tail = b.polynomial(q, {4.44240633e-2f, 1.33864457e-1f, 3.33337601e-1f, 6.66661742e-1f, 1});
    Value half = b.fma(b.mul(q, q), tail, q);
    Value power = b.powerOfTwo(shifted);
    Value m = b.fma(power, half, b.fma(power, b.number(0.5f), b.number(-0.5f)));
    return b.copySign(b.div(m, b.add(m, b.number(1))), op.getOperand());
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

/// One instruction where the CPU has it, and a product and a sum where it has not: never a call, and never a matter of
/// what else reads the product.
struct LowerFma : OpRewritePattern<math::FmaOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::FmaOp op, PatternRewriter &rewriter) const final {
    rewriter.replaceOpWithNewOp<LLVM::FMulAddOp>(op, op.getType(), op.getA(), op.getB(), op.getC());
    return success();
  }
};

} // namespace

void ds::populateMathApproximationPatterns(RewritePatternSet &patterns) {
  patterns.add<LowerFma, ExpandExp, ExpandExpM1, ExpandTanh, ExpandErf>(patterns.getContext(), kOwnBenefit);
  addSineAndCosine(patterns);
  addPower(patterns);
}
