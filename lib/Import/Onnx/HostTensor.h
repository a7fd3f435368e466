// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Tensors known at import: shapes, positions, masks, rotary tables, and what is computed from them.

#ifndef DS_IMPORT_ONNX_HOST_TENSOR_H
#define DS_IMPORT_ONNX_HOST_TENSOR_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

#include <optional>
#include <vector>

namespace ds::onnx_import {

using Dims = llvm::SmallVector<int64_t, 6>;
using DimsRef = llvm::ArrayRef<int64_t>;

/// The element types of ONNX tensors that are numbers.
enum class Element : uint8_t { Bool, I8, I16, I32, I64, U8, U16, U32, U64, F16, BF16, F32, F64 };

/// The element type of a TensorProto.data_type; none if it is not a number.
std::optional<Element> elementOf(int32_t onnxType);
/// The element type of a program's type, as it is held.
Element elementOf(mlir::Type type);
bool isFloat(Element element);
bool isUnsigned(Element element);
unsigned bytesOf(Element element);
/// How a program holds elements: as they are, but for integers that are narrower than 32 bits or have no sign, which
/// are held as the next wider of i32 and i64 and wrap as their own type does. So the program has neither unsigned ops
/// nor widths that few CPUs compute in. There is no wider type for u64.
Element heldOf(Element element);
/// As the MLIR type that holds them; null for u64.
mlir::Type typeOf(Element element, mlir::MLIRContext *context);
/// The numbers of a narrow integer type: at least the first, less than the second. Empty for others.
std::optional<std::pair<int64_t, int64_t>> rangeOfNarrow(Element element);
/// As users read it: f32, i64, u8, bool.
llvm::StringRef nameOf(Element element);

/// The dims from `begin` to before `end`.
inline Dims dimRange(int64_t begin, int64_t end) {
  Dims dims;
  for (int64_t dim = begin; dim < end; ++dim)
    dims.push_back(dim);
  return dims;
}

/// The number of elements; none if a dim is negative or the count (or its bytes) does not fit.
std::optional<int64_t> countOf(DimsRef shape);

/// Larger constants are not computed at import: 64 MiB of f32.
inline constexpr int64_t kMaxFoldedElements = int64_t(16) << 20;
/// Nor more than these in all, as each takes time and 8 bytes of memory; what is left is computed by the program.
inline constexpr int64_t kMaxFoldedInAll = int64_t(256) << 20;
/// Shapes, positions and the like are always computed.
inline constexpr int64_t kAlwaysFoldedElements = 4096;

/// An element: an integer (bool: 0 or 1), or a float that has been rounded to its type.
union Number {
  int64_t integer;
  double real;
};

/// A tensor of numbers; a splat holds one.
struct HostTensor {
  Element element = Element::F32;
  Dims shape;
  std::vector<Number> data; ///< row-major; one entry if all are equal

  int64_t count() const { return *countOf(shape); }
  bool isSplat() const { return data.size() == 1; }
  Number at(int64_t i) const { return data[isSplat() ? 0 : i]; }
  double real(int64_t i) const { return isFloat(element) ? at(i).real : static_cast<double>(at(i).integer); }
  int64_t integer(int64_t i) const { return at(i).integer; }
};

/// `value` as an element of a type: rounded to nearest even, or truncated and wrapped.
Number roundTo(Element element, double value);
Number wrapTo(Element element, int64_t value);
/// `from` converted as ONNX's Cast does.
Number convert(Number from, Element source, Element target);

/// A 1-D i64 tensor, and a scalar or splat.
HostTensor makeInts(llvm::ArrayRef<int64_t> values);
HostTensor makeSplat(Element element, DimsRef shape, double value);

/// Little-endian bytes as a tensor. The bytes must have the right length.
HostTensor decodeBytes(Element element, DimsRef shape, llvm::StringRef bytes);

/// As an attribute; the element type must have an MLIR type.
mlir::DenseElementsAttr toAttribute(const HostTensor &tensor, mlir::MLIRContext *context);

} // namespace ds::onnx_import

#endif // DS_IMPORT_ONNX_HOST_TENSOR_H
