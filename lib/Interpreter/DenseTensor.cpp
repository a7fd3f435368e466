// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Interpreter/DenseTensor.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/APFloat.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

using namespace mlir;
using namespace ds;

int64_t ds::elementCount(const Shape &shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t(1), std::multiplies<>());
}

DenseTensor DenseTensor::zeros(Shape shape, bool isFloat) {
  const int64_t size = elementCount(shape);
  if (isFloat)
    return ofFloats(std::move(shape), std::vector<double>(size));
  return ofInts(std::move(shape), std::vector<int64_t>(size));
}

DenseTensor DenseTensor::ofFloats(Shape shape, std::vector<double> elements) {
  assert(elementCount(shape) == static_cast<int64_t>(elements.size()) && "one element per position");
  return DenseTensor{std::move(shape), true, std::move(elements), {}};
}

DenseTensor DenseTensor::ofInts(Shape shape, std::vector<int64_t> elements) {
  assert(elementCount(shape) == static_cast<int64_t>(elements.size()) && "one element per position");
  return DenseTensor{std::move(shape), false, {}, std::move(elements)};
}

bool DenseTensor::sameBits(int64_t index, const DenseTensor &other, int64_t otherIndex) const {
  if (!isFloat)
    return ints[index] == other.ints[otherIndex];
  return std::memcmp(&floats[index], &other.floats[otherIndex], sizeof(double)) == 0;
}

Type ds::elementTypeOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? tensor.getElementType() : type;
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

static double toDouble(APFloat value) {
  bool losesInfo = false;
  value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &losesInfo);
  return value.convertToDouble();
}

static int64_t toInteger(const APInt &value) {
  return value.getBitWidth() == 1 ? value.getZExtValue() : value.getSExtValue();
}

FailureOr<DenseTensor> ds::denseTensorOf(TypedAttr attr) {
  if (auto value = dyn_cast<FloatAttr>(attr))
    return DenseTensor::ofFloats({}, {toDouble(value.getValue())});
  if (auto value = dyn_cast<IntegerAttr>(attr))
    return DenseTensor::ofInts({}, {toInteger(value.getValue())});
  auto elements = dyn_cast<ElementsAttr>(attr);
  if (!elements)
    return failure();
  ArrayRef<int64_t> dims = elements.getShapedType().getShape();
  DenseTensor tensor = DenseTensor::zeros(Shape(dims.begin(), dims.end()), isa<FloatType>(elements.getElementType()));
  if (auto values = elements.tryGetValues<APFloat>()) {
    for (auto [number, value] : llvm::enumerate(*values))
      tensor.floats[number] = toDouble(value);
    return tensor;
  }
  if (auto values = elements.tryGetValues<APInt>()) {
    for (auto [number, value] : llvm::enumerate(*values))
      tensor.ints[number] = toInteger(value);
    return tensor;
  }
  return failure();
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

int64_t ds::wrapInteger(int64_t value, unsigned width) {
  if (width == 1)
    return value & 1;
  if (width >= 64)
    return value;
  const unsigned unused = 64 - width;
  return static_cast<int64_t>(static_cast<uint64_t>(value) << unused) >> unused;
}

double ds::roundToType(double value, Type floatType) {
  if (floatType.isF64())
    return value;
  if (floatType.isF32())
    return static_cast<float>(value);
  APFloat rounded(value);
  bool losesInfo = false;
  rounded.convert(cast<FloatType>(floatType).getFloatSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
  return toDouble(rounded);
}

double ds::relativeError(const DenseTensor &a, const DenseTensor &b, double floor) {
  const double infinity = std::numeric_limits<double>::infinity();
  if (a.shape != b.shape || a.isFloat != b.isFloat)
    return infinity;
  double largest = floor, error = 0;
  for (int64_t i = 0; i < a.size(); ++i) {
    const double x = a.at(i), y = b.at(i);
    if (x == y || (std::isnan(x) && std::isnan(y)))
      continue;
    if (!std::isfinite(x) || !std::isfinite(y))
      return infinity;
    error = std::max(error, std::fabs(x - y));
  }
  for (int64_t i = 0; i < a.size(); ++i)
    if (std::isfinite(a.at(i)))
      largest = std::max(largest, std::fabs(a.at(i)));
  return error / largest;
}
