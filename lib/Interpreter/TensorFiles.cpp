// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Interpreter/TensorFiles.h"

#include "ds/Files/File.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace ds;
using llvm::Error;
using llvm::Expected;

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

namespace {
enum class Number : uint8_t { Float, BFloat, Signed, Unsigned };

/// How elements are stored: a kind of number and its bytes.
struct ElementFormat {
  Number number;
  unsigned bytes;
};
} // namespace

static double readHalf(uint16_t bits, bool isBFloat) {
  APFloat value(isBFloat ? APFloat::BFloat() : APFloat::IEEEhalf(), APInt(16, bits));
  bool losesInfo = false;
  value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &losesInfo);
  return value.convertToDouble();
}

static double readFloat(const char *data, ElementFormat format) {
  using namespace llvm::support::endian;
  if (format.bytes == 8)
    return llvm::bit_cast<double>(read64le(data));
  if (format.bytes == 4)
    return llvm::bit_cast<float>(read32le(data));
  return readHalf(read16le(data), format.number == Number::BFloat);
}

static int64_t readInteger(const char *data, ElementFormat format) {
  uint64_t bits = 0;
  for (unsigned i = 0; i < format.bytes; ++i)
    bits |= static_cast<uint64_t>(static_cast<uint8_t>(data[i])) << (8 * i);
  return format.number == Number::Signed ? wrapInteger(bits, 8 * format.bytes) : static_cast<int64_t>(bits);
}

static Error fail(const Twine &text) { return llvm::createStringError(text); }

/// The number of bytes of a tensor, or an error if it overflows.
static Expected<uint64_t> byteCount(const Shape &shape, ElementFormat format) {
  uint64_t bytes = format.bytes;
  for (int64_t size : shape) {
    bool overflows = size < 0;
    bytes = llvm::SaturatingMultiply(bytes, static_cast<uint64_t>(size), &overflows);
    if (overflows || size < 0)
      return fail("a shape must be countable in 64 bits");
  }
  return bytes;
}

/// `data` must hold exactly the elements of `shape`.
static Expected<DenseTensor> readElements(StringRef data, const Shape &shape, ElementFormat format) {
  Expected<uint64_t> bytes = byteCount(shape, format);
  if (!bytes)
    return bytes.takeError();
  if (*bytes != data.size())
    return fail("a tensor must have " + Twine(*bytes) + " bytes, got " + Twine(data.size()));
  const bool isFloat = format.number == Number::Float || format.number == Number::BFloat;
  DenseTensor tensor = DenseTensor::zeros(shape, isFloat);
  for (int64_t i = 0, size = tensor.size(); i < size; ++i) {
    const char *element = data.data() + i * format.bytes;
    if (isFloat)
      tensor.floats[i] = readFloat(element, format);
    else
      tensor.ints[i] = readInteger(element, format);
  }
  return tensor;
}

static Expected<MappedFile> openFile(const Twine &path) {
  absl::StatusOr<MappedFile> file = MappedFile::open(path.str());
  if (!file.ok())
    return fail(std::string(file.status().message()));
  return *std::move(file);
}

//===----------------------------------------------------------------------===//
// Ranges
//===----------------------------------------------------------------------===//

static Expected<ElementFormat> formatOf(Type type) {
  if (type.isF64() || type.isF32() || type.isF16())
    return ElementFormat{Number::Float, type.getIntOrFloatBitWidth() / 8};
  if (type.isBF16())
    return ElementFormat{Number::BFloat, 2};
  if (type.isInteger(1))
    return ElementFormat{Number::Unsigned, 1};
  if (type.isInteger() && llvm::is_contained({8, 16, 32, 64}, type.getIntOrFloatBitWidth()))
    return ElementFormat{Number::Signed, type.getIntOrFloatBitWidth() / 8};
  return fail("elements of a file must be of f64, f32, f16, bf16, i1, i8, i16, i32 or i64");
}

