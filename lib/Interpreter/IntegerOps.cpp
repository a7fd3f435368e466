// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// Elementwise ops on integers. Elements are kept signed, single bits as 0 and 1.

#include "Semantics.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <limits>

using namespace mlir;
using namespace ds;

/// `value` without its sign.
static uint64_t bitsOf(int64_t value, unsigned width) {
  return static_cast<uint64_t>(value) & (~uint64_t(0) >> (64 - width));
}

template <typename Function> static LogicalResult mapInts(LocalCall &call, Function function) {
  const unsigned from = call.operandWidth(0), to = call.resultWidth();
  if (call.operand(0).size() != call.result().size())
    return call.fail("operand must have the " + Twine(call.result().size()) + " local elements of the result");
  for (int64_t i = 0, size = call.result().size(); i < size; ++i)
    call.result().ints[i] = wrapInteger(function(call.operand(0).ints[i], from), to);
  return success();
}

/// `function(a, b, width)` gives the bits of the result.
template <typename Function> static LogicalResult zipInts(LocalCall &call, Function function) {
  const unsigned from = call.operandWidth(0), to = call.resultWidth();
  const DenseTensor &a = call.operand(0), &b = call.operand(1);
  if (a.size() != call.result().size() || b.size() != a.size())
    return call.fail("operands must have the " + Twine(call.result().size()) + " local elements of the result");
  for (int64_t i = 0, size = a.size(); i < size; ++i)
    call.result().ints[i] = wrapInteger(function(a.ints[i], b.ints[i], from), to);
  return success();
}

/// Division: undefined on a zero divisor, which is an error here.
template <typename Function> static LogicalResult divideInts(LocalCall &call, Function function) {
  for (int64_t i = 0; i < call.operand(1).size(); ++i)
    if (call.operand(1).ints[i] == 0)
      return call.fail("divisor must not be zero, got zero at local element " + Twine(i));
  return zipInts(call, function);
}

static int64_t truncatedQuotient(int64_t a, int64_t b) {
  // The one overflow wraps.
  return b == -1 ? static_cast<int64_t>(0 - static_cast<uint64_t>(a)) : a / b;
}

static int64_t remainder(int64_t a, int64_t b) { return b == -1 ? 0 : a % b; }

static int64_t floorQuotient(int64_t a, int64_t b) {
  return truncatedQuotient(a, b) - (remainder(a, b) != 0 && (a < 0) != (b < 0));
}

static bool compare(arith::CmpIPredicate predicate, int64_t a, int64_t b, unsigned width) {
  const uint64_t x = bitsOf(a, width), y = bitsOf(b, width);
  // The signed value of a set single bit is -1.
  const int64_t s = width == 1 ? -a : a, t = width == 1 ? -b : b;
  switch (predicate) {
  case arith::CmpIPredicate::eq:
    return x == y;
  case arith::CmpIPredicate::ne:
    return x != y;
  case arith::CmpIPredicate::slt:
    return s < t;
  case arith::CmpIPredicate::sle:
    return s <= t;
  case arith::CmpIPredicate::sgt:
    return s > t;
  case arith::CmpIPredicate::sge:
    return s >= t;
  case arith::CmpIPredicate::ult:
    return x < y;
  case arith::CmpIPredicate::ule:
    return x <= y;
  case arith::CmpIPredicate::ugt:
    return x > y;
  case arith::CmpIPredicate::uge:
    return x >= y;
  }
  return false;
}

static LogicalResult cmpi(LocalCall &call) {
  const arith::CmpIPredicate predicate = cast<arith::CmpIOp>(call.op).getPredicate();
  return zipInts(
      call, [predicate](int64_t a, int64_t b, unsigned width) -> int64_t { return compare(predicate, a, b, width); });
}

