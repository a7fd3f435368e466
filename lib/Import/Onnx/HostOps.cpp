// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "HostOps.h"

#include <algorithm>
#include <cmath>

using namespace llvm;
using namespace ds;
using namespace ds::onnx_import;

//===----------------------------------------------------------------------===//
// One element
//===----------------------------------------------------------------------===//

static double evaluate(Unary kind, double x) {
  switch (kind) {
  case Unary::Neg:
    return -x;
  case Unary::Abs:
    return std::fabs(x);
  case Unary::Sqrt:
    return std::sqrt(x);
  case Unary::Exp:
    return std::exp(x);
  case Unary::Log:
    return std::log(x);
  case Unary::Sin:
    return std::sin(x);
  case Unary::Cos:
    return std::cos(x);
  case Unary::Tanh:
    return std::tanh(x);
  case Unary::Erf:
    return std::erf(x);
  case Unary::Floor:
    return std::floor(x);
  case Unary::Ceil:
    return std::ceil(x);
  case Unary::Round:
    return std::nearbyint(x);
  case Unary::Reciprocal:
    return 1 / x;
  case Unary::Not:
    return x == 0;
  }
  return x;
}

static int64_t evaluate(Unary kind, int64_t x) {
  switch (kind) {
  case Unary::Neg:
    return static_cast<int64_t>(-static_cast<uint64_t>(x));
  case Unary::Abs:
    return x < 0 ? static_cast<int64_t>(-static_cast<uint64_t>(x)) : x;
  case Unary::Not:
    return x == 0;
  default:
    return x;
  }
}

static double evaluate(Binary kind, double a, double b) {
  switch (kind) {
  case Binary::Add:
    return a + b;
  case Binary::Sub:
    return a - b;
  case Binary::Mul:
    return a * b;
  case Binary::Div:
    return a / b;
  case Binary::Pow:
    return std::pow(a, b);
  case Binary::Mod:
  case Binary::Remainder:
    return std::fmod(a, b);
  case Binary::Min:
    return std::isnan(a) || a < b ? a : b;
  case Binary::Max:
    return std::isnan(a) || a > b ? a : b;
  default:
    return a;
  }
}

/// Integer powers wrap; a negative exponent gives what is left after truncation.
static int64_t power(int64_t base, int64_t exponent) {
  if (exponent < 0)
    return base == 1 ? 1 : base == -1 ? (exponent % 2 ? -1 : 1) : 0;
  uint64_t result = 1;
  for (uint64_t factor = static_cast<uint64_t>(base); exponent > 0; exponent >>= 1, factor *= factor)
    if (exponent & 1)
      result *= factor;
  return static_cast<int64_t>(result);
}

/// Division truncates; by zero, and the one overflow, give 0 and the dividend.
static int64_t divide(int64_t a, int64_t b) { return b == 0 ? 0 : b == -1 ? evaluate(Unary::Neg, a) : a / b; }

static int64_t remainder(int64_t a, int64_t b) { return b == 0 || b == -1 ? 0 : a % b; }

static int64_t evaluate(Binary kind, int64_t a, int64_t b) {
  uint64_t x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);
  switch (kind) {
  case Binary::Add:
    return static_cast<int64_t>(x + y);
  case Binary::Sub:
    return static_cast<int64_t>(x - y);
  case Binary::Mul:
    return static_cast<int64_t>(x * y);
  case Binary::Div:
    return divide(a, b);
  case Binary::Pow:
    return power(a, b);
  case Binary::Remainder:
    return remainder(a, b);
  case Binary::Mod: {
    int64_t rest = remainder(a, b);
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
  }
  case Binary::Min:
    return std::min(a, b);
  case Binary::Max:
    return std::max(a, b);
  case Binary::And:
    return a & b;
  case Binary::Or:
    return a | b;
  case Binary::Xor:
    return a ^ b;
  }
  return a;
}