Expected<DenseTensor> ds::readFileRange(StringRef folder, FileRangeAttr range, RankedTensorType type) {
  Expected<ElementFormat> format = formatOf(type.getElementType());
  if (!format)
    return format.takeError();
  StringRef path = range.getPath();
  if (llvm::sys::path::is_absolute(path) ||
      llvm::is_contained(llvm::make_range(llvm::sys::path::begin(path), llvm::sys::path::end(path)), ".."))
    return fail("path \"" + path + "\" must stay inside the model's folder");
  SmallString<128> full(folder);
  llvm::sys::path::append(full, path);
  auto file = openFile(full);
  if (!file)
    return file.takeError();
  const StringRef bytes = file->bytes();
  const uint64_t size = bytes.size();
  if (range.getOffset() > size || range.getLength() > size - range.getOffset())
    return fail("range [" + Twine(range.getOffset()) + ", +" + Twine(range.getLength()) + ") must be inside file \"" +
                path + "\" of " + Twine(size) + " bytes");
  ArrayRef<int64_t> dims = type.getShape();
  return readElements(bytes.substr(range.getOffset(), range.getLength()), Shape(dims.begin(), dims.end()), *format);
}

//===----------------------------------------------------------------------===//
// .npy
//===----------------------------------------------------------------------===//

/// The text of `key` in the header, from behind its colon.
static StringRef entryOfHeader(StringRef header, StringRef key) {
  const size_t place = header.find(("'" + key + "'").str());
  return place == StringRef::npos ? StringRef() : header.substr(place).split(':').second.ltrim();
}

static Expected<Shape> npyShape(StringRef header) {
  StringRef text = entryOfHeader(header, "shape");
  if (!text.consume_front("("))
    return fail("a .npy header must have a shape");
  Shape shape;
  SmallVector<StringRef> parts;
  text.split(')').first.split(parts, ',', -1, /*KeepEmpty=*/false);
  for (StringRef part : parts) {
    if (part.trim().empty())
      continue;
    if (part.trim().getAsInteger(10, shape.emplace_back()) || shape.back() < 0)
      return fail("a .npy shape must have sizes >= 0, got " + part.trim());
  }
  return shape;
}

static Expected<ElementFormat> npyFormat(StringRef header) {
  StringRef text = entryOfHeader(header, "descr");
  StringRef name = text.consume_front("'") ? text.split('\'').first : StringRef();
  if (name == "|b1")
    return ElementFormat{Number::Unsigned, 1};
  unsigned bytes = 0;
  const bool isSized =
      name.size() == 3 && (name[0] == '<' || name[0] == '|') && !name.substr(2).getAsInteger(10, bytes);
  if (isSized && name[1] == 'f' && llvm::is_contained({2u, 4u, 8u}, bytes))
    return ElementFormat{Number::Float, bytes};
  if (isSized && (name[1] == 'i' || name[1] == 'u') && llvm::is_contained({1u, 2u, 4u, 8u}, bytes))
    return ElementFormat{name[1] == 'i' ? Number::Signed : Number::Unsigned, bytes};
  return fail("a .npy file must hold little-endian floats, integers or bools, got \"" + name + "\"");
}

static Expected<DenseTensor> parseNpy(StringRef data) {
  if (!data.consume_front("\x93NUMPY") || data.size() < 6)
    return fail("must start as a .npy file");
  const bool isLong = data[0] >= 2;
  const uint64_t start = isLong ? 6 : 4;
  const uint64_t length =
      isLong ? llvm::support::endian::read32le(data.data() + 2) : llvm::support::endian::read16le(data.data() + 2);
  if (length > data.size() - start)
    return fail("a .npy header of " + Twine(length) + " bytes must fit the file");
  StringRef header = data.substr(start, length);
  if (!entryOfHeader(header, "fortran_order").starts_with("False"))
    return fail("a .npy file must be in C order");
  Expected<Shape> shape = npyShape(header);
  if (!shape)
    return shape.takeError();
  Expected<ElementFormat> format = npyFormat(header);
  if (!format)
    return format.takeError();
  return readElements(data.substr(start + length), *shape, *format);
}

