// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// What polynomials of f32 are written with: arithmetic on scalars or vectors alike, and on the integers that hold
/// their bits.

#ifndef DS_LIB_CODEGEN_CPU_FLOATBUILDER_H
#define DS_LIB_CODEGEN_CPU_FLOATBUILDER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"

namespace ds {

class FloatBuilder {
public:
  /// `type`: f32 or a vector of it. All values have as many lanes.
  FloatBuilder(mlir::OpBuilder &builder, mlir::Location loc, mlir::Type type)
      : builder(builder), loc(loc), type(type) {}

  mlir::Value number(float value) { return constant(builder.getF32FloatAttr(value), type); }
  mlir::Value add(mlir::Value a, mlir::Value b) { return make<mlir::arith::AddFOp>(a, b); }
  mlir::Value sub(mlir::Value a, mlir::Value b) { return make<mlir::arith::SubFOp>(a, b); }
  mlir::Value mul(mlir::Value a, mlir::Value b) { return make<mlir::arith::MulFOp>(a, b); }
  mlir::Value div(mlir::Value a, mlir::Value b) { return make<mlir::arith::DivFOp>(a, b); }
  mlir::Value fma(mlir::Value a, mlir::Value b, mlir::Value c) { return make<mlir::math::FmaOp>(a, b, c); }
  mlir::Value neg(mlir::Value a) { return make<mlir::arith::NegFOp>(a); }
  mlir::Value abs(mlir::Value a) { return make<mlir::math::AbsFOp>(a); }
  mlir::Value copySign(mlir::Value size, mlir::Value sign) { return make<mlir::math::CopySignOp>(size, sign); }
  mlir::Value compare(mlir::arith::CmpFPredicate predicate, mlir::Value a, mlir::Value b) {
    return make<mlir::arith::CmpFOp>(predicate, a, b);
  }
  mlir::Value isLess(mlir::Value a, mlir::Value b) { return compare(mlir::arith::CmpFPredicate::OLT, a, b); }
  mlir::Value isEqual(mlir::Value a, mlir::Value b) { return compare(mlir::arith::CmpFPredicate::OEQ, a, b); }
  mlir::Value select(mlir::Value condition, mlir::Value a, mlir::Value b) {
    return make<mlir::arith::SelectOp>(condition, a, b);
  }
  /// The lesser and the greater of `x` and `bound`; NaN stays NaN.
  mlir::Value least(mlir::Value x, mlir::Value bound) { return select(isLess(bound, x), bound, x); }
  mlir::Value greatest(mlir::Value x, mlir::Value bound) { return select(isLess(x, bound), bound, x); }
  /// Horner's rule; the highest power first.
  mlir::Value polynomial(mlir::Value x, llvm::ArrayRef<float> coefficients) {
    mlir::Value sum = number(coefficients.front());
    for (float coefficient : coefficients.drop_front())
      sum = fma(sum, x, number(coefficient));
    return sum;
  }

  /// The type of as many lanes of `element`.
  mlir::Type typeOf(mlir::Type element) {
    if (auto vector = mlir::dyn_cast<mlir::VectorType>(type))
      return vector.clone(element);
    return element;
  }
  mlir::Type i32() { return typeOf(builder.getI32Type()); }
  mlir::Value integer(int32_t value) { return constant(builder.getI32IntegerAttr(value), i32()); }
  mlir::Value bitsOf(mlir::Value number) { return make<mlir::arith::BitcastOp>(i32(), number); }
  mlir::Value fromBits(mlir::Value bits) { return make<mlir::arith::BitcastOp>(type, bits); }
  /// 2^n from the bits of 1.5 * 2^23 + bias + n.
  mlir::Value powerOfTwo(mlir::Value shifted) {
    return fromBits(make<mlir::arith::ShLIOp>(bitsOf(shifted), integer(23)));
  }

  mlir::Value constant(mlir::TypedAttr value, mlir::Type of) {
    if (auto vector = mlir::dyn_cast<mlir::VectorType>(of))
      value = mlir::DenseElementsAttr::get(vector, mlir::Attribute(value));
    return make<mlir::arith::ConstantOp>(value);
  }
  template <typename OpT, typename... Args> mlir::Value make(Args &&...args) {
    return OpT::create(builder, loc, std::forward<Args>(args)...).getResult();
  }

  mlir::OpBuilder &builder;
  const mlir::Location loc;
  const mlir::Type type;
};

/// 1.5 * 2^23: what is added to it is rounded to an integer, which stands in its low bits. Subtracting it again leaves
/// the integer as a float.
inline constexpr float kRounder = 12582912.0f;

/// A function of f32 as arithmetic on its operands.
template <typename OpT> struct F32Pattern : mlir::OpRewritePattern<OpT> {
  using mlir::OpRewritePattern<OpT>::OpRewritePattern;
  virtual mlir::Value expand(FloatBuilder &b, OpT op) const = 0;

  llvm::LogicalResult matchAndRewrite(OpT op, mlir::PatternRewriter &rewriter) const final {
    if (!mlir::getElementTypeOrSelf(op.getType()).isF32())
      return rewriter.notifyMatchFailure(op, "is not f32");
    FloatBuilder b(rewriter, op.getLoc(), op.getType());
    rewriter.replaceOp(op, expand(b, op));
    return mlir::success();
  }
};

// One function per file; populateMathApproximationPatterns calls them all.
void addSineAndCosine(mlir::RewritePatternSet &patterns);
void addPower(mlir::RewritePatternSet &patterns);

/// Above the patterns of MLIR for the same ops.
inline constexpr unsigned kOwnBenefit = 10;

} // namespace ds

#endif // DS_LIB_CODEGEN_CPU_FLOATBUILDER_H
