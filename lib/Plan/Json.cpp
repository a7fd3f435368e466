// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Plan/Inspect.h"

#include "flatbuffers/minireflect.h"
#include <nlohmann/json.hpp>

#include <cmath>

using namespace ds::plan;

namespace {
/// Writes the fields that flatc's reflection visits. FlatBuffers' own ToStringVisitor leaves absent vectors out, writes
/// bytes one by one, and numbers and strings that are no JSON.
class JsonVisitor : public flatbuffers::IterationVisitor {
public:
  std::string text;

  void StartSequence() override { open('{'); }
  void EndSequence() override { close('}'); }
  void StartVector() override {
    if (!isBytes)
      open('[');
  }
  void EndVector() override {
    if (isBytes)
      text += "{\"bytes\": " + std::to_string(numBytes) + "}";
    else
      close(']');
    isBytes = false;
  }
  void Field(size_t, size_t, flatbuffers::ElementaryType type, bool isVector, const flatbuffers::TypeTable *table,
             const char *name, const uint8_t *value) override {
    item();
    text += "\"" + std::string(name) + "\": ";
    isBytes = value && isVector && type == flatbuffers::ET_UCHAR && !table;
    numBytes = 0;
    if (!value)
      text += isVector ? "[]" : type == flatbuffers::ET_STRING ? "\"\"" : "null";
  }
  void Element(size_t, flatbuffers::ElementaryType, const flatbuffers::TypeTable *, const uint8_t *) override {
    if (!isBytes)
      item();
  }

  void UType(uint8_t value, const char *name) override { named(value, name); }
  void Bool(bool value) override { text += value ? "true" : "false"; }
  void Char(int8_t value, const char *name) override { named(value, name); }
  void UChar(uint8_t value, const char *name) override {
    if (isBytes)
      ++numBytes;
    else
      named(value, name);
  }
  void Short(int16_t value, const char *name) override { named(value, name); }
  void UShort(uint16_t value, const char *name) override { named(value, name); }
  void Int(int32_t value, const char *name) override { named(value, name); }
  void UInt(uint32_t value, const char *name) override { named(value, name); }
  void Long(int64_t value) override { text += std::to_string(value); }
  void ULong(uint64_t value) override { text += std::to_string(value); }
  void Float(float value) override { Double(value); }
  // JSON has no infinities.
  void Double(double value) override { text += std::isfinite(value) ? nlohmann::json(value).dump() : "null"; }
  void String(const flatbuffers::String *value) override {
    text += nlohmann::json(value->str()).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }

private:
  void open(char bracket) {
    text += bracket;
    ++depth;
    isFirst = true;
  }
  void close(char bracket) {
    --depth;
    if (!isFirst)
      newLine();
    text += bracket;
    isFirst = false;
  }
  void item() {
    if (!isFirst)
      text += ',';
    newLine();
    isFirst = false;
  }
  void newLine() {
    text += '\n';
    text.append(depth, ' ');
  }
  void named(int64_t value, const char *name) {
    text += name ? "\"" + std::string(name) + "\"" : std::to_string(value);
  }

  size_t depth = 0;
  bool isFirst = true;
  bool isBytes = false; ///< inside a vector of plain bytes
  size_t numBytes = 0;
};
} // namespace

std::string ds::plan::planAsJson(const PlanT &plan) {
  flatbuffers::FlatBufferBuilder builder;
  builder.ForceDefaults(true); // so that 0 and the first names of enums are there
  builder.Finish(Plan::Pack(builder, &plan));
  JsonVisitor visitor;
  flatbuffers::IterateFlatBuffer(builder.GetBufferPointer(), PlanTypeTable(), &visitor);
  return visitor.text + "\n";
}
