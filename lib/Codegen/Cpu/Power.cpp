// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// x^y = 2^(y log2 |x|), with the sign that a whole odd y gives. An error of the exponent is one of the result that is
// 0.7 times as large relative to it, and the exponent goes up to 128: so logarithm and product are sums of two floats.
//
//   for |x|: 2^k m with m from sqrt(1/2) to sqrt(2); s = (m - 1) / (m + 1);
//   log2 m = 2 / ln 2 (s + s^3 / 3 + s^5 / 5 + ..), of which s and the product with 2 / ln 2 have two parts.

#include "FloatBuilder.h"

#include "mlir/IR/Matchers.h"

#include <limits>

using namespace mlir;
using namespace ds;

static constexpr float kInfinity = std::numeric_limits<float>::infinity();

namespace {

/// high + low, where low is at most a rounding error of high.
struct TwoFloats {
  Value high, low;
};

class PowerBuilder {
public:
  PowerBuilder(FloatBuilder &b, Value x, Value y) : b(b), x(x), y(y), size(b.abs(x)) {}

  Value run() {
    TwoFloats log = logOfSize();
    Value high = b.mul(y, log.high);
    Value low = b.fma(y, log.low, b.fma(y, log.high, b.neg(high)));
    // Beyond these bounds the result is 0 or infinite, and the low part may be NaN.
    low = b.select(b.isLess(b.abs(high), b.number(300)), low, b.number(0));
    return withSpecialCases(exp2(high, low));
  }

private:
  TwoFloats logOfSize() {
    // k is the exponent of size / sqrt(1/2).
    Value bits = b.bitsOf(size);
    Value k = b.make<arith::ShRSIOp>(b.make<arith::SubIOp>(bits, b.integer(0x3f3504f3)), b.integer(23));
    Value m = b.fromBits(b.make<arith::SubIOp>(bits, b.make<arith::ShLIOp>(k, b.integer(23))));
    TwoFloats log = logOfMantissa(m);
    Value exponent = b.make<arith::SIToFPOp>(b.type, k);
    Value high = b.add(exponent, log.high);
    Value low = b.add(b.sub(log.high, b.sub(high, exponent)), log.low);
    high = b.select(b.isEqual(size, b.number(0)), b.number(-kInfinity), high);
    high = b.select(b.isLess(size, b.number(kInfinity)), high, size); // infinity and NaN
    return {high, low};
  }

  TwoFloats logOfMantissa(Value m) {
    Value one = b.number(1), numerator = b.sub(m, one), denominator = b.add(m, one);
    Value denominatorLow = b.sub(m, b.sub(denominator, one)), inverse = b.div(one, denominator);
    Value s = b.mul(numerator, inverse), minus = b.neg(s);
    Value rest = b.fma(minus, denominatorLow, b.fma(minus, denominator, numerator));
    Value square = b.mul(s, s);
    Value tail = b.mul(square, b.polynomial(square, {1.17787933e-1f, 1.42775193e-1f, 2.00000286e-1f, 1.f / 3}));
    Value low = b.fma(s, tail, b.mul(rest, inverse));
    Value high = b.add(s, low);
    low = b.sub(low, b.sub(high, s));
    Value factor = b.number(2.885390043258667f), factorLow = b.number(3.8519956e-8f); // 2 / ln 2
    Value product = b.mul(high, factor), productLow = b.fma(high, factor, b.neg(product));
    return {product, b.add(productLow, b.fma(high, factorLow, b.mul(low, factor)))};
  }

  /// 2^(high + low). A result below the least normal number takes two steps down, so that the first does not flush it.
  Value exp2(Value high, Value low) {
    Value bounded = b.least(b.greatest(high, b.number(-160)), b.number(160));
    Value shifted = b.add(bounded, b.number(kRounder)), n = b.sub(shifted, b.number(kRounder));
    Value rest = b.add(b.sub(bounded, n), low);
    Value power = b.polynomial(rest, {1.535336188e-4f, 1.339887440e-3f, 9.618437358e-3f, 5.550332471e-2f,
                                      2.402264791e-1f, 6.931472029e-1f, 1});
    Value exponent = b.make<arith::SubIOp>(b.bitsOf(shifted), b.bitsOf(b.number(kRounder)));
    Value half = b.make<arith::ShRSIOp>(exponent, b.integer(1));
    for (Value part : {half, b.make<arith::SubIOp>(exponent, half)}) {
      Value biased = b.make<arith::AddIOp>(part, b.integer(127));
      power = b.mul(power, b.fromBits(b.make<arith::ShLIOp>(biased, b.integer(23))));
    }
    return power;
  }

  Value withSpecialCases(Value power) {
    // From 2^24 on all numbers are even.
    Value isSmall = b.isLess(b.abs(y), b.number(16777216)), small = b.select(isSmall, y, b.number(0));
    Value truncated = b.make<arith::FPToSIOp>(b.i32(), small);
    Value isWhole = b.isEqual(b.make<arith::SIToFPOp>(b.type, truncated), small);
    Value lowBit = b.make<arith::AndIOp>(truncated, b.integer(1));
    Value isOdd = b.make<arith::CmpIOp>(arith::CmpIPredicate::ne, lowBit, b.integer(0));
    isOdd = b.make<arith::AndIOp>(isOdd, isWhole);
    // A negative number has no other power; minus infinity and minus zero have.
    Value isNegative = b.make<arith::AndIOp>(b.isLess(x, b.number(0)), b.isLess(size, b.number(kInfinity)));
    power = b.select(isWhole, power, b.select(isNegative, b.number(std::numeric_limits<float>::quiet_NaN()), power));
    power = b.select(isOdd, b.copySign(power, x), power);
    Value isOne = b.make<arith::OrIOp>(b.isEqual(y, b.number(0)), b.isEqual(x, b.number(1)));
    Value isTurn = b.make<arith::AndIOp>(b.isEqual(size, b.number(1)), b.isEqual(b.abs(y), b.number(kInfinity)));
    return b.select(b.make<arith::OrIOp>(isOne, isTurn), b.number(1), power);
  }

  FloatBuilder &b;
  Value x, y, size;
};

struct ExpandPower : F32Pattern<math::PowFOp> {
  using F32Pattern::F32Pattern;
  Value expand(FloatBuilder &b, math::PowFOp op) const final {
    FloatAttr exponent;
    DenseFPElementsAttr splat;
    if (matchPattern(op.getRhs(), m_Constant(&splat)) && splat.isSplat())
      exponent = splat.getSplatValue<FloatAttr>();
    else
      (void)matchPattern(op.getRhs(), m_Constant(&exponent));
    // Two products have less error than a power.
    if (exponent && exponent.getValueAsDouble() == 4) {
      Value square = b.mul(op.getLhs(), op.getLhs());
      return b.mul(square, square);
    }
    if (exponent && exponent.getValueAsDouble() == 3)
      return b.mul(b.mul(op.getLhs(), op.getLhs()), op.getLhs());
    return PowerBuilder(b, op.getLhs(), op.getRhs()).run();
  }
};

} // namespace

void ds::addPower(RewritePatternSet &patterns) { patterns.add<ExpandPower>(patterns.getContext(), kOwnBenefit); }
