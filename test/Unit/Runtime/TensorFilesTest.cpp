// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "../Files/TemporaryFolder.h"

#include "ds/Runtime/Session/TensorFiles.h"

#include <cmath>

namespace ds::runtime {

//===----------------------------------------------------------------------===//
// .npy
//===----------------------------------------------------------------------===//

/// A .npy file of this version with this dictionary and data.
static std::string numpyBytes(const std::string &dictionary, const std::string &data, int version = 1) {
  std::string bytes("\x93NUMPY", 6);
  bytes += static_cast<char>(version);
  bytes += '\0';
  const size_t length = dictionary.size();
  bytes += {static_cast<char>(length & 255), static_cast<char>(length >> 8)};
  if (version > 1)
    bytes += std::string(2, '\0');
  return bytes + dictionary + data;
}

static absl::StatusOr<StoredTensor> readNumpy(const std::string &bytes) {
  const TemporaryFolder folder;
  writeText(folder / "x.npy", bytes);
  absl::StatusOr<File> file = File::open(folder / "x.npy");
  return file.ok() ? readNumpyHeader(*file) : file.status();
}

TEST(Numpy, ReadsWhatNumpyWrites) {
  const auto tensor = readNumpy(
      numpyBytes("{'descr': '<i8', 'fortran_order': False, 'shape': (20, 1), }     \n", std::string(160, 'x')));
  ASSERT_TRUE(tensor.ok()) << tensor.status();
  EXPECT_EQ(tensor->typeAndShape(), "I64 [20, 1]");
  const auto scalar = readNumpy(numpyBytes("{'descr': '<f4', 'fortran_order': False, 'shape': ()}\n", "1234", 2));
  ASSERT_TRUE(scalar.ok()) << scalar.status();
  EXPECT_EQ(scalar->typeAndShape(), "F32 []");
  const auto empty = readNumpy(numpyBytes("{'shape': (3, 0,), 'fortran_order': False, 'descr': '|b1'}", "", 3));
  ASSERT_TRUE(empty.ok()) << empty.status();
  EXPECT_EQ(empty->typeAndShape(), "BOOL [3, 0]");
}

TEST(Numpy, ReadsItsOwnHeaders) {
  const std::vector<std::vector<int64_t>> shapes = {{}, {5}, {2, 3}, {0}, {1, 1, 1, 1, 1, 1}};
  for (const std::vector<int64_t> &shape : shapes) {
    const std::string header = makeNumpyHeader(ElementType::I32, shape);
    EXPECT_EQ(header.size() % 64, 0u);
    const auto tensor = readNumpy(header + std::string(*checkedElements(shape, ElementType::I32) * 4, '\0'));
    ASSERT_TRUE(tensor.ok()) << tensor.status();
    EXPECT_EQ(tensor->shape, shape);
    EXPECT_EQ(tensor->type, ElementType::I32);
  }
}

TEST(Numpy, RefusesHostileFiles) {
  const std::string good = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n";
  const std::pair<std::string, std::string> files[] = {
      {"", "must be a .npy file"},
      {"PK\3\4 this is an archive", "another magic number"},
      {numpyBytes(good, "12345678", 9), "version must be 1 to 3, got 9"},
      {numpyBytes(good, "1234567"), "must take 8 bytes, got 7"},
      {numpyBytes(good, "123456789"), "must take 8 bytes, got 9"},
      {numpyBytes(good, "").substr(0, 30), "must end inside the file"},
      {numpyBytes("{'descr': '>f4', 'fortran_order': False, 'shape': (2,)}", "12345678"), "little-endian"},
      {numpyBytes("{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", "12345678"), "'|O'"},
      {numpyBytes("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,)}", "12345678"), "structure"},
      {numpyBytes("{'descr': '<f4', 'fortran_order': True, 'shape': (2,)}", "12345678"), "Fortran order"},
      {numpyBytes("{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}", "12345678"), "invalid .npy header"},
      {numpyBytes("{'descr': '<f4', 'fortran_order': False}", "12345678"), "invalid .npy header"},
      {numpyBytes("{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} trailing", "12345678"),
       "invalid .npy header"},
      {numpyBytes("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}", "12345678"),
       "invalid .npy header"},
      {numpyBytes("{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296)}", ""), "is too large"},
      {numpyBytes("{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4)}", ""), "is too large"},
      {numpyBytes("{" + std::string(1000, '{'), ""), "invalid .npy header"},
      {numpyBytes("{'descr", ""), "invalid .npy header"},
  };
  for (const auto &[bytes, message] : files) {
    const absl::Status status = readNumpy(bytes).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << message;
    EXPECT_NE(std::string(status.message()).find(message), std::string::npos) << message << " / " << status;
  }
}

//===----------------------------------------------------------------------===//
// .safetensors
//===----------------------------------------------------------------------===//

static std::string safetensorsBytes(const std::string &header, const std::string &data) {
  const uint64_t length = header.size();
  return std::string(reinterpret_cast<const char *>(&length), 8) + header + data;
}

static absl::StatusOr<std::map<std::string, StoredTensor>> readSafetensors(const std::string &bytes) {
  const TemporaryFolder folder;
  writeText(folder / "x.safetensors", bytes);
  absl::StatusOr<File> file = File::open(folder / "x.safetensors");
  return file.ok() ? readSafetensorsHeader(*file) : file.status();
}

TEST(Safetensors, ReadsTensorsInAnyOrder) {
  const auto tensors = readSafetensors(safetensorsBytes(
      R"({"__metadata__":{"format":"pt"},"b":{"dtype":"I64","shape":[],"data_offsets":[12,20]},)"
      R"("a":{"dtype":"F32","shape":[3,1],"data_offsets":[0,12]},"none":{"dtype":"F16","shape":[0,4],"data_offsets":[12,12]}}  )",
      std::string(20, 'x')));
  ASSERT_TRUE(tensors.ok()) << tensors.status();
  EXPECT_EQ(tensors->size(), 3u);
  EXPECT_EQ(tensors->at("a").typeAndShape(), "F32 [3, 1]");
  EXPECT_EQ(tensors->at("b").offset - tensors->at("a").offset, 12);
  EXPECT_EQ(tensors->at("none").bytes(), 0);
}

TEST(Safetensors, ReadsWhatItLaysOut) {
  const auto layout = layOutSafetensors({{"x.weight", ElementType::F32, {2, 3}},
                                         {"s", ElementType::I64, {}},
                                         {"e", ElementType::F16, {0}},
                                         {"quote\" and \xC3\xA9", ElementType::Bool, {3}}});
  ASSERT_TRUE(layout.ok());
  EXPECT_EQ(layout->header.size() % 8, 0u);
  const auto tensors = readSafetensors(layout->header + std::string(layout->fileBytes - layout->header.size(), 'x'));
  ASSERT_TRUE(tensors.ok()) << tensors.status();
  EXPECT_EQ(tensors->at("s").offset, layout->tensors[1].offset);
  EXPECT_EQ(tensors->at("quote\" and \xC3\xA9").typeAndShape(), "BOOL [3]");
  EXPECT_FALSE(layOutSafetensors({{"a", ElementType::F32, {1}}, {"a", ElementType::F32, {1}}}).ok());
}

TEST(Safetensors, RefusesHostileFiles) {
  const auto one = [](const std::string &type, const std::string &shape, const std::string &offsets) {
    return safetensorsBytes(
        R"({"a":{"dtype":")" + type + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}}", "12345678");
  };
  const std::pair<std::string, std::string> files[] = {
      {"1234", "must be a .safetensors file"},
      {std::string(8, '\xFF') + "{}", "header length must be at most 2"},
      {safetensorsBytes("{", ""), "must be a JSON object"},
      {safetensorsBytes("[]", ""), "must be a JSON object"},
      {safetensorsBytes(std::string(100000, '['), ""), "nested deeper"},
      {safetensorsBytes(R"({"a":)" + std::string(50, '[') + std::string(50, ']') + "}", ""), "nested deeper"},
      {safetensorsBytes(
           R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
           "12345678"),
       "must occur once"},
      {safetensorsBytes(
           R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"b":{"dtype":"F32","shape":[1],"data_offsets":[2,6]}})",
           "123456"),
       "must begin at data offset 4, got 2"},
      {safetensorsBytes(
           R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"b":{"dtype":"F32","shape":[1],"data_offsets":[5,9]}})",
           "123456789"),
       "must begin at data offset 4, got 5"},
      {safetensorsBytes(R"({"a":3})", ""), "must have dtype, shape and data_offsets"},
      {one("F33", "[2]", "[0,8]"), "unsupported dtype 'F33'"},
      {one("F32", "[3]", "[0,8]"), "must take 12 bytes, got 8"},
      {one("F32", "[-2]", "[0,8]"), "invalid shape"},
      {one("F32", "[2.5]", "[0,8]"), "invalid shape"},
      {one("F32", "[4294967296,4294967296]", "[0,8]"), "invalid shape"},
      {one("F32", "[2]", "[8,0]"), "must take 8 bytes, got -8"},
      {one("F32", "[2]", "[0]"), "invalid shape or data_offsets"},
      {one("F32", "[2]", "[0,18446744073709551615]"), "invalid shape or data_offsets"},
      {one("F32", "[1]", "[0,4]"), "must take all 8 bytes of data, got 4"},
      {one("F32", "[4]", "[0,16]"), "must end inside the file"},
  };
  for (const auto &[bytes, message] : files) {
    const absl::Status status = readSafetensors(bytes).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << message;
    EXPECT_NE(std::string(status.message()).find(message), std::string::npos) << message << " / " << status;
  }
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

