// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Runtime/Session/TensorFiles.h"
#include "ds/Runtime/StatusMacros.h"

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"

#include <algorithm>
#include <set>

namespace ds::runtime {

using Json = nlohmann::json;

static constexpr int64_t kLengthBytes = 8;
static constexpr int64_t kMaxHeaderBytes = 100'000'000;
static constexpr size_t kMaxDims = 32;
static constexpr int kMaxDepth = 8; // the format nests three deep; a parser that recurses must not be led deeper

static absl::Status fault(const File &file, const std::string &what) {
  return absl::InvalidArgumentError(absl::StrCat(file.path(), ": ", what));
}

/// Parses JSON, refusing deep nesting and keys that occur twice.
static absl::StatusOr<Json> parseStrictly(const File &file, const std::string &text) {
  bool isTooDeep = false;
  std::string repeatedKey;
  std::vector<std::set<std::string>> keys;
  const auto callback = [&](int depth, Json::parse_event_t event, Json &value) {
    isTooDeep |= depth > kMaxDepth;
    if (event == Json::parse_event_t::object_start)
      keys.emplace_back();
    else if (event == Json::parse_event_t::object_end && !keys.empty())
      keys.pop_back();
    else if (event == Json::parse_event_t::key && !keys.back().insert(value.get<std::string>()).second)
      repeatedKey = value.get<std::string>();
    return depth <= kMaxDepth;
  };
  Json json = Json::parse(text, callback, /*allow_exceptions=*/false);
  if (isTooDeep)
    return fault(file, "header must not be nested deeper than 3 levels");
  if (!repeatedKey.empty())
    return fault(file, absl::StrCat("key '", repeatedKey, "' must occur once in the header"));
  if (json.is_discarded() || !json.is_object())
    return fault(file, "header must be a JSON object");
  return json;
}

static absl::StatusOr<std::string> readHeaderText(const File &file, int64_t fileBytes) {
  uint64_t length = 0;
  if (fileBytes < kLengthBytes)
    return fault(file, absl::StrCat("must be a .safetensors file, got ", fileBytes, " bytes"));
  DS_RETURN_IF_ERROR(file.readAt(0, &length, kLengthBytes));
  const uint64_t limit = std::min(kMaxHeaderBytes, fileBytes - kLengthBytes);
  if (length > limit)
    return fault(file, absl::StrCat("header length must be at most ", limit, ", got ", length));
  std::string text(length, '\0');
  DS_RETURN_IF_ERROR(file.readAt(kLengthBytes, text.data(), static_cast<int64_t>(length)));
  return text;
}

/// A list of at most `limit` non-negative numbers.
static std::optional<std::vector<int64_t>> findNumbers(const Json &entry, const char *key, size_t limit) {
  const auto found = entry.find(key);
  if (found == entry.end() || !found->is_array() || found->size() > limit)
    return std::nullopt;
  std::vector<int64_t> numbers;
  for (const Json &number : *found) {
    if (!number.is_number_unsigned() || number.get<uint64_t>() > static_cast<uint64_t>(INT64_MAX))
      return std::nullopt;
    numbers.push_back(static_cast<int64_t>(number.get<uint64_t>()));
  }
  return numbers;
}

static absl::StatusOr<StoredTensor> readEntry(const File &file, const std::string &name, const Json &entry) {
  const auto quoted = absl::StrCat("tensor '", name, "'");
  if (!entry.is_object() || entry.size() != 3 || !entry.contains("dtype") || !entry["dtype"].is_string())
    return fault(file, absl::StrCat(quoted, " must have dtype, shape and data_offsets"));
  const std::string typeName = entry["dtype"].get<std::string>();
  const std::optional<ElementType> type = findElementType(typeName);
  if (!type)
    return fault(file, absl::StrCat(quoted, " has unsupported dtype '", typeName, "'"));
  const auto shape = findNumbers(entry, "shape", kMaxDims);
  const auto offsets = findNumbers(entry, "data_offsets", 2);
  if (!shape || !offsets || offsets->size() != 2 || !checkedElements(*shape, *type))
    return fault(file, absl::StrCat(quoted, " has an invalid shape or data_offsets"));
  StoredTensor tensor{*type, *shape, (*offsets)[0]};
  if ((*offsets)[1] - (*offsets)[0] != tensor.bytes())
    return fault(file, absl::StrCat(quoted, " of ", tensor.typeAndShape(), " must take ", tensor.bytes(),
                                    " bytes, got ", (*offsets)[1] - (*offsets)[0]));
  return tensor;
}

/// Whether the tensors follow each other from the beginning of the data to the end.
static absl::Status checkCoverage(const File &file, const std::map<std::string, StoredTensor> &tensors,
                                  int64_t dataBytes) {
  std::vector<const std::pair<const std::string, StoredTensor> *> sorted;
  for (const auto &entry : tensors)
    sorted.push_back(&entry);
  std::sort(sorted.begin(), sorted.end(), [](const auto *a, const auto *b) {
    return std::make_pair(a->second.offset, a->second.bytes()) < std::make_pair(b->second.offset, b->second.bytes());
  });
  int64_t end = 0;
  for (const auto *entry : sorted) {
    if (entry->second.offset != end)
      return fault(file, absl::StrCat("tensor '", entry->first, "' must begin at data offset ", end, ", got ",
                                      entry->second.offset));
    if (__builtin_add_overflow(end, entry->second.bytes(), &end) || end > dataBytes)
      return fault(file, absl::StrCat("tensor '", entry->first, "' must end inside the file"));
  }
  if (end != dataBytes)
    return fault(file, absl::StrCat("tensors must take all ", dataBytes, " bytes of data, got ", end));
  return absl::OkStatus();
}

absl::StatusOr<std::map<std::string, StoredTensor>> readSafetensorsHeader(const File &file) {
  DS_ASSIGN_OR_RETURN(const int64_t fileBytes, file.size());
  DS_ASSIGN_OR_RETURN(const std::string text, readHeaderText(file, fileBytes));
  DS_ASSIGN_OR_RETURN(const Json json, parseStrictly(file, text));
  std::map<std::string, StoredTensor> tensors;
  for (const auto &[name, entry] : json.items()) {
    if (name == "__metadata__")
      continue;
    DS_ASSIGN_OR_RETURN(tensors[name], readEntry(file, name, entry));
  }
  const int64_t dataBegin = kLengthBytes + static_cast<int64_t>(text.size());
  DS_RETURN_IF_ERROR(checkCoverage(file, tensors, fileBytes - dataBegin));
  for (auto &[name, tensor] : tensors)
    tensor.offset += dataBegin;
  return tensors;
}

/// One member of the header's object; invalid UTF-8 in the name is replaced.
static std::string headerEntry(const std::string &name, const StoredTensor &tensor) {
  const Json entry = {{"dtype", std::string(elementTypeName(tensor.type))},
                      {"shape", tensor.shape},
                      {"data_offsets", {tensor.offset, tensor.offset + tensor.bytes()}}};
  return absl::StrCat(Json(name).dump(-1, ' ', false, Json::error_handler_t::replace), ":", entry.dump());
}

absl::StatusOr<SafetensorsLayout> layOutSafetensors(const std::vector<NamedTensor> &tensors) {
  SafetensorsLayout layout;
  std::set<std::string> names = {"__metadata__"};
  std::string text = "{";
  int64_t end = 0;
  for (const NamedTensor &tensor : tensors) {
    if (!checkedElements(tensor.shape, tensor.type) || !names.insert(tensor.name).second)
      return absl::InvalidArgumentError(
          absl::StrCat("cannot save tensor '", tensor.name, "': name or shape is invalid"));
    layout.tensors.push_back({tensor.type, tensor.shape, end});
    absl::StrAppend(&text, layout.tensors.size() == 1 ? "" : ",", headerEntry(tensor.name, layout.tensors.back()));
    if (__builtin_add_overflow(end, layout.tensors.back().bytes(), &end))
      return absl::InvalidArgumentError("cannot save tensors of more than 2^63 bytes");
  }
  text += "}";
  text.append((8 - text.size() % 8) % 8, ' ');
  const uint64_t length = text.size();
  layout.header.assign(reinterpret_cast<const char *>(&length), kLengthBytes);
  layout.header += text;
  for (StoredTensor &tensor : layout.tensors)
    tensor.offset += static_cast<int64_t>(layout.header.size());
  layout.fileBytes = end + static_cast<int64_t>(layout.header.size());
  return layout;
}

} // namespace ds::runtime