static void addArithmetic(SemanticsTable &table) {
  constexpr OnFlat flat = OnFlat::Allowed;
  using U = uint64_t;
  table.add<arith::AddIOp>([](LocalCall &c) { return zipInts(c, [](U a, U b, unsigned) { return a + b; }); }, flat);
  table.add<arith::SubIOp>([](LocalCall &c) { return zipInts(c, [](U a, U b, unsigned) { return a - b; }); }, flat);
  table.add<arith::MulIOp>([](LocalCall &c) { return zipInts(c, [](U a, U b, unsigned) { return a * b; }); }, flat);
  table.add<arith::AndIOp>([](LocalCall &c) { return zipInts(c, [](U a, U b, unsigned) { return a & b; }); }, flat);
  table.add<arith::OrIOp>([](LocalCall &c) { return zipInts(c, [](U a, U b, unsigned) { return a | b; }); }, flat);
  table.add<arith::XOrIOp>([](LocalCall &c) { return zipInts(c, [](U a, U b, unsigned) { return a ^ b; }); }, flat);
  table.add<arith::MaxSIOp>(
      [](LocalCall &c) { return zipInts(c, [](int64_t a, int64_t b, unsigned) { return std::max(a, b); }); }, flat);
  table.add<arith::MinSIOp>(
      [](LocalCall &c) { return zipInts(c, [](int64_t a, int64_t b, unsigned) { return std::min(a, b); }); }, flat);
  table.add<arith::DivSIOp>(
      [](LocalCall &c) {
        return divideInts(c, [](int64_t a, int64_t b, unsigned) { return truncatedQuotient(a, b); });
      },
      flat);
  table.add<arith::RemSIOp>(
      [](LocalCall &c) { return divideInts(c, [](int64_t a, int64_t b, unsigned) { return remainder(a, b); }); }, flat);
  table.add<arith::FloorDivSIOp>(
      [](LocalCall &c) { return divideInts(c, [](int64_t a, int64_t b, unsigned) { return floorQuotient(a, b); }); },
      flat);
  table.add<arith::CeilDivSIOp>(
      [](LocalCall &c) {
        return divideInts(c,
                          [](int64_t a, int64_t b, unsigned) { return floorQuotient(a, b) + (remainder(a, b) != 0); });
      },
      flat);
  table.add<arith::DivUIOp>(
      [](LocalCall &c) {
        return divideInts(c, [](int64_t a, int64_t b, unsigned w) { return bitsOf(a, w) / bitsOf(b, w); });
      },
      flat);
  table.add<arith::RemUIOp>(
      [](LocalCall &c) {
        return divideInts(c, [](int64_t a, int64_t b, unsigned w) { return bitsOf(a, w) % bitsOf(b, w); });
      },
      flat);
  table.add<arith::CmpIOp>(cmpi, flat);
  table.add<math::AbsIOp>(
      [](LocalCall &c) {
        return mapInts(
            c, [](int64_t x, unsigned) { return x < 0 ? static_cast<int64_t>(0 - static_cast<uint64_t>(x)) : x; });
      },
      flat);
}

static void addConversions(SemanticsTable &table) {
  constexpr OnFlat flat = OnFlat::Allowed;
  const Semantics keepSign = [](LocalCall &c) {
    return mapInts(c, [](int64_t x, unsigned from) { return from == 1 ? -x : x; });
  };
  const Semantics dropSign = [](LocalCall &c) {
    return mapInts(c, [](int64_t x, unsigned from) { return bitsOf(x, from); });
  };
  table.add<arith::ExtSIOp>(keepSign, flat);
  table.add<arith::IndexCastOp>(keepSign, flat);
  table.add<arith::ExtUIOp>(dropSign, flat);
  table.add<arith::IndexCastUIOp>(dropSign, flat);
  table.add<arith::TruncIOp>([](LocalCall &c) { return mapInts(c, [](int64_t x, unsigned) { return x; }); }, flat);
}

void ds::addIntegerOps(SemanticsTable &table) {
  addArithmetic(table);
  addConversions(table);
}