template <typename From, typename To>
static absl::StatusOr<To> convertOne(ElementType from, From value, ElementType to) {
  To result{};
  const absl::Status status = convertElements(from, &value, to, &result, 1);
  if (!status.ok())
    return status;
  return result;
}

TEST(Elements, IntegersAreConvertedIfTheyFit) {
  EXPECT_EQ((*convertOne<int64_t, int32_t>(ElementType::I64, -100, ElementType::I32)), -100);
  EXPECT_EQ((*convertOne<uint16_t, int64_t>(ElementType::U16, 65535, ElementType::I64)), 65535);
  EXPECT_EQ((*convertOne<int64_t, uint8_t>(ElementType::I64, 256, ElementType::Bool)), 1);
  EXPECT_EQ((*convertOne<uint64_t, int64_t>(ElementType::U64, 5, ElementType::I64)), 5);
  EXPECT_FALSE((convertOne<int64_t, int32_t>(ElementType::I64, int64_t(1) << 31, ElementType::I32).ok()));
  EXPECT_FALSE((convertOne<uint64_t, int64_t>(ElementType::U64, UINT64_MAX, ElementType::I64).ok()));
  EXPECT_FALSE((convertOne<float, int32_t>(ElementType::F32, 1.0f, ElementType::I32).ok()));
}

