// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// The emitter orders queues by accessesOf, and check() looks for races by the same list. So nobody else would notice an
// access that is missing in it.

#include "SmallPlan.h"

#include "ds/Plan/Access.h"

#include "gtest/gtest.h"

using namespace ds::plan;

/// What the operation touches, as "r7 w9 rw3": reads buffer 7, writes 9, reads and writes 3.
template <typename OperationT> static std::string touched(OperationT operation, const PlanT &plan = {}) {
  InstructionT instruction;
  instruction.operation.Set(std::move(operation));
  std::string text;
  for (const Access &access : accessesOf(plan, instruction))
    text += (text.empty() ? "" : " ") + std::string(access.reads ? "r" : "") + (access.writes ? "w" : "") +
            std::to_string(access.buffer);
  return text;
}

static CollectiveT collective(CollectiveKind kind) {
  CollectiveT made;
  made.kind = kind;
  for (uint32_t buffer : {1u, 3u}) {
    auto segment = std::make_unique<SegmentT>();
    segment->input = buffer;
    segment->output = buffer + 1;
    made.segments.push_back(std::move(segment));
  }
  return made;
}

TEST(Access, OfAKernelIsWriteFromTheFirstOutputOn) {
  KernelCallT call;
  call.buffers = {4, 5, 6, 7};
  call.first_output = 2;
  EXPECT_EQ(touched(call), "r4 r5 w6 w7");
}

TEST(Access, OfAMatmulReadsTheResultWhereItAccumulates) {
  MatmulT matmul;
  matmul.a = 1;
  matmul.b = 2;
  matmul.c = 3;
  EXPECT_EQ(touched(matmul), "r1 r2 w3");
  matmul.bias = 4;
  matmul.accumulate = true;
  EXPECT_EQ(touched(matmul), "r1 r2 r4 rw3");
}

TEST(Access, OfACopyReadsTheTargetWhereItAccumulates) {
  CopyT copy;
  copy.source = std::make_unique<ViewT>();
  copy.source->buffer = 1;
  copy.target = std::make_unique<ViewT>();
  copy.target->buffer = 2;
  EXPECT_EQ(touched(copy), "r1 w2");
  copy.accumulate = true;
  EXPECT_EQ(touched(copy), "r1 rw2");
}

TEST(Access, OfAFillWrites) {
  FillT fill;
  fill.buffer = 5;
  EXPECT_EQ(touched(fill), "w5");
}

TEST(Access, OfACollectiveHasEverySegment) {
  for (CollectiveKind kind : EnumValuesCollectiveKind())
    EXPECT_EQ(touched(collective(kind)), "r1 w2 r3 w4") << nameOf(kind);
}

TEST(Access, OfLocalCastsReadsAndWrites) {
  TakeShardT shard;
  shard.input = 1;
  shard.output = 2;
  EXPECT_EQ(touched(shard), "r1 w2");
  ToPartialT partial;
  partial.input = 3;
  partial.output = 4;
  EXPECT_EQ(touched(partial), "r3 w4");
}

TEST(Access, OfARemapHasTheElementsOfTheRankWithMost) {
  TestPlan builder({{"dp", 4, {}}});
  const ds::Mesh mesh = meshOf(builder.plan);
  RemapT remap;
  remap.input = 1;
  remap.output = 2;
  remap.shape = {10};
  remap.from = toPlanLayout(ds::Layout::replicated(1), {10}, mesh);
  remap.to = toPlanLayout(ds::Layout::replicated(1), {10}, mesh);
  remap.to->flat = {0};
  EXPECT_EQ(touched(remap, builder.plan), "r1 w2");
  InstructionT instruction;
  instruction.operation.Set(std::move(remap));
  const std::vector<Access> accesses = accessesOf(builder.plan, instruction);
  EXPECT_EQ(accesses[0].count, 10);
  EXPECT_EQ(accesses[1].count, 3);
}

TEST(Access, OfLoopMarkersIsNone) {
  EXPECT_EQ(touched(LoopBeginT()), "");
  EXPECT_EQ(touched(LoopEndT()), "");
}
