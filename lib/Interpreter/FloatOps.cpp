// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// Elementwise ops on floats, and conversions between floats and integers.

#include "Semantics.h"

#include "ds/Dialect/DsDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>

using namespace mlir;
using namespace ds;

/// Checks that the operands have as many elements as the result.
static LogicalResult requireAlike(const LocalCall &call) {
  for (const DenseTensor *operand : call.operands)
    if (operand->size() != call.results[0].size())
      return call.fail("operands must have the " + Twine(call.results[0].size()) +
                       " local elements of the result, got " + Twine(operand->size()));
  return success();
}

template <typename Function> static LogicalResult mapFloats(LocalCall &call, Function function) {
  if (failed(requireAlike(call)))
    return failure();
  for (int64_t i = 0, size = call.result().size(); i < size; ++i)
    call.result().floats[i] = function(call.operand(0).floats[i]);
  return success();
}

template <typename Function> static LogicalResult zipFloats(LocalCall &call, Function function) {
  if (failed(requireAlike(call)))
    return failure();
  for (int64_t i = 0, size = call.result().size(); i < size; ++i)
    call.result().floats[i] = function(call.operand(0).floats[i], call.operand(1).floats[i]);
  return success();
}

static LogicalResult fma(LocalCall &call) {
  if (failed(requireAlike(call)))
    return failure();
  for (int64_t i = 0, size = call.result().size(); i < size; ++i)
    call.result().floats[i] = std::fma(call.operand(0).floats[i], call.operand(1).floats[i], call.operand(2).floats[i]);
  return success();
}

template <typename Function> static LogicalResult testFloats(LocalCall &call, Function function) {
  if (failed(requireAlike(call)))
    return failure();
  for (int64_t i = 0, size = call.result().size(); i < size; ++i)
    call.result().ints[i] = function(call.operand(0).floats[i]);
  return success();
}

static bool compare(arith::CmpFPredicate predicate, double a, double b) {
  const bool isUnordered = std::isnan(a) || std::isnan(b);
  switch (predicate) {
  case arith::CmpFPredicate::AlwaysFalse:
    return false;
  case arith::CmpFPredicate::AlwaysTrue:
    return true;
  case arith::CmpFPredicate::OEQ:
    return a == b;
  case arith::CmpFPredicate::OGT:
    return a > b;
  case arith::CmpFPredicate::OGE:
    return a >= b;
  case arith::CmpFPredicate::OLT:
    return a < b;
  case arith::CmpFPredicate::OLE:
    return a <= b;
  case arith::CmpFPredicate::ONE:
    return !isUnordered && a != b;
  case arith::CmpFPredicate::ORD:
    return !isUnordered;
  case arith::CmpFPredicate::UEQ:
    return isUnordered || a == b;
  case arith::CmpFPredicate::UGT:
    return isUnordered || a > b;
  case arith::CmpFPredicate::UGE:
    return isUnordered || a >= b;
  case arith::CmpFPredicate::ULT:
    return isUnordered || a < b;
  case arith::CmpFPredicate::ULE:
    return isUnordered || a <= b;
  case arith::CmpFPredicate::UNE:
    return isUnordered || a != b;
  case arith::CmpFPredicate::UNO:
    return isUnordered;
  }
  return false;
}

static LogicalResult cmpf(LocalCall &call) {
  if (failed(requireAlike(call)))
    return failure();
  const arith::CmpFPredicate predicate = cast<arith::CmpFOp>(call.op).getPredicate();
  for (int64_t i = 0, size = call.result().size(); i < size; ++i)
    call.result().ints[i] = compare(predicate, call.operand(0).floats[i], call.operand(1).floats[i]);
  return success();
}

/// select and ds.where, of any element type; the condition may be one scalar.
static LogicalResult select(LocalCall &call) {
  const DenseTensor &condition = call.operand(0);
  const bool isScalar = !isa<RankedTensorType>(call.op->getOperand(0).getType());
  DenseTensor &result = call.result();
  for (int64_t i = 0, size = result.size(); i < size; ++i) {
    if (condition.size() <= (isScalar ? 0 : i) || call.operand(1).size() != size || call.operand(2).size() != size)
      return call.fail("operands must have the " + Twine(size) + " local elements of the result");
    copyElement(result, i, call.operand(condition.ints[isScalar ? 0 : i] ? 1 : 2), i);
  }
  return success();
}

