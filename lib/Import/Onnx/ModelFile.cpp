// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ModelFile.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/stubs/logging.h>

#include <set>

using namespace llvm;
using namespace ds::onnx_import;
using ds::MappedFile;
using mlir::failed;
using mlir::failure;
using mlir::FailureOr;
using mlir::LogicalResult;
using mlir::success;

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

static Number numberOfBits(Element element, int64_t bits) {
  if (!isFloat(element))
    return wrapTo(element, bits);
  char bytes[2] = {static_cast<char>(bits), static_cast<char>(bits >> 8)};
  return decodeBytes(element, {}, StringRef(bytes, 2)).data[0];
}

HostTensor Initializer::decode() const {
  if (typed.empty())
    return decodeBytes(element, shape, bytes);
  HostTensor tensor;
  tensor.element = element;
  tensor.shape = shape;
  for (int64_t value : typed)
    tensor.data.push_back(numberOfBits(element, value));
  return tensor;
}

bool Initializer::isUniform() const {
  if (!typed.empty())
    return all_equal(typed);
  unsigned width = bytesOf(element);
  return bytes.size() <= width || bytes.drop_front(width) == bytes.drop_back(width);
}

static bool isTypedAsBits(Element element) { return element != Element::F32 && element != Element::F64; }

template <typename Field> static bool appendTyped(const Field &field, HostTensor &tensor) {
  for (auto value : field)
    tensor.data.push_back(numberOfBits(tensor.element, static_cast<int64_t>(value)));
  return !field.empty();
}

static bool appendFloats(const onnx::TensorProto &proto, HostTensor &tensor) {
  for (float value : proto.float_data())
    tensor.data.push_back(roundTo(tensor.element, value));
  for (double value : proto.double_data())
    tensor.data.push_back(roundTo(tensor.element, value));
  return !tensor.data.empty();
}

