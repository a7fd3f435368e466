// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// sin and cos: x = k pi/2 + r with |r| <= pi/4, then a polynomial of r by the two low bits of k.
//
// 1. Up to 2^17, r = x - k p1 - k p2 - k p3 for pi/2 in three parts (Cody and Waite 1980), each step one fma. The first
//    is exact: x and k p1 are multiples of 2^-24 and less than 1 apart.
// 2. Where a lane is larger, infinite or NaN, also the way of Payne and Hanek (1983): x is m 2^e with a whole m, and of
//    m (2^e 2/pi) only the value mod 4 counts, so of 2^e 2/pi the 96 bits from the weight 2 on, in integers.

#include "FloatBuilder.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <array>
#include <cmath>
#include <limits>

using namespace mlir;
using namespace ds;

static constexpr float kMostForThreeParts = 131072;

namespace {

/// x = k pi/2 + r; of k the two low bits are right.
struct Quadrant {
  Value k; ///< i32
  Value r; ///< f32
};

class ArgumentReduction {
public:
  ArgumentReduction(FloatBuilder &b, Value x) : b(b), x(x) {}

  Quadrant run() {
    Value isOrdinary = b.compare(arith::CmpFPredicate::OLE, b.abs(x), b.number(kMostForThreeParts));
    Value isAnyLarge = b.make<arith::XOrIOp>(isOrdinary, bools(true));
    if (isa<VectorType>(b.type))
      isAnyLarge = b.make<vector::ReductionOp>(vector::CombiningKind::OR, isAnyLarge);
    const Quadrant ordinary = byThreeParts();
    auto choice = scf::IfOp::create(b.builder, b.loc, TypeRange{b.i32(), b.type}, isAnyLarge, true, true);
    OpBuilder::InsertionGuard guard(b.builder);
    b.builder.setInsertionPointToEnd(choice.thenBlock());
    const Quadrant large = byIntegers();
    scf::YieldOp::create(
        b.builder, b.loc,
        ValueRange{b.select(isOrdinary, ordinary.k, large.k), b.select(isOrdinary, ordinary.r, large.r)});
    b.builder.setInsertionPointToEnd(choice.elseBlock());
    scf::YieldOp::create(b.builder, b.loc, ValueRange{ordinary.k, ordinary.r});
    return {choice.getResult(0), choice.getResult(1)};
  }

private:
  Value bools(bool value) { return b.constant(b.builder.getBoolAttr(value), b.typeOf(b.builder.getI1Type())); }

  Quadrant byThreeParts() {
    Value shifted = b.fma(x, b.number(2 / static_cast<float>(M_PI)), b.number(kRounder));
    Value k = b.sub(shifted, b.number(kRounder)), r = x;
    for (float part : {1.57079637050628662f, -4.37113882867379287e-8f, -1.71512425e-15f})
      r = b.fma(k, b.number(-part), r);
    return {b.bitsOf(shifted), r};
  }

  //===--------------------------------------------------------------------===//
  // Integers
  //===--------------------------------------------------------------------===//

  Value and_(Value a, int32_t mask) { return b.make<arith::AndIOp>(a, b.integer(mask)); }
  Value shiftRight(Value a, int32_t bits) { return b.make<arith::ShRUIOp>(a, b.integer(bits)); }
  Type i64() { return b.typeOf(b.builder.getI64Type()); }
  Value wide(int64_t value) { return b.constant(b.builder.getI64IntegerAttr(value), i64()); }
  Value widen(Value a) { return b.make<arith::ExtUIOp>(i64(), a); }

  /// Words `first`, `first` + 1, .. of the bits of 2/pi behind 32 zeros.
  std::array<Value, 4> wordsFrom(Value first) {
    // Of an exponent up to 127 the first word is number 4 at most.
    static constexpr uint32_t kWords[] = {0,          0xA2F9836E, 0x4E441529, 0xFC2757D1,
                                          0xF534DDC0, 0xDB629599, 0x3C439041, 0xFE5163AB};
    std::array<Value, 4> words;
    for (int place = 0; place < 4; ++place) {
      words[place] = b.integer(static_cast<int32_t>(kWords[place]));
      for (int number = 1; number <= 4; ++number) {
        Value isHere = b.make<arith::CmpIOp>(arith::CmpIPredicate::eq, first, b.integer(number));
        words[place] = b.select(isHere, b.integer(static_cast<int32_t>(kWords[number + place])), words[place]);
      }
    }
    return words;
  }