/// The integer of `width` bits nearest to zero from `value`; saturates where the conversion is undefined, NaN gives 0.
static int64_t toInteger(double value, unsigned width) {
  if (std::isnan(value))
    return 0;
  const double bound = std::ldexp(1.0, width - 1);
  const double whole = std::trunc(value);
  if (width == 1)
    return whole != 0;
  if (whole >= bound)
    return wrapInteger(static_cast<int64_t>(~uint64_t(0) >> (65 - width)), width);
  if (whole < -bound)
    return static_cast<int64_t>(-bound);
  return static_cast<int64_t>(whole);
}

static LogicalResult floatToInteger(LocalCall &call) {
  const unsigned width = call.resultWidth();
  return testFloats(call, [width](double x) { return toInteger(x, width); });
}

static LogicalResult integerToFloat(LocalCall &call) {
  if (failed(requireAlike(call)))
    return failure();
  const unsigned width = call.operandWidth(0);
  const bool isSigned = isa<arith::SIToFPOp>(call.op);
  for (int64_t i = 0, size = call.result().size(); i < size; ++i) {
    const int64_t value = call.operand(0).ints[i];
    const uint64_t bits = static_cast<uint64_t>(value) & (~uint64_t(0) >> (64 - width));
    // The signed value of a set single bit is -1.
    call.result().floats[i] = !isSigned    ? static_cast<double>(bits)
                              : width == 1 ? -static_cast<double>(value)
                                           : static_cast<double>(value);
  }
  return success();
}

static double maximum(double a, double b) { return foldFloats(ReduceKind::Max, a, b); }
static double minimum(double a, double b) { return foldFloats(ReduceKind::Min, a, b); }

static void addArithmetic(SemanticsTable &table) {
  constexpr OnFlat flat = OnFlat::Allowed;
  const Semantics product = [](LocalCall &c) { return zipFloats(c, [](double a, double b) { return a * b; }); };
  const Semantics quotient = [](LocalCall &c) { return zipFloats(c, [](double a, double b) { return a / b; }); };
  const Semantics identity = [](LocalCall &c) { return mapFloats(c, [](double x) { return x; }); };
  table.add<arith::AddFOp>([](LocalCall &c) { return zipFloats(c, [](double a, double b) { return a + b; }); }, flat);
  table.add<arith::SubFOp>([](LocalCall &c) { return zipFloats(c, [](double a, double b) { return a - b; }); }, flat);
  table.add<arith::MulFOp>(product, flat);
  table.add<ScaleOp>(product, flat);
  table.add<arith::DivFOp>(quotient, flat);
  table.add<DivideOp>(quotient, flat);
  table.add<arith::RemFOp>(
      [](LocalCall &c) { return zipFloats(c, [](double a, double b) { return std::fmod(a, b); }); }, flat);
  table.add<arith::NegFOp>([](LocalCall &c) { return mapFloats(c, [](double x) { return -x; }); }, flat);
  table.add<arith::MaximumFOp>([](LocalCall &c) { return zipFloats(c, maximum); }, flat);
  table.add<arith::MinimumFOp>([](LocalCall &c) { return zipFloats(c, minimum); }, flat);
  table.add<arith::MaxNumFOp>(
      [](LocalCall &c) { return zipFloats(c, [](double a, double b) { return std::fmax(a, b); }); }, flat);
  table.add<arith::MinNumFOp>(
      [](LocalCall &c) { return zipFloats(c, [](double a, double b) { return std::fmin(a, b); }); }, flat);
  table.add<arith::ExtFOp>(identity, flat);
  table.add<arith::TruncFOp>(identity, flat);
  table.add<arith::CmpFOp>(cmpf, flat);
  table.add<arith::SelectOp>(select, flat);
  table.add<WhereOp>(select, flat);
  table.add<arith::FPToSIOp>(floatToInteger, flat);
  table.add<arith::SIToFPOp>(integerToFloat, flat);
  table.add<arith::UIToFPOp>(integerToFloat, flat);
}