TEST(Elements, BooleansBecomeZeroOrOne) {
  EXPECT_EQ((*convertOne<uint8_t, uint8_t>(ElementType::Bool, 255, ElementType::Bool)), 1);
}

TEST(Elements, FloatsRoundToNearestEven) {
  EXPECT_EQ((*convertOne<double, float>(ElementType::F64, 0.1, ElementType::F32)), 0.1f);
  EXPECT_EQ((*convertOne<float, uint16_t>(ElementType::F32, 1.00390625f, ElementType::BF16)),
            0x3F80); // a tie, down to even
  EXPECT_EQ((*convertOne<float, uint16_t>(ElementType::F32, 1.01171875f, ElementType::BF16)),
            0x3F82); // a tie, up to even
  EXPECT_EQ((*convertOne<uint16_t, float>(ElementType::F16, 0x3555, ElementType::F32)), 0.333251953125f);
  EXPECT_EQ((*convertOne<uint16_t, float>(ElementType::F16, 0x0001, ElementType::F32)), std::ldexp(1.0f, -24));
  EXPECT_TRUE(std::isnan(*convertOne<uint16_t, float>(ElementType::BF16, 0x7FC0, ElementType::F32)));
}

TEST(Elements, EveryHalfSurvivesTheWayThroughFloat) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    const float wide = *convertOne<uint16_t, float>(ElementType::F16, half, ElementType::F32);
    const uint16_t back = *convertOne<float, uint16_t>(ElementType::F32, wide, ElementType::F16);
    ASSERT_TRUE(std::isnan(wide) || back == half) << half;
  }
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

TEST(Files, NamesOfTensorsAreFilesBelowTheFolder) {
  EXPECT_EQ(numpyPathOf("data", "x"), "data/x.npy");
  EXPECT_EQ(numpyPathOf("data", "net/x:0"), "data/net/x:0.npy");
  for (const char *name : {"", "/x", "x/", "a//b", "..", "../x", "a/../x", "./x"})
    EXPECT_EQ(numpyPathOf("data", name), std::nullopt) << name;
}

} // namespace ds::runtime
