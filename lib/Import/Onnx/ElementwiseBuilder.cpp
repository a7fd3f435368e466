// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// The elementwise primitives of TensorBuilder.

#include "TensorBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace ds;
using namespace ds::onnx_import;

Tensor TensorBuilder::constantLike(Value like, double value) {
  auto type = mlir::cast<RankedTensorType>(like.getType());
  return Tensor(materialize(makeSplat(elementOf(type.getElementType()), type.getShape(), value)));
}

/// Brings numbers that are held wider than `element` back into its range, as its own arithmetic would have.
Tensor TensorBuilder::wrap(const Tensor &input, Element element) {
  auto range = rangeOfNarrow(element);
  if (!range)
    return input.as(element);
  auto [low, high] = *range;
  Value mask = constantLike(input.getValue(), high - low - 1).getValue(), value = input.getValue();
  if (low == 0)
    return Tensor(arith::AndIOp::create(builder, loc(), value, mask)).as(element);
  // ((x - low) mod 2^bits) + low, so that the lowest number comes after the highest.
  Value lowest = constantLike(value, low).getValue();
  Value fromLow = arith::AndIOp::create(builder, loc(), arith::SubIOp::create(builder, loc(), value, lowest), mask);
  return Tensor(arith::AddIOp::create(builder, loc(), fromLow, lowest)).as(element);
}

//===----------------------------------------------------------------------===//
// Unary
//===----------------------------------------------------------------------===//

Tensor TensorBuilder::emitUnary(Unary kind, Value input) {
  Location at = loc();
  Type element = getElementTypeOrSelf(input);
  if (kind == Unary::Not)
    return Tensor(arith::XOrIOp::create(builder, at, input, constantLike(input, 1).getValue()));
  if (element.isInteger()) {
    if (kind == Unary::Neg)
      return Tensor(arith::SubIOp::create(builder, at, constantLike(input, 0).getValue(), input));
    if (kind == Unary::Abs)
      return Tensor(math::AbsIOp::create(builder, at, input));
    problem = "needs float elements";
    return Tensor(input);
  }
  switch (kind) {
  case Unary::Neg:
    return Tensor(arith::NegFOp::create(builder, at, input));
  case Unary::Abs:
    return Tensor(math::AbsFOp::create(builder, at, input));
  case Unary::Sqrt:
    return Tensor(math::SqrtOp::create(builder, at, input));
  case Unary::Exp:
    return Tensor(math::ExpOp::create(builder, at, input));
  case Unary::Log:
    return Tensor(math::LogOp::create(builder, at, input));
  case Unary::Sin:
    return Tensor(math::SinOp::create(builder, at, input));
  case Unary::Cos:
    return Tensor(math::CosOp::create(builder, at, input));
  case Unary::Tanh:
    return Tensor(math::TanhOp::create(builder, at, input));
  case Unary::Erf:
    return Tensor(math::ErfOp::create(builder, at, input));
  case Unary::Floor:
    return Tensor(math::FloorOp::create(builder, at, input));
  case Unary::Ceil:
    return Tensor(math::CeilOp::create(builder, at, input));
  case Unary::Round:
    return Tensor(math::RoundEvenOp::create(builder, at, input));
  default:
    return Tensor(arith::DivFOp::create(builder, at, constantLike(input, 1).getValue(), input));
  }
}

Tensor TensorBuilder::unary(Unary kind, const Tensor &input) {
  if (input.isHost() && mayFold(static_cast<int64_t>(input.getHost().data.size())))
    return hostUnary(kind, input.getHost());
  return wrap(emitUnary(kind, materialize(input)), input.element());
}

//===----------------------------------------------------------------------===//
// Binary
//===----------------------------------------------------------------------===//

template <typename FloatOp, typename IntOp>
static Value createByType(OpBuilder &builder, Location at, Value lhs, Value rhs) {
  if (isa<FloatType>(getElementTypeOrSelf(lhs)))
    return FloatOp::create(builder, at, lhs, rhs);
  return IntOp::create(builder, at, lhs, rhs);
}

Tensor TensorBuilder::emitBinary(Binary kind, Value lhs, Value rhs) {
  Location at = loc();
  bool isReal = isa<FloatType>(getElementTypeOrSelf(lhs));
  switch (kind) {
  case Binary::Add:
    return Tensor(createByType<arith::AddFOp, arith::AddIOp>(builder, at, lhs, rhs));
  case Binary::Sub:
    return Tensor(createByType<arith::SubFOp, arith::SubIOp>(builder, at, lhs, rhs));
  case Binary::Mul:
    return Tensor(createByType<arith::MulFOp, arith::MulIOp>(builder, at, lhs, rhs));
  case Binary::Div:
    return Tensor(createByType<arith::DivFOp, arith::DivSIOp>(builder, at, lhs, rhs));
  case Binary::Remainder:
    return Tensor(createByType<arith::RemFOp, arith::RemSIOp>(builder, at, lhs, rhs));
  case Binary::Min:
    return Tensor(createByType<arith::MinimumFOp, arith::MinSIOp>(builder, at, lhs, rhs));
  case Binary::Max:
    return Tensor(createByType<arith::MaximumFOp, arith::MaxSIOp>(builder, at, lhs, rhs));
  case Binary::Pow:
    if (isReal)
      return Tensor(math::PowFOp::create(builder, at, lhs, rhs));
    problem = "needs float elements";
    return Tensor(lhs);
  case Binary::Mod: {
    if (isReal)
      return Tensor(arith::RemFOp::create(builder, at, lhs, rhs));
    Value quotient = arith::FloorDivSIOp::create(builder, at, lhs, rhs);
    return Tensor(arith::SubIOp::create(builder, at, lhs, arith::MulIOp::create(builder, at, quotient, rhs)));
  }
  case Binary::And:
    return Tensor(arith::AndIOp::create(builder, at, lhs, rhs));
  case Binary::Or:
    return Tensor(arith::OrIOp::create(builder, at, lhs, rhs));
  case Binary::Xor:
    return Tensor(arith::XOrIOp::create(builder, at, lhs, rhs));
  }
  return Tensor(lhs);
}