static void addFunctions(SemanticsTable &table) {
  constexpr OnFlat flat = OnFlat::Allowed;
  table.add<math::AbsFOp>([](LocalCall &c) { return mapFloats(c, [](double x) { return std::fabs(x); }); }, flat);
  table.add<math::CeilOp>([](LocalCall &c) { return mapFloats(c, [](double x) { return std::ceil(x); }); }, flat);
  table.add<math::FloorOp>([](LocalCall &c) { return mapFloats(c, [](double x) { return std::floor(x); }); }, flat);
  table.add<math::TruncOp>([](LocalCall &c) { return mapFloats(c, [](double x) { return std::trunc(x); }); }, flat);
  table.add<math::RoundOp>([](LocalCall &c) { return mapFloats(c, [](double x) { return std::round(x); }); }, flat);
  table.add<math::RoundEvenOp>([](LocalCall &c) { return mapFloats(c, [](double x) { return std::nearbyint(x); }); },
                               flat);
  table.add<math::SinOp>([](LocalCall &c) { return mapFloats(c, [](double x) { return std::sin(x); }); }, flat);
  table.add<math::CosOp>([](LocalCall &c) { return mapFloats(c, [](double x) { return std::cos(x); }); }, flat);
  table.add<math::TanOp>([](LocalCall &c) { return mapFloats(c, [](double x) { return std::tan(x); }); }, flat);
  table.add<math::TanhOp>([](LocalCall &c) { return mapFloats(c, [](double x) { return std::tanh(x); }); }, flat);
  table.add<math::ErfOp>([](LocalCall &c) { return mapFloats(c, [](double x) { return std::erf(x); }); }, flat);
  table.add<math::ExpOp>([](LocalCall &c) { return mapFloats(c, [](double x) { return std::exp(x); }); }, flat);
  table.add<math::Exp2Op>([](LocalCall &c) { return mapFloats(c, [](double x) { return std::exp2(x); }); }, flat);
  table.add<math::ExpM1Op>([](LocalCall &c) { return mapFloats(c, [](double x) { return std::expm1(x); }); }, flat);
  table.add<math::FmaOp>(fma, flat);
  table.add<math::LogOp>([](LocalCall &c) { return mapFloats(c, [](double x) { return std::log(x); }); }, flat);
  table.add<math::Log1pOp>([](LocalCall &c) { return mapFloats(c, [](double x) { return std::log1p(x); }); }, flat);
  table.add<math::Log2Op>([](LocalCall &c) { return mapFloats(c, [](double x) { return std::log2(x); }); }, flat);
  table.add<math::SqrtOp>([](LocalCall &c) { return mapFloats(c, [](double x) { return std::sqrt(x); }); }, flat);
  table.add<math::RsqrtOp>([](LocalCall &c) { return mapFloats(c, [](double x) { return 1 / std::sqrt(x); }); }, flat);
  table.add<math::PowFOp>([](LocalCall &c) { return zipFloats(c, [](double a, double b) { return std::pow(a, b); }); },
                          flat);
  table.add<math::CopySignOp>(
      [](LocalCall &c) { return zipFloats(c, [](double a, double b) { return std::copysign(a, b); }); }, flat);
  table.add<math::IsNaNOp>([](LocalCall &c) { return testFloats(c, [](double x) { return std::isnan(x); }); }, flat);
  table.add<math::IsInfOp>([](LocalCall &c) { return testFloats(c, [](double x) { return std::isinf(x); }); }, flat);
  table.add<math::IsFiniteOp>([](LocalCall &c) { return testFloats(c, [](double x) { return std::isfinite(x); }); },
                              flat);
}

void ds::addFloatOps(SemanticsTable &table) {
  addArithmetic(table);
  addFunctions(table);
}
