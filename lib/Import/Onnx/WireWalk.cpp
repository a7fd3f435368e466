// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "WireWalk.h"

#include "llvm/ADT/Twine.h"

using namespace llvm;
using namespace ds::onnx_import;

namespace {

// The fields of onnx.proto that matter here.
constexpr uint64_t kModelGraph = 7, kGraphInitializer = 5;
constexpr uint64_t kTensorFloats = 4, kTensorInts32 = 5, kTensorInts64 = 7, kTensorRaw = 9, kTensorDoubles = 10,
                   kTensorUnsigneds = 11;

enum WireType : uint8_t { kVarint = 0, kFixed64 = 1, kLength = 2, kFixed32 = 5 };

struct Field {
  uint64_t number = 0;
  uint64_t start = 0; ///< of the tag
  ByteRange payload;  ///< without tag and length
};

/// Reads fields one after the other.
class Cursor {
public:
  Cursor(StringRef bytes, ByteRange range) : bytes(bytes), position(range.offset), end(range.offset + range.length) {}

  bool atEnd() const { return position == end; }

  /// False, and an error, if the next field is cut off or of an unknown kind.
  bool next(Field &field, std::string &error) {
    field.start = position;
    uint64_t tag = 0;
    if (!readVarint(tag))
      return fail(error, "is cut off");
    field.number = tag >> 3;
    uint64_t length = 0;
    switch (tag & 7) {
    case kVarint: {
      uint64_t value = 0, before = position;
      if (!readVarint(value))
        return fail(error, "is cut off");
      field.payload = {before, position - before};
      return true;
    }
    case kFixed64:
      length = 8;
      break;
    case kFixed32:
      length = 4;
      break;
    case kLength:
      if (!readVarint(length))
        return fail(error, "is cut off");
      break;
    default:
      return fail(error, "has an unknown wire type");
    }
    if (length > end - position)
      return fail(error, "is cut off");
    field.payload = {position, length};
    position += length;
    return true;
  }

  /// The bytes of a field with its tag.
  StringRef whole(const Field &field) const { return bytes.slice(field.start, position); }

  bool readVarint(uint64_t &value) {
    value = 0;
    for (unsigned shift = 0; shift < 70 && position < end; shift += 7) {
      uint8_t byte = bytes[position++];
      value |= shift < 64 ? static_cast<uint64_t>(byte & 0x7f) << shift : 0;
      if (!(byte & 0x80))
        return true;
    }
    return false;
  }

private:
  bool fail(std::string &error, const char *what) {
    error = (Twine("field at byte ") + Twine(position) + " " + what).str();
    return false;
  }

  StringRef bytes;
  uint64_t position, end;
};

} // namespace

static void appendVarint(std::string &out, uint64_t value) {
  for (; value >= 0x80; value >>= 7)
    out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
}

static SmallVector<ByteRange, 1> *findData(WireTensor &tensor, uint64_t field) {
  switch (field) {
  case kTensorRaw:
    return &tensor.raw;
  case kTensorFloats:
    return &tensor.floats;
  case kTensorInts32:
    return &tensor.ints32;
  case kTensorInts64:
    return &tensor.ints64;
  case kTensorDoubles:
    return &tensor.doubles;
  case kTensorUnsigneds:
    return &tensor.unsigneds;
  default:
    return nullptr;
  }
}

static bool walkTensor(StringRef bytes, ByteRange range, WireTensor &tensor, std::string &error) {
  Cursor cursor(bytes, range);
  for (Field field; !cursor.atEnd();) {
    if (!cursor.next(field, error))
      return false;
    if (SmallVector<ByteRange, 1> *data = findData(tensor, field.number))
      data->push_back(field.payload);
    else
      tensor.header += cursor.whole(field);
  }
  return true;
}

static bool walkGraph(StringRef bytes, ByteRange range, WireModel &result, std::string &error) {
  std::string graph;
  Cursor cursor(bytes, range);
  for (Field field; !cursor.atEnd();) {
    if (!cursor.next(field, error))
      return false;
    if (field.number != kGraphInitializer)
      graph += cursor.whole(field);
    else if (!walkTensor(bytes, field.payload, result.initializers.emplace_back(), error))
      return false;
  }
  appendVarint(result.model, kModelGraph << 3 | kLength);
  appendVarint(result.model, graph.size());
  result.model += graph;
  return true;
}

std::string ds::onnx_import::walkModel(StringRef bytes, WireModel &result) {
  std::string error;
  Cursor cursor(bytes, {0, bytes.size()});
  for (Field field; !cursor.atEnd();) {
    if (!cursor.next(field, error))
      return error;
    if (field.number != kModelGraph)
      result.model += cursor.whole(field);
    else if (!walkGraph(bytes, field.payload, result, error))
      return error;
  }
  return error;
}

bool ds::onnx_import::decodeVarints(StringRef bytes, std::vector<int64_t> &values) {
  Cursor cursor(bytes, {0, bytes.size()});
  while (!cursor.atEnd()) {
    uint64_t value = 0;
    if (!cursor.readVarint(value))
      return false;
    values.push_back(static_cast<int64_t>(value));
  }
  return true;
}