Tensor TensorBuilder::binary(Binary kind, const Tensor &lhs, const Tensor &rhs) {
  Dims shape = *broadcastShapes(lhs.shape(), rhs.shape());
  if (lhs.isHost() && rhs.isHost() && mayFold(*countOf(shape)))
    return hostBinary(kind, hostBroadcast(lhs.getHost(), shape), hostBroadcast(rhs.getHost(), shape));
  return wrap(emitBinary(kind, broadcastValue(lhs, shape), broadcastValue(rhs, shape)), lhs.element());
}

Tensor TensorBuilder::compare(Comparison kind, const Tensor &lhs, const Tensor &rhs) {
  Dims shape = *broadcastShapes(lhs.shape(), rhs.shape());
  if (lhs.isHost() && rhs.isHost() && mayFold(*countOf(shape)))
    return hostCompare(kind, hostBroadcast(lhs.getHost(), shape), hostBroadcast(rhs.getHost(), shape));
  using arith::CmpFPredicate;
  using arith::CmpIPredicate;
  static constexpr CmpFPredicate floats[] = {CmpFPredicate::OEQ, CmpFPredicate::OLT, CmpFPredicate::OLE,
                                             CmpFPredicate::OGT, CmpFPredicate::OGE};
  static constexpr CmpIPredicate ints[] = {CmpIPredicate::eq, CmpIPredicate::slt, CmpIPredicate::sle,
                                           CmpIPredicate::sgt, CmpIPredicate::sge};
  Value left = broadcastValue(lhs, shape), right = broadcastValue(rhs, shape);
  unsigned which = static_cast<unsigned>(kind);
  if (isFloat(lhs.element()))
    return Tensor(arith::CmpFOp::create(builder, loc(), floats[which], left, right));
  return Tensor(arith::CmpIOp::create(builder, loc(), ints[which], left, right));
}

Tensor TensorBuilder::select(const Tensor &condition, const Tensor &onTrue, const Tensor &onFalse) {
  Dims shape = *broadcastShapes(condition.shape(), *broadcastShapes(onTrue.shape(), onFalse.shape()));
  bool allHost = condition.isHost() && onTrue.isHost() && onFalse.isHost();
  if (allHost && mayFold(*countOf(shape)))
    return hostSelect(hostBroadcast(condition.getHost(), shape), hostBroadcast(onTrue.getHost(), shape),
                      hostBroadcast(onFalse.getHost(), shape));
  return Tensor(arith::SelectOp::create(builder, loc(), broadcastValue(condition, shape), broadcastValue(onTrue, shape),
                                        broadcastValue(onFalse, shape)))
      .as(onTrue.element());
}

Tensor TensorBuilder::bounded(const Tensor &input, const Tensor &lower, const Tensor &upper, bool boundsWin) {
  Tensor result = input;
  if (lower)
    result = select(compare(boundsWin ? Comparison::LessOrEqual : Comparison::Less, result, lower), lower, result);
  if (upper)
    result =
        select(compare(boundsWin ? Comparison::GreaterOrEqual : Comparison::Greater, result, upper), upper, result);
  return result;
}

//===----------------------------------------------------------------------===//
// Casts
//===----------------------------------------------------------------------===//

/// Between types that programs hold.
Tensor TensorBuilder::emitCast(Value input, Element from, Element to) {
  Location at = loc();
  RankedTensorType target = type(to, mlir::cast<RankedTensorType>(input.getType()).getShape());
  if (from == to || target == input.getType()) // the second: to a type that no program holds
    return Tensor(input);
  if (to == Element::Bool) {
    Value zero = constantLike(input, 0).getValue();
    if (isFloat(from))
      return Tensor(arith::CmpFOp::create(builder, at, arith::CmpFPredicate::UNE, input, zero));
    return Tensor(arith::CmpIOp::create(builder, at, arith::CmpIPredicate::ne, input, zero));
  }
  if (from == Element::Bool)
    return isFloat(to) ? emit<arith::UIToFPOp>(target, input) : emit<arith::ExtUIOp>(target, input);
  if (isFloat(from) != isFloat(to))
    return isFloat(to) ? emit<arith::SIToFPOp>(target, input) : emit<arith::FPToSIOp>(target, input);
  unsigned before = bytesOf(from), after = bytesOf(to);
  if (isFloat(from) && before == after) // f16 and bf16
    return emit<arith::TruncFOp>(target, emit<arith::ExtFOp>(type(Element::F32, target.getShape()), input).getValue());
  if (isFloat(from))
    return after > before ? emit<arith::ExtFOp>(target, input) : emit<arith::TruncFOp>(target, input);
  return after > before ? emit<arith::ExtSIOp>(target, input) : emit<arith::TruncIOp>(target, input);
}

Tensor TensorBuilder::cast(const Tensor &input, Element element) {
  if (input.element() == element)
    return input;
  if (input.isHost() && mayFold(static_cast<int64_t>(input.getHost().data.size())))
    return hostCast(input.getHost(), element);
  return wrap(emitCast(materialize(input), heldOf(input.element()), heldOf(element)), element);
}