template <typename T> static bool evaluate(Comparison kind, T a, T b) {
  switch (kind) {
  case Comparison::Equal:
    return a == b;
  case Comparison::Less:
    return a < b;
  case Comparison::LessOrEqual:
    return a <= b;
  case Comparison::Greater:
    return a > b;
  case Comparison::GreaterOrEqual:
    return a >= b;
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

/// A tensor whose element i is function(i), over all elements or the one of a splat.
template <typename Function> static HostTensor fill(Element element, DimsRef shape, bool isSplat, Function &&function) {
  HostTensor result;
  result.element = element;
  result.shape.assign(shape.begin(), shape.end());
  int64_t count = isSplat ? 1 : result.count();
  result.data.reserve(count);
  for (int64_t i = 0; i < count; ++i)
    result.data.push_back(function(i));
  return result;
}

HostTensor onnx_import::hostUnary(Unary kind, const HostTensor &input) {
  return fill(input.element, input.shape, input.isSplat(), [&](int64_t i) {
    return isFloat(input.element) ? roundTo(input.element, evaluate(kind, input.at(i).real))
                                  : wrapTo(input.element, evaluate(kind, input.at(i).integer));
  });
}

/// The shape of two operands of which one may be a scalar splat of a larger other.
static const HostTensor &larger(const HostTensor &lhs, const HostTensor &rhs) {
  return lhs.data.size() >= rhs.data.size() ? lhs : rhs;
}

HostTensor onnx_import::hostBinary(Binary kind, const HostTensor &lhs, const HostTensor &rhs) {
  bool isSplat = lhs.isSplat() && rhs.isSplat();
  return fill(lhs.element, larger(lhs, rhs).shape, isSplat, [&](int64_t i) {
    return isFloat(lhs.element) ? roundTo(lhs.element, evaluate(kind, lhs.at(i).real, rhs.real(i)))
                                : wrapTo(lhs.element, evaluate(kind, lhs.at(i).integer, rhs.at(i).integer));
  });
}

HostTensor onnx_import::hostCompare(Comparison kind, const HostTensor &lhs, const HostTensor &rhs) {
  bool isSplat = lhs.isSplat() && rhs.isSplat();
  return fill(Element::Bool, larger(lhs, rhs).shape, isSplat, [&](int64_t i) {
    return wrapTo(Element::Bool, isFloat(lhs.element) ? evaluate(kind, lhs.at(i).real, rhs.at(i).real)
                                                      : evaluate(kind, lhs.at(i).integer, rhs.at(i).integer));
  });
}

HostTensor onnx_import::hostSelect(const HostTensor &condition, const HostTensor &onTrue, const HostTensor &onFalse) {
  bool isSplat = condition.isSplat() && onTrue.isSplat() && onFalse.isSplat();
  return fill(onTrue.element, larger(condition, larger(onTrue, onFalse)).shape, isSplat,
              [&](int64_t i) { return condition.integer(i) ? onTrue.at(i) : onFalse.at(i); });
}

HostTensor onnx_import::hostCast(const HostTensor &input, Element element) {
  return fill(element, input.shape, input.isSplat(),
              [&](int64_t i) { return convert(input.at(i), input.element, element); });
}

//===----------------------------------------------------------------------===//
// Movement
//===----------------------------------------------------------------------===//

Dims onnx_import::stridesOf(DimsRef shape) {
  Dims strides(shape.size(), 1);
  for (size_t dim = shape.size(); dim-- > 1;)
    strides[dim - 1] = strides[dim] * std::max<int64_t>(shape[dim], 1);
  return strides;
}

/// Counts through the indices of `shape`, last dim fastest, and keeps the sum of index times stride.
namespace {
class Odometer {
public:
  Odometer(DimsRef shape, DimsRef strides) : shape(shape), strides(strides), index(shape.size(), 0) {}

  int64_t position() const { return current; }
  void advance() {
    for (size_t dim = shape.size(); dim-- > 0;) {
      current += strides[dim];
      if (++index[dim] < shape[dim])
        return;
      current -= strides[dim] * shape[dim];
      index[dim] = 0;
    }
  }

private:
  DimsRef shape, strides;
  Dims index;
  int64_t current = 0;
};
} // namespace

HostTensor onnx_import::hostStrided(const HostTensor &input, DimsRef shape, int64_t offset, DimsRef strides) {
  Odometer odometer(shape, strides);
  return fill(input.element, shape, input.isSplat(), [&](int64_t) {
    Number number = input.at(offset + odometer.position());
    odometer.advance();
    return number;
  });
}

HostTensor onnx_import::hostBroadcast(const HostTensor &input, DimsRef shape) {
  Dims strides(shape.size(), 0), inputStrides = stridesOf(input.shape);
  size_t lead = shape.size() - input.shape.size();
  for (size_t dim = 0; dim < input.shape.size(); ++dim)
    strides[lead + dim] = input.shape[dim] == 1 ? 0 : inputStrides[dim];
  return hostStrided(input, shape, 0, strides);
}

HostTensor onnx_import::hostConcat(ArrayRef<const HostTensor *> inputs, int64_t dim, DimsRef shape) {
  int64_t outer = *countOf(shape.take_front(dim));
  HostTensor result;
  result.element = inputs.front()->element;
  result.shape.assign(shape.begin(), shape.end());
  result.data.reserve(result.count());
  for (int64_t row = 0; row < outer; ++row)
    for (const HostTensor *input : inputs) {
      int64_t width = *countOf(DimsRef(input->shape).drop_front(dim));
      for (int64_t i = 0; i < width; ++i)
        result.data.push_back(input->at(row * width + i));
    }
  return result;
}

HostTensor onnx_import::hostReduce(Fold kind, const HostTensor &input, DimsRef dims, DimsRef shape) {
  static constexpr Binary ops[] = {Binary::Add, Binary::Max, Binary::Min, Binary::Mul};
  Binary op = ops[static_cast<unsigned>(kind)];
  Dims resultStrides(input.shape.size(), 0), strides = stridesOf(shape);
  for (size_t dim = 0, kept = 0; dim < input.shape.size(); ++dim)
    if (!is_contained(dims, static_cast<int64_t>(dim)))
      resultStrides[dim] = strides[kept++];
  double neutral = kind == Fold::Product ? 1 : 0;
  HostTensor result =
      fill(input.element, shape, false, [&](int64_t) { return makeSplat(input.element, {}, neutral).data[0]; });
  std::vector<bool> isSet(result.data.size(), kind == Fold::Sum || kind == Fold::Product);
  Odometer odometer(input.shape, resultStrides);
  for (int64_t i = 0, count = input.count(); i < count; ++i, odometer.advance()) {
    Number &sum = result.data[odometer.position()], next = input.at(i);
    if (!isSet[odometer.position()])
      sum = next;
    else if (isFloat(input.element))
      sum = roundTo(input.element, evaluate(op, sum.real, next.real));
    else
      sum = wrapTo(input.element, evaluate(op, sum.integer, next.integer));
    isSet[odometer.position()] = true;
  }
  return result;
}

HostTensor onnx_import::hostGatherRows(const HostTensor &table, const HostTensor &ids, DimsRef shape) {
  int64_t width = *countOf(DimsRef(table.shape).drop_front());
  return fill(table.element, shape, table.isSplat(), [&](int64_t i) {
    int64_t row = ids.integer(i / width);
    return table.at((row < 0 ? row + table.shape[0] : row) * width + i % width);
  });
}
