// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Runtime/Session/TensorFiles.h"
#include "ds/Runtime/StatusMacros.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <cstring>

namespace ds::runtime {

static constexpr char kMagic[] = "\x93NUMPY";
static constexpr int64_t kMagicBytes = 6;
static constexpr int64_t kMaxHeaderBytes = 1 << 16;
static constexpr size_t kMaxDims = 32;

namespace {
struct Descriptor {
  const char *name;
  ElementType type;
};

/// Reads the Python dictionary literal of a header: three known keys, in any order.
class HeaderParser {
public:
  explicit HeaderParser(const std::string &text) : text(text) {}

  /// Fills `tensor`'s type and shape; false if the text is anything else.
  bool parse(StoredTensor &tensor);
  /// What the file asked for that is not supported, or empty.
  std::string refusal;

private:
  void skipSpace() {
    while (at < text.size() && (text[at] == ' ' || text[at] == '\n' || text[at] == '\t'))
      ++at;
  }
  bool accept(const char *token);
  bool parseString(std::string &value);
  bool parseShape(std::vector<int64_t> &shape);
  bool parseEntry(StoredTensor &tensor);

  const std::string &text;
  size_t at = 0;
  bool hasType = false, hasOrder = false, hasShape = false;
};
} // namespace

static constexpr Descriptor kDescriptors[] = {
    {"|b1", ElementType::Bool}, {"|u1", ElementType::U8},  {"|i1", ElementType::I8},  {"<u2", ElementType::U16},
    {"<i2", ElementType::I16},  {"<u4", ElementType::U32}, {"<i4", ElementType::I32}, {"<u8", ElementType::U64},
    {"<i8", ElementType::I64},  {"<f2", ElementType::F16}, {"<f4", ElementType::F32}, {"<f8", ElementType::F64}};

bool HeaderParser::accept(const char *token) {
  skipSpace();
  const size_t length = std::strlen(token);
  if (text.compare(at, length, token) != 0)
    return false;
  at += length;
  return true;
}

bool HeaderParser::parseString(std::string &value) {
  skipSpace();
  if (at >= text.size() || (text[at] != '\'' && text[at] != '"'))
    return false;
  const size_t end = text.find(text[at], at + 1);
  if (end == std::string::npos)
    return false;
  value = text.substr(at + 1, end - at - 1);
  at = end + 1;
  return true;
}

bool HeaderParser::parseShape(std::vector<int64_t> &shape) {
  if (!accept("("))
    return false;
  while (!accept(")")) {
    skipSpace();
    const size_t begin = at;
    while (at < text.size() && text[at] >= '0' && text[at] <= '9')
      ++at;
    int64_t dim = 0;
    if (!absl::SimpleAtoi(text.substr(begin, at - begin), &dim) || shape.size() == kMaxDims)
      return false;
    shape.push_back(dim);
    if (!accept(","))
      return accept(")");
  }
  return true;
}

bool HeaderParser::parseEntry(StoredTensor &tensor) {
  std::string key;
  if (!parseString(key) || !accept(":"))
    return false;
  if (key == "shape") {
    hasShape = true;
    return parseShape(tensor.shape);
  }
  if (key == "fortran_order") {
    hasOrder = true;
    if (accept("True"))
      refusal = "must be in row-major order, got Fortran order";
    return !refusal.empty() || accept("False");
  }
  std::string name;
  if (key != "descr" || !parseString(name)) {
    refusal = "must hold plain numbers, got a structure";
    return key == "descr";
  }
  hasType = true;
  for (const Descriptor &descriptor : kDescriptors)
    if (name == descriptor.name) {
      tensor.type = descriptor.type;
      return true;
    }
  refusal = absl::StrCat("must hold little-endian numbers, got numpy type '", name, "'");
  return true;
}

bool HeaderParser::parse(StoredTensor &tensor) {
  if (!accept("{"))
    return false;
  while (!accept("}")) {
    if (!parseEntry(tensor))
      return false;
    if (!refusal.empty())
      return true;
    if (!accept(",") && !accept("}"))
      return false;
    if (text[at - 1] == '}')
      break;
  }
  skipSpace();
  return at == text.size() && hasType && hasOrder && hasShape;
}

/// Where the header's text begins and how long it is.
static absl::StatusOr<std::pair<int64_t, int64_t>> readPreamble(const File &file, int64_t fileBytes) {
  unsigned char start[12] = {};
  if (fileBytes < 12)
    return absl::InvalidArgumentError(absl::StrCat(file.path(), ": must be a .npy file, got ", fileBytes, " bytes"));
  DS_RETURN_IF_ERROR(file.readAt(0, start, sizeof(start)));
  if (std::memcmp(start, kMagic, kMagicBytes) != 0)
    return absl::InvalidArgumentError(absl::StrCat(file.path(), ": must be a .npy file, got another magic number"));
  const int version = start[6];
  if (version < 1 || version > 3)
    return absl::InvalidArgumentError(absl::StrCat(file.path(), ": .npy version must be 1 to 3, got ", version));
  int64_t length = start[8] | start[9] << 8;
  if (version > 1)
    length |= static_cast<int64_t>(start[10]) << 16 | static_cast<int64_t>(start[11]) << 24;
  const int64_t begin = version == 1 ? 10 : 12;
  if (length > kMaxHeaderBytes || begin + length > fileBytes)
    return absl::InvalidArgumentError(absl::StrCat(file.path(), ": .npy header of ", length,
                                                   " bytes must end inside the file of ", fileBytes, " and be at most ",
                                                   kMaxHeaderBytes));
  return std::make_pair(begin, length);
}

absl::StatusOr<StoredTensor> readNumpyHeader(const File &file) {
  DS_ASSIGN_OR_RETURN(const int64_t fileBytes, file.size());
  DS_ASSIGN_OR_RETURN(const auto preamble, readPreamble(file, fileBytes));
  std::string text(preamble.second, '\0');
  DS_RETURN_IF_ERROR(file.readAt(preamble.first, text.data(), preamble.second));
  StoredTensor tensor;
  HeaderParser parser(text);
  if (!parser.parse(tensor))
    return absl::InvalidArgumentError(absl::StrCat(file.path(), ": invalid .npy header"));
  if (!parser.refusal.empty())
    return absl::InvalidArgumentError(absl::StrCat(file.path(), ": ", parser.refusal));
  tensor.offset = preamble.first + preamble.second;
  if (!checkedElements(tensor.shape, tensor.type))
    return absl::InvalidArgumentError(absl::StrCat(file.path(), ": shape ", shapeName(tensor.shape), " is too large"));
  if (tensor.bytes() != fileBytes - tensor.offset)
    return absl::InvalidArgumentError(absl::StrCat(file.path(), ": ", tensor.typeAndShape(), " must take ",
                                                   tensor.bytes(), " bytes, got ", fileBytes - tensor.offset));
  return tensor;
}

std::string makeNumpyHeader(ElementType type, const std::vector<int64_t> &shape) {
  const char *name = "<u2"; // numpy has no bfloat16: its bits
  for (const Descriptor &descriptor : kDescriptors)
    if (descriptor.type == type)
      name = descriptor.name;
  std::string text = absl::StrCat("{'descr': '", name, "', 'fortran_order': False, 'shape': (",
                                  absl::StrJoin(shape, ", "), shape.size() == 1 ? ",), }" : "), }");
  text.append(63 - (10 + text.size()) % 64, ' '); // preamble, text and newline fill multiples of 64
  text += '\n';
  std::string header(kMagic, kMagicBytes);
  header += {'\x01', '\0', static_cast<char>(text.size() & 0xFF), static_cast<char>(text.size() >> 8)};
  return header + text;
}

} // namespace ds::runtime
