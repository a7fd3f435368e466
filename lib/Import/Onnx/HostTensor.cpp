// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "HostTensor.h"

#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace llvm;
using namespace ds;
using namespace ds::onnx_import;

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

std::optional<Element> onnx_import::elementOf(int32_t onnxType) {
  switch (onnxType) {
  case 1:
    return Element::F32;
  case 2:
    return Element::U8;
  case 3:
    return Element::I8;
  case 4:
    return Element::U16;
  case 5:
    return Element::I16;
  case 6:
    return Element::I32;
  case 7:
    return Element::I64;
  case 9:
    return Element::Bool;
  case 10:
    return Element::F16;
  case 11:
    return Element::F64;
  case 12:
    return Element::U32;
  case 13:
    return Element::U64;
  case 16:
    return Element::BF16;
  default:
    return std::nullopt;
  }
}

Element onnx_import::elementOf(mlir::Type type) {
  if (type.isF64())
    return Element::F64;
  if (type.isF32())
    return Element::F32;
  if (type.isBF16())
    return Element::BF16;
  if (type.isF16())
    return Element::F16;
  switch (type.getIntOrFloatBitWidth()) {
  case 1:
    return Element::Bool;
  case 8:
    return Element::I8;
  case 16:
    return Element::I16;
  case 32:
    return Element::I32;
  default:
    return Element::I64;
  }
}

bool onnx_import::isFloat(Element element) { return element >= Element::F16; }
bool onnx_import::isUnsigned(Element element) { return element >= Element::U8 && element <= Element::U64; }

unsigned onnx_import::bytesOf(Element element) {
  switch (element) {
  case Element::Bool:
  case Element::I8:
  case Element::U8:
    return 1;
  case Element::I16:
  case Element::U16:
  case Element::F16:
  case Element::BF16:
    return 2;
  case Element::I32:
  case Element::U32:
  case Element::F32:
    return 4;
  default:
    return 8;
  }
}

Element onnx_import::heldOf(Element element) {
  if (element == Element::U32)
    return Element::I64;
  return rangeOfNarrow(element) ? Element::I32 : element;
}

std::optional<std::pair<int64_t, int64_t>> onnx_import::rangeOfNarrow(Element element) {
  switch (element) {
  case Element::I8:
  case Element::I16: {
    int64_t half = int64_t(1) << (8 * bytesOf(element) - 1);
    return std::pair(-half, half);
  }
  case Element::U8:
  case Element::U16:
  case Element::U32:
    return std::pair(int64_t(0), int64_t(1) << 8 * bytesOf(element));
  default:
    return std::nullopt;
  }
}

mlir::Type onnx_import::typeOf(Element element, mlir::MLIRContext *context) {
  switch (heldOf(element)) {
  case Element::Bool:
    return mlir::IntegerType::get(context, 1);
  case Element::I32:
    return mlir::IntegerType::get(context, 32);
  case Element::I64:
    return mlir::IntegerType::get(context, 64);
  case Element::F16:
    return mlir::Float16Type::get(context);
  case Element::BF16:
    return mlir::BFloat16Type::get(context);
  case Element::F32:
    return mlir::Float32Type::get(context);
  case Element::F64:
    return mlir::Float64Type::get(context);
  default:
    return {};
  }
}

StringRef onnx_import::nameOf(Element element) {
  static constexpr StringLiteral names[] = {"bool", "i8",  "i16", "i32",  "i64", "u8", "u16",
                                            "u32",  "u64", "f16", "bf16", "f32", "f64"};
  return names[static_cast<unsigned>(element)];
}

std::optional<int64_t> onnx_import::countOf(DimsRef shape) {
  constexpr int64_t limit = int64_t(1) << 56; // 8 bytes each still fit
  int64_t count = 1;
  bool isEmpty = false;
  for (int64_t size : shape) {
    if (size < 0)
      return std::nullopt;
    isEmpty |= size == 0;
    if (size != 0 && MulOverflow(count, size, count))
      return std::nullopt;
    if (count > limit)
      return std::nullopt;
  }
  return isEmpty ? 0 : count;
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

static const fltSemantics &semanticsOf(Element element) {
  return element == Element::F16 ? APFloat::IEEEhalf() : APFloat::BFloat();
}

Number onnx_import::roundTo(Element element, double value) {
  Number number;
  if (element == Element::F64) {
    number.real = value;
  } else if (element == Element::F32) {
    number.real = static_cast<float>(value);
  } else {
    APFloat rounded(value);
    bool losesInfo = false;
    rounded.convert(semanticsOf(element), APFloat::rmNearestTiesToEven, &losesInfo);
    rounded.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &losesInfo);
    number.real = rounded.convertToDouble();
  }
  return number;
}

Number onnx_import::wrapTo(Element element, int64_t value) {
  Number number;
  unsigned bits = 8 * bytesOf(element);
  if (element == Element::Bool)
    number.integer = value != 0;
  else if (bits == 64)
    number.integer = value;
  else
    number.integer = isUnsigned(element)
                         ? static_cast<int64_t>(static_cast<uint64_t>(value) & maskTrailingOnes<uint64_t>(bits))
                         : SignExtend64(static_cast<uint64_t>(value), bits);
  return number;
}