  /// 2^e 2/pi for x = m 2^e, from the weight 2 on: 96 bits in three words.
  std::array<Value, 3> windowOf(Value exponent) {
    // The exponent has the bias 127, and 23 bits of m behind the point; bit 32 of the words has the weight 1/2.
    Value place = b.make<arith::AddIOp>(exponent, b.integer(32 - 127 - 23 - 2));
    std::array<Value, 4> words = wordsFrom(shiftRight(place, 5));
    Value shift = widen(and_(place, 31));
    std::array<Value, 3> window;
    for (int number = 0; number < 3; ++number) {
      Value both = b.make<arith::ShLIOp>(widen(words[number]), wide(32));
      both = b.make<arith::OrIOp>(both, widen(words[number + 1]));
      both = b.make<arith::ShLIOp>(both, shift);
      window[number] = b.make<arith::ShRUIOp>(both, wide(32));
    }
    return window;
  }

  Quadrant byIntegers() {
    Value bits = and_(b.bitsOf(x), 0x7fffffff);
    Value m = widen(b.make<arith::OrIOp>(and_(bits, 0x7fffff), b.integer(0x800000)));
    std::array<Value, 3> window = windowOf(shiftRight(bits, 23));
    // The product mod 4, with 62 bits behind the point.
    Value product = b.make<arith::ShLIOp>(b.make<arith::MulIOp>(m, window[0]), wide(32));
    product = b.make<arith::AddIOp>(product, b.make<arith::MulIOp>(m, window[1]));
    Value rest = b.make<arith::ShRUIOp>(b.make<arith::MulIOp>(m, window[2]), wide(32));
    product = b.make<arith::AddIOp>(product, rest);
    Value k = b.make<arith::ShRUIOp>(b.make<arith::AddIOp>(product, wide(int64_t(1) << 61)), wide(62));
    Value fraction = b.make<arith::SubIOp>(product, b.make<arith::ShLIOp>(k, wide(62)));
    return withSign(b.make<arith::TruncIOp>(b.i32(), k), radiansOf(fraction));
  }

  /// f64 holds the leading bits of a fraction that begins with 30 zeros, the most of any f32.
  Value radiansOf(Value fraction) {
    Type f64 = b.typeOf(b.builder.getF64Type());
    Value factor = b.constant(b.builder.getF64FloatAttr(std::ldexp(M_PI / 2, -62)), f64);
    Value r = b.make<arith::MulFOp>(b.make<arith::SIToFPOp>(f64, fraction), factor);
    return b.make<arith::TruncFOp>(b.type, r);
  }

  /// From |x| to x; infinity and NaN have no quadrant.
  Quadrant withSign(Value k, Value r) {
    Value isNegative = b.isLess(x, b.number(0));
    Value isFinite = b.isLess(b.abs(x), b.number(std::numeric_limits<float>::infinity()));
    r = b.select(isNegative, b.neg(r), r);
    r = b.select(isFinite, r, b.number(std::numeric_limits<float>::quiet_NaN()));
    return {b.select(isNegative, b.make<arith::SubIOp>(b.integer(0), k), k), r};
  }

  FloatBuilder &b;
  Value x;
};

/// sin(x + turns pi/2).
Value expandSine(FloatBuilder &b, Value x, int32_t turns) {
  Quadrant quadrant = ArgumentReduction(b, x).run();
  Value r = quadrant.r, square = b.mul(r, r);
  Value tail =
      b.polynomial(square, {2.71831149398982e-6f, -1.98393348360966e-4f, 8.33332938588946e-3f, -1.66666666416265e-1f});
  Value sine = b.fma(b.mul(r, square), tail, r);
  Value cosine = b.polynomial(square, {2.44331571e-5f, -1.38873162e-3f, 4.16666456e-2f, -0.5f, 1});
  Value k = b.make<arith::AddIOp>(quadrant.k, b.integer(turns));
  Value isOdd = b.make<arith::CmpIOp>(arith::CmpIPredicate::ne, b.make<arith::AndIOp>(k, b.integer(1)), b.integer(0));
  Value sign = b.make<arith::ShLIOp>(b.make<arith::AndIOp>(k, b.integer(2)), b.integer(30));
  return b.fromBits(b.make<arith::XOrIOp>(b.bitsOf(b.select(isOdd, cosine, sine)), sign));
}

struct ExpandSin : F32Pattern<math::SinOp> {
  using F32Pattern::F32Pattern;
  Value expand(FloatBuilder &b, math::SinOp op) const final { return expandSine(b, op.getOperand(), 0); }
};

struct ExpandCos : F32Pattern<math::CosOp> {
  using F32Pattern::F32Pattern;
  Value expand(FloatBuilder &b, math::CosOp op) const final { return expandSine(b, op.getOperand(), 1); }
};

} // namespace

void ds::addSineAndCosine(RewritePatternSet &patterns) {
  patterns.add<ExpandSin, ExpandCos>(patterns.getContext(), kOwnBenefit);
}
