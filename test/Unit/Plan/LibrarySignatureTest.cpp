// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Plan/LibrarySignature.h"

#include "ds/Plan/Access.h"
#include "ds/Plan/Extents.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <algorithm>

using namespace ds::plan;
using testing::ElementsAre;
using testing::HasSubstr;

/// A convolution over two spatial dims whose arguments are numbers that tell their places.
static LibraryValues convolutionValues() {
  LibraryValues values;
  values.buffers = {{"weight", 11}, {"output", 12}, {"input", 10}};
  values.extents = {{"out..", {26, 27}}, {"N", {20}}, {"groups", {23}}, {"Ci", {21}}, {"in..", {24, 25}}, {"Co", {22}}};
  values.ints = {{"S", {2}},           {"kernel..", {3, 5}},   {"strides..", {1, 2}}, {"padBegin..", {6, 7}},
                 {"padEnd..", {8, 9}}, {"dilations..", {4, 4}}};
  return values;
}

namespace ds::plan {
/// What gtest shows of a function.
static void PrintTo(LibraryFunction function, std::ostream *out) { *out << nameOf(function); }
} // namespace ds::plan

class LibrarySignatures : public testing::TestWithParam<LibraryFunction> {};

TEST_P(LibrarySignatures, DimsNameExtentsOrInts) {
  const LibrarySignature &signature = signatureOf(GetParam());
  std::vector<ArgumentName> names = signature.extents;
  names.insert(names.end(), signature.ints.begin(), signature.ints.end());
  for (const LibraryBuffer &buffer : signature.buffers)
    for (ArgumentName dim : buffer.dims)
      EXPECT_THAT(names, testing::Contains(dim)) << buffer.name;
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end()) << "a name stands for two arguments";
}

TEST_P(LibrarySignatures, WriteOneBufferAtLeast) {
  const auto &buffers = signatureOf(GetParam()).buffers;
  EXPECT_TRUE(std::any_of(buffers.begin(), buffers.end(), [](const LibraryBuffer &each) { return each.isOutput; }));
}

TEST_P(LibrarySignatures, LeaveOffOnlyTheLastBuffer) {
  const auto &buffers = signatureOf(GetParam()).buffers;
  EXPECT_TRUE(
      std::none_of(buffers.begin(), buffers.end() - 1, [](const LibraryBuffer &each) { return each.isOptional; }));
}

INSTANTIATE_TEST_SUITE_P(All, LibrarySignatures, testing::ValuesIn(EnumValuesLibraryFunction()),
                         [](const auto &info) { return std::string(nameOf(info.param)); });

TEST(LibraryCall, HasItsArgumentsInTheOrderOfTheSignature) {
  const LibraryCallT call = makeLibraryCall(LibraryFunction::Convolution, DataType::F32, convolutionValues());
  EXPECT_THAT(call.buffers, ElementsAre(10, 11, 12));
  EXPECT_THAT(call.extents, ElementsAre(20, 21, 22, 23, 24, 25, 26, 27));
  EXPECT_THAT(call.ints, ElementsAre(2, 3, 5, 1, 2, 6, 7, 8, 9, 4, 4));
}

TEST(LibraryCall, GivesItsArgumentsByName) {
  const LibraryCallT call = makeLibraryCall(LibraryFunction::Convolution, DataType::F32, convolutionValues());
  const LibraryArguments arguments(call);
  EXPECT_EQ(arguments.placeOf("output"), 2);
  EXPECT_EQ(arguments.placeOf("bias"), std::nullopt);
  EXPECT_THAT(arguments.extents("out.."), ElementsAre(26, 27));
  EXPECT_THAT(arguments.extents("groups"), ElementsAre(23));
  EXPECT_THAT(arguments.ints("padBegin.."), ElementsAre(6, 7));
}

TEST(LibraryCall, LeavesOffOptionalInts) {
  LibraryValues values;
  values.buffers = {{"out", 0}};
  values.extents = {{"outer", {1}}, {"n", {2}}, {"inner", {3}}};
  const LibraryCallT call = makeLibraryCall(LibraryFunction::Iota, DataType::I64, values);
  EXPECT_EQ(findLibraryFault(call), std::nullopt);
  EXPECT_THAT(LibraryArguments(call).ints("step"), ElementsAre());
}

TEST(LibraryCall, TouchesWhatItsBuffersDimsSay) {
  PlanT plan;
  InstructionT instruction;
  instruction.operation.Set(makeLibraryCall(LibraryFunction::Convolution, DataType::F32, convolutionValues()));
  const std::vector<Access> accesses = accessesOf(plan, instruction);
  ASSERT_EQ(accesses.size(), 3u);
  EXPECT_EQ(accesses[1].buffer, 11u);
  EXPECT_TRUE(accesses[1].reads && !accesses[1].writes);
  EXPECT_THAT(accesses[1].extents, ElementsAre(22, 21));
  EXPECT_EQ(accesses[1].count, 15);
  EXPECT_EQ(accesses[1].divisor, 23u);
  EXPECT_TRUE(accesses[2].writes && !accesses[2].reads);
}

TEST(LibraryCall, HasAFaultWithAWrongNumberOfArguments) {
  const LibraryCallT good = makeLibraryCall(LibraryFunction::Convolution, DataType::F32, convolutionValues());
  LibraryCallT call = good;
  call.buffers.push_back(13);
  EXPECT_EQ(findLibraryFault(call), std::nullopt) << "the bias is optional";
  call.buffers.push_back(14);
  EXPECT_THAT(findLibraryFault(call).value_or(""), HasSubstr("convolution must have 3 to 4 buffers, got 5"));
  call = good;
  call.extents.pop_back();
  EXPECT_THAT(findLibraryFault(call).value_or(""), HasSubstr("must have 8 extents, got 7"));
  call = good;
  call.ints.push_back(1);
  EXPECT_THAT(findLibraryFault(call).value_or(""), HasSubstr("must have 11 ints, got 12"));
  call.ints.front() = 4;
  EXPECT_THAT(findLibraryFault(call).value_or(""), HasSubstr("must have 1 to 3 spatial dims"));
}