Expected<DenseTensor> ds::readNpy(StringRef path) {
  auto file = openFile(path);
  if (!file)
    return file.takeError();
  Expected<DenseTensor> tensor = parseNpy(file->bytes());
  if (!tensor)
    return fail("file \"" + path + "\": " + llvm::toString(tensor.takeError()));
  return tensor;
}

//===----------------------------------------------------------------------===//
// .safetensors
//===----------------------------------------------------------------------===//

static std::optional<ElementFormat> findSafetensorsFormat(StringRef name) {
  return llvm::StringSwitch<std::optional<ElementFormat>>(name)
      .Case("F64", ElementFormat{Number::Float, 8})
      .Case("F32", ElementFormat{Number::Float, 4})
      .Case("F16", ElementFormat{Number::Float, 2})
      .Case("BF16", ElementFormat{Number::BFloat, 2})
      .Case("I64", ElementFormat{Number::Signed, 8})
      .Case("I32", ElementFormat{Number::Signed, 4})
      .Case("I16", ElementFormat{Number::Signed, 2})
      .Case("I8", ElementFormat{Number::Signed, 1})
      .Cases({"U8", "BOOL"}, ElementFormat{Number::Unsigned, 1})
      .Default(std::nullopt);
}

static Expected<DenseTensor> parseSafetensor(const llvm::json::Object &entry, StringRef data) {
  const std::optional<ElementFormat> format = findSafetensorsFormat(entry.getString("dtype").value_or(""));
  const llvm::json::Array *sizes = entry.getArray("shape"), *offsets = entry.getArray("data_offsets");
  if (!format || !sizes || !offsets || offsets->size() != 2)
    return fail("a tensor must have a known dtype, a shape and data_offsets");
  Shape shape;
  for (const llvm::json::Value &size : *sizes)
    shape.push_back(size.getAsInteger().value_or(-1));
  const std::optional<int64_t> begin = (*offsets)[0].getAsInteger(), end = (*offsets)[1].getAsInteger();
  if (!begin || !end || *begin < 0 || *begin > *end || static_cast<uint64_t>(*end) > data.size())
    return fail("data_offsets must be inside the file");
  return readElements(data.slice(*begin, *end), shape, *format);
}

Expected<TensorMap> ds::readSafetensors(StringRef path) {
  auto file = openFile(path);
  if (!file)
    return file.takeError();
  StringRef data = file->bytes();
  if (data.size() < 8 || llvm::support::endian::read64le(data.data()) > data.size() - 8)
    return fail("file \"" + path + "\" must have a header that fits it");
  const uint64_t length = llvm::support::endian::read64le(data.data());
  Expected<llvm::json::Value> header = llvm::json::parse(data.substr(8, length));
  if (!header)
    return header.takeError();
  TensorMap tensors;
  if (!header->getAsObject())
    return fail("file \"" + path + "\" must have an object as header");
  for (const auto &[key, value] : *header->getAsObject()) {
    if (key == "__metadata__" || !value.getAsObject())
      continue;
    Expected<DenseTensor> tensor = parseSafetensor(*value.getAsObject(), data.substr(8 + length));
    if (!tensor)
      return fail("file \"" + path + "\", tensor \"" + StringRef(key) + "\": " + llvm::toString(tensor.takeError()));
    tensors.emplace(key.str(), std::move(*tensor));
  }
  return tensors;
}

Expected<DenseTensor> ds::entryOf(const DenseTensor &tensor, int64_t index) {
  if (tensor.shape.empty() || index < 0 || index >= tensor.shape.front())
    return fail("entry " + Twine(index) + " must be inside dim 0 of " +
                Twine(tensor.shape.empty() ? 0 : tensor.shape.front()));
  const Shape shape(tensor.shape.begin() + 1, tensor.shape.end());
  const int64_t size = elementCount(shape), begin = index * size;
  DenseTensor entry = DenseTensor::zeros(shape, tensor.isFloat);
  for (int64_t i = 0; i < size; ++i) {
    if (tensor.isFloat)
      entry.floats[i] = tensor.floats[begin + i];
    else
      entry.ints[i] = tensor.ints[begin + i];
  }
  return entry;
}
