// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "JsonReader.h"

#include <gtest/gtest.h>

namespace ds::config {
namespace {

std::string errorOf(std::string_view text) {
  const absl::StatusOr<nlohmann::json> json = readJson(text, "c.json");
  EXPECT_EQ(json.status().code(), absl::StatusCode::kInvalidArgument) << text;
  return std::string(json.status().message());
}

TEST(JsonReader, RefusesDuplicateKeysWithTheirPath) {
  EXPECT_EQ(errorOf(R"({"a": {"b": 1, "b": 2}})"), "c.json: \"a.b\" must be written once, got a duplicate key");
  EXPECT_EQ(errorOf(R"({"a": [{}, {"b": 1, "b": 1}]})"),
            "c.json: \"a[1].b\" must be written once, got a duplicate key");
}

TEST(JsonReader, RefusesWhatIsNotJson) {
  EXPECT_EQ(errorOf("{\"a\":\n  {\"b\": NaN}}"),
            "c.json:2:9: \"a.b\" must be a JSON value, got NaN, which JSON does not have");
  EXPECT_EQ(errorOf(R"({"a": -Infinity})"),
            "c.json:1:7: \"a\" must be a JSON value, got -Infinity, which JSON does not have");
  EXPECT_EQ(errorOf(R"({"a": Infinity})"),
            "c.json:1:7: \"a\" must be a JSON value, got Infinity, which JSON does not have");
  EXPECT_EQ(errorOf(R"({"a": 1,})"), "c.json:1:9: \"a\" must have no trailing comma");
  EXPECT_EQ(errorOf(R"({"a": [1, 2, ]})"), "c.json:1:14: \"a[2]\" must have no trailing comma");
  EXPECT_EQ(errorOf("{ // why\n}"), "c.json:1:3: the file must have no comment: JSON has none");
  EXPECT_EQ(errorOf("# why\n{}"), "c.json:1:1: the file must have no comment: JSON has none");
  EXPECT_EQ(errorOf(R"({"a": 1e999})"), "c.json: \"a\" must be a finite number, got 1e999");
  EXPECT_EQ(errorOf("{} {}"), "c.json:1:4: the file must be valid JSON, got \"{}\"");
  EXPECT_EQ(errorOf(R"({"a": 'x'})"), "c.json:1:7: \"a\" must be valid JSON, got \"'x'}\"");
}

TEST(JsonReader, RefusesTruncatedText) {
  EXPECT_EQ(errorOf(""), "c.json:1:1: the file must be a JSON object, got an empty file");
  EXPECT_EQ(errorOf("{\"a\": {\"b\": 1"), "c.json:1:14: \"a.b\" must be complete, got the end of the file");
  const std::string whole = R"({"a": {"b": [1, 2.5, "x\u00e9", true, null]}, "c": -1e-3})";
  ASSERT_TRUE(readJson(whole, "").ok());
  for (size_t length = 0; length < whole.size(); ++length)
    errorOf(std::string_view(whole).substr(0, length));
}

TEST(JsonReader, RefusesDeepNesting) {
  EXPECT_NE(errorOf(std::string(100000, '[')).find("at most 64 levels"), std::string::npos);
  EXPECT_TRUE(readJson(std::string(64, '[') + std::string(64, ']'), "").ok());
}

TEST(JsonReader, RefusesInvalidUtf8) { errorOf("{\"a\": \"\xff\"}"); }

TEST(JsonReader, AcceptsAByteOrderMark) { EXPECT_TRUE(readJson("\xEF\xBB\xBF{}", "").ok()); }

TEST(JsonReader, EscapesUntrustedNames) {
  EXPECT_EQ(errorOf("{\"\\u001b[31m\": 1, \"\\u001b[31m\": 1}"),
            "c.json: \"\\x1b[31m\" must be written once, got a duplicate key");
}

} // namespace
} // namespace ds::config
