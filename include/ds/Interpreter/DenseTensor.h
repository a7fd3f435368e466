// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Tensors as the interpreter computes with them.

#ifndef DS_INTERPRETER_DENSE_TENSOR_H
#define DS_INTERPRETER_DENSE_TENSOR_H

#include "ds/Layout/Layout.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Types.h"

#include <map>
#include <string>
#include <vector>

namespace ds {

/// The product of `shape`.
int64_t elementCount(const Shape &shape);

/// A dense row-major tensor. All float types are kept as doubles, all integers as int64: signed, i1 as 0 and 1.
struct DenseTensor {
  Shape shape;
  bool isFloat = true;
  std::vector<double> floats; ///< elements if `isFloat`
  std::vector<int64_t> ints;  ///< elements if not

  static DenseTensor zeros(Shape shape, bool isFloat);
  static DenseTensor ofFloats(Shape shape, std::vector<double> elements);
  static DenseTensor ofInts(Shape shape, std::vector<int64_t> elements);

  int64_t size() const { return isFloat ? floats.size() : ints.size(); }
  /// Element `index` as a double.
  double at(int64_t index) const { return isFloat ? floats[index] : static_cast<double>(ints[index]); }
  /// Whether element `index` has the bits of element `otherIndex` of `other`, which must be of the same kind.
  bool sameBits(int64_t index, const DenseTensor &other, int64_t otherIndex) const;
};

/// Global tensors by the name of an input, result or variable.
using TensorMap = std::map<std::string, DenseTensor>;

/// The element type of a tensor type, or the type itself.
mlir::Type elementTypeOf(mlir::Type type);

/// The global elements of a tensor, integer or float attribute.
mlir::FailureOr<DenseTensor> denseTensorOf(mlir::TypedAttr attr);

/// `value` as an integer of `width` bits: sign-extended, one bit as 0 or 1.
int64_t wrapInteger(int64_t value, unsigned width);

/// `value` rounded to the nearest number of a float type, to even on ties.
double roundToType(double value, mlir::Type floatType);

/// The largest |a - b| relative to the largest |a|, which counts as `floor` at least: what is zero but for rounding has
/// no relative error. Infinite if only one of two elements is NaN, or the shapes differ.
double relativeError(const DenseTensor &a, const DenseTensor &b, double floor = 1e-6);

} // namespace ds

#endif // DS_INTERPRETER_DENSE_TENSOR_H