std::optional<HostTensor> ds::onnx_import::decodeTensor(const onnx::TensorProto &proto, std::string &problem) {
  std::optional<Element> element = elementOf(proto.data_type());
  HostTensor tensor;
  tensor.shape.assign(proto.dims().begin(), proto.dims().end());
  std::optional<int64_t> count = countOf(tensor.shape);
  if (!element || !count) {
    problem = !element ? "has elements that are not numbers" : "has a shape that overflows or is negative";
    return std::nullopt;
  }
  tensor.element = *element;
  if (proto.data_location() == onnx::TensorProto::EXTERNAL) {
    problem = "has external data, which only initializers may";
    return std::nullopt;
  }
  if (proto.has_raw_data()) {
    if (proto.raw_data().size() % bytesOf(*element) == 0)
      tensor = decodeBytes(*element, tensor.shape, proto.raw_data());
  } else if (isTypedAsBits(*element)) {
    appendTyped(proto.int32_data(), tensor) || appendTyped(proto.int64_data(), tensor) ||
        appendTyped(proto.uint64_data(), tensor);
  } else {
    appendFloats(proto, tensor);
  }
  if (static_cast<int64_t>(tensor.data.size()) == *count)
    return tensor;
  problem = (Twine("must have data of ") + Twine(*count) + " elements, got " + Twine(tensor.data.size())).str();
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Initializers
//===----------------------------------------------------------------------===//

namespace {
/// Where the data of an initializer lies, if not in the model file.
struct ExternalData {
  StringRef location;
  std::optional<uint64_t> offset, length;
};
} // namespace

static std::string describe(const Initializer &tensor) { return "initializer '" + tensor.name + "'"; }

/// Data in one of the typed fields.
LogicalResult ModelFile::setTyped(Initializer &tensor, const WireTensor &wire, ErrorSink &errors) {
  StringRef file = StringRef(content->bytes());
  if (!isTypedAsBits(tensor.element)) {
    const auto &ranges = tensor.element == Element::F32 ? wire.floats : wire.doubles;
    uint64_t end = ranges.empty() ? 0 : ranges.front().offset;
    for (const ByteRange &range : ranges) {
      if (range.offset != end)
        return errors.unsupported(describe(tensor) + " must have its typed data in one packed range");
      end = range.offset + range.length;
    }
    tensor.range = ranges.empty() ? ByteRange() : ByteRange{ranges.front().offset, end - ranges.front().offset};
    tensor.file = fileName;
    tensor.bytes = file.substr(tensor.range.offset, tensor.range.length);
    return success();
  }
  for (const auto *ranges : {&wire.ints32, &wire.ints64, &wire.unsigneds})
    for (const ByteRange &range : *ranges)
      if (!decodeVarints(file.substr(range.offset, range.length), tensor.typed))
        return errors.malformed(describe(tensor) + " has data that is cut off");
  return success();
}

/// Whether a location is a relative path that names no folder above.
static bool isLocation(StringRef location) {
  return !location.empty() && sys::path::is_relative(location) && !location.contains('\0') &&
         !is_contained(SmallVector<StringRef>(sys::path::begin(location), sys::path::end(location)), "..");
}

/// Whether `file` is below `folder` once links are followed.
static bool isBelow(StringRef folder, StringRef file) {
  SmallString<256> real;
  if (sys::fs::real_path(folder, real))
    return false;
  if (real.back() != '/')
    real += '/';
  return file.starts_with(real);
}

/// A location is meant from the folder in which the model is named, which may be that of a link to it. What lies there
/// may be a link too, as in a cache of models, but it must lead into that folder or the one that the model is in.
const MappedFile *ModelFile::openExternal(StringRef location, std::string &problem) {
  if (auto it = externals.find(location); it != externals.end())
    return &it->second;
  auto fail = [&](const char *what) {
    problem = ("refers to external data '" + location + "', which " + what).str();
    return nullptr;
  };
  if (!isLocation(location))
    return fail("must stay in the model's folder");
  SmallString<256> path(folder), realFile, realModel;
  sys::path::append(path, location);
  sys::fs::file_status status;
  if (sys::fs::real_path(path, realFile) || sys::fs::real_path(modelPath, realModel) || sys::fs::status(path, status))
    return fail("does not exist");
  if (!isBelow(folder, realFile) && !isBelow(sys::path::parent_path(realModel), realFile))
    return fail("must stay in the model's folder");
  if (!sys::fs::is_regular_file(status)) // a pipe would be waited for
    return fail("must be a regular file");
  absl::StatusOr<MappedFile> file = MappedFile::open(path.str().str());
  if (!file.ok())
    return fail("cannot be read");
  return &externals.try_emplace(location, *std::move(file)).first->second;
}

/// What `external_data` says, each key at most once.
static FailureOr<ExternalData> readExternal(const Initializer &tensor, const onnx::TensorProto &header,
                                            ErrorSink &errors) {
  ExternalData data;
  StringSet<> seen;
  for (const onnx::StringStringEntryProto &entry : header.external_data()) {
    StringRef key = entry.key(), value = entry.value();
    if (!seen.insert(key).second)
      return errors.malformed(describe(tensor) + " has external data that says '" + key + "' twice");
    if (key == "location")
      data.location = value;
    else if (key == "offset" || key == "length") {
      std::optional<uint64_t> &number = key == "offset" ? data.offset : data.length;
      if (value.getAsInteger(10, number.emplace()))
        return errors.malformed(describe(tensor) + " has external data whose " + key + " must be a number, got '" +
                                value + "'");
    } else if (key != "checksum") {
      return errors.malformed(describe(tensor) + " has external data with unknown key '" + key + "'");
    }
  }
  return data;
}

LogicalResult ModelFile::setExternal(Initializer &tensor, const onnx::TensorProto &header, ErrorSink &errors) {
  FailureOr<ExternalData> data = readExternal(tensor, header, errors);
  if (failed(data))
    return failure();
  std::string problem;
  const MappedFile *file = openExternal(data->location, problem);
  if (!file)
    return errors.malformed(describe(tensor) + " " + problem);
  uint64_t size = file->bytes().size(), bytes = static_cast<uint64_t>(*countOf(tensor.shape)) * bytesOf(tensor.element);
  ByteRange range{data->offset.value_or(0), data->length.value_or(bytes)};
  if (range.offset > size || range.length > size - range.offset)
    return errors.malformed(describe(tensor) + " must have external data inside the " + Twine(size) + " bytes of '" +
                            data->location + "', got " + Twine(range.length) + " from " + Twine(range.offset));
  tensor.file = data->location.str();
  tensor.range = range;
  tensor.bytes = StringRef(file->bytes()).substr(range.offset, range.length);
  return success();
}

LogicalResult ModelFile::setData(Initializer &tensor, const WireTensor &wire, ErrorSink &errors) {
  if (wire.raw.empty()) {
    if (failed(setTyped(tensor, wire, errors)))
      return failure();
  } else {
    tensor.file = fileName;
    tensor.range = wire.raw.back();
    tensor.bytes = StringRef(content->bytes()).substr(tensor.range.offset, tensor.range.length);
  }
  return success();
}

LogicalResult ModelFile::addInitializer(const WireTensor &wire, ErrorSink &errors) {
  onnx::TensorProto header;
  if (!header.ParseFromString(wire.header))
    return errors.malformed("an initializer is not a TensorProto");
  Initializer tensor;
  tensor.name = header.name();
  std::optional<Element> element = elementOf(header.data_type());
  if (!element)
    return errors.unsupported(describe(tensor) + " must have numbers as elements, got data_type " +
                              Twine(header.data_type()));
  tensor.element = *element;
  tensor.shape.assign(header.dims().begin(), header.dims().end());
  std::optional<int64_t> count = countOf(tensor.shape);
  if (!count)
    return errors.malformed(describe(tensor) + " has a shape that overflows or is negative");
  bool isExternal = header.data_location() == onnx::TensorProto::EXTERNAL;
  if (failed(isExternal ? setExternal(tensor, header, errors) : setData(tensor, wire, errors)))
    return failure();
  uint64_t expected = static_cast<uint64_t>(*count) * bytesOf(*element);
  bool fits =
      tensor.typed.empty() ? tensor.bytes.size() == expected : static_cast<int64_t>(tensor.typed.size()) == *count;
  if (!fits)
    return errors.malformed(
        describe(tensor) + " must have " + Twine(expected) + " bytes of data, got " +
        Twine(tensor.typed.empty() ? tensor.bytes.size() : tensor.typed.size() * bytesOf(*element)));
  initializers.push_back(std::move(tensor));
  return success();
}

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

std::vector<std::string> ds::externalFiles(const std::string &path) {
  const absl::StatusOr<MappedFile> file = MappedFile::open(path);
  WireModel wire;
  google::protobuf::LogSilencer silencer;
  if (!file.ok() || !walkModel(file->bytes(), wire).empty())
    return {};
  std::set<std::string> names;
  for (const WireTensor &tensor : wire.initializers) {
    onnx::TensorProto header;
    if (header.ParseFromString(tensor.header) && header.data_location() == onnx::TensorProto::EXTERNAL)
      for (const onnx::StringStringEntryProto &entry : header.external_data())
        if (entry.key() == "location")
          names.insert(entry.value());
  }
  return {names.begin(), names.end()};
}

std::unique_ptr<ModelFile> ModelFile::open(StringRef path, ErrorSink &errors) {
  auto file = std::make_unique<ModelFile>();
  file->modelPath = path.str();
  file->folder = sys::path::parent_path(path).empty() ? "." : sys::path::parent_path(path).str();
  file->fileName = sys::path::filename(path).str();
  absl::StatusOr<MappedFile> mapped = MappedFile::open(path.str());
  if (!mapped.ok()) {
    const std::string problem(mapped.status().message());
    StringRef reason = problem;
    reason.consume_front((path + ": ").str()); // the sink names the file
    (void)errors.malformed(reason);
    return nullptr;
  }
  file->content.emplace(*std::move(mapped));
  WireModel wire;
  google::protobuf::LogSilencer silencer;
  if (std::string problem = walkModel(file->content->bytes(), wire); !problem.empty()) {
    (void)errors.malformed("is not an ONNX model: " + problem);
    return nullptr;
  }
  if (wire.model.size() > std::numeric_limits<int>::max() || !file->model.ParseFromString(wire.model)) {
    (void)errors.malformed("is not an ONNX model: its messages do not parse");
    return nullptr;
  }
  if (!file->model.has_graph()) {
    (void)errors.malformed("is not an ONNX model: it has no graph");
    return nullptr;
  }
  for (const WireTensor &tensor : wire.initializers)
    (void)file->addInitializer(tensor, errors);
  if (errors.hasErrors())
    return nullptr;
  return file;
}