Number onnx_import::convert(Number from, Element source, Element target) {
  if (isFloat(source) && isFloat(target))
    return roundTo(target, from.real);
  if (isFloat(target))
    return roundTo(target, source == Element::U64 ? static_cast<double>(static_cast<uint64_t>(from.integer))
                                                  : static_cast<double>(from.integer));
  if (!isFloat(source))
    return wrapTo(target, from.integer);
  if (target == Element::Bool)
    return wrapTo(target, from.real != 0);
  // Out of range is undefined in ONNX; saturate, so that nothing here is.
  double whole = std::isnan(from.real) ? 0 : std::trunc(from.real);
  if (whole >= 9223372036854775807.0)
    return wrapTo(target, std::numeric_limits<int64_t>::max());
  if (whole <= -9223372036854775808.0)
    return wrapTo(target, std::numeric_limits<int64_t>::min());
  return wrapTo(target, static_cast<int64_t>(whole));
}

HostTensor onnx_import::makeInts(ArrayRef<int64_t> values) {
  HostTensor tensor;
  tensor.element = Element::I64;
  tensor.shape = {static_cast<int64_t>(values.size())};
  for (int64_t value : values) {
    tensor.data.emplace_back();
    tensor.data.back().integer = value;
  }
  return tensor;
}

HostTensor onnx_import::makeSplat(Element element, DimsRef shape, double value) {
  HostTensor tensor;
  tensor.element = element;
  tensor.shape.assign(shape.begin(), shape.end());
  tensor.data.push_back(isFloat(element) ? roundTo(element, value) : wrapTo(element, static_cast<int64_t>(value)));
  return tensor;
}

//===----------------------------------------------------------------------===//
// Bytes and attributes
//===----------------------------------------------------------------------===//

static Number decodeOne(Element element, const char *at) {
  using namespace support::endian;
  switch (element) {
  case Element::Bool:
    return wrapTo(element, *at != 0);
  case Element::I8:
  case Element::U8:
    return wrapTo(element, static_cast<int8_t>(*at));
  case Element::I16:
  case Element::U16:
    return wrapTo(element, read16le(at));
  case Element::I32:
  case Element::U32:
    return wrapTo(element, read32le(at));
  case Element::I64:
  case Element::U64:
    return wrapTo(element, static_cast<int64_t>(read64le(at)));
  case Element::F32:
    return roundTo(element, bit_cast<float>(read32le(at)));
  case Element::F64:
    return roundTo(element, bit_cast<double>(read64le(at)));
  default: {
    APFloat value(semanticsOf(element), APInt(16, read16le(at)));
    bool losesInfo = false;
    value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &losesInfo);
    return roundTo(element, value.convertToDouble());
  }
  }
}

HostTensor onnx_import::decodeBytes(Element element, DimsRef shape, StringRef bytes) {
  HostTensor tensor;
  tensor.element = element;
  tensor.shape.assign(shape.begin(), shape.end());
  unsigned width = bytesOf(element);
  tensor.data.reserve(bytes.size() / width);
  for (size_t at = 0; at + width <= bytes.size(); at += width)
    tensor.data.push_back(decodeOne(element, bytes.data() + at));
  return tensor;
}

static mlir::DenseElementsAttr floatsToAttribute(const HostTensor &tensor, mlir::RankedTensorType type) {
  if (tensor.element == Element::F64) {
    SmallVector<double> values(llvm::map_range(tensor.data, [](Number number) { return number.real; }));
    return mlir::DenseElementsAttr::get(type, ArrayRef(values));
  }
  if (tensor.element == Element::F32) {
    SmallVector<float> values(
        llvm::map_range(tensor.data, [](Number number) { return static_cast<float>(number.real); }));
    return mlir::DenseElementsAttr::get(type, ArrayRef(values));
  }
  SmallVector<APFloat> values;
  for (Number number : tensor.data) {
    bool losesInfo = false;
    values.emplace_back(number.real);
    values.back().convert(semanticsOf(tensor.element), APFloat::rmNearestTiesToEven, &losesInfo);
  }
  return mlir::DenseElementsAttr::get(type, values);
}

mlir::DenseElementsAttr onnx_import::toAttribute(const HostTensor &tensor, mlir::MLIRContext *context) {
  auto type = mlir::RankedTensorType::get(tensor.shape, typeOf(tensor.element, context));
  if (isFloat(tensor.element))
    return floatsToAttribute(tensor, type);
  if (tensor.element == Element::Bool) {
    SmallVector<bool> values(llvm::map_range(tensor.data, [](Number number) { return number.integer != 0; }));
    return mlir::DenseElementsAttr::get(type, ArrayRef(values));
  }
  Element held = heldOf(tensor.element);
  if (held == Element::I64) {
    SmallVector<int64_t> values(llvm::map_range(tensor.data, [](Number number) { return number.integer; }));
    return mlir::DenseElementsAttr::get(type, ArrayRef(values));
  }
  unsigned bits = 8 * bytesOf(held);
  SmallVector<APInt> values;
  for (Number number : tensor.data)
    values.emplace_back(bits, static_cast<uint64_t>(number.integer), /*isSigned=*/true);
  return mlir::DenseElementsAttr::get(type, values);
}
