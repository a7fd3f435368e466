// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "SmallPlan.h"

#include "ds/Plan/Check.h"
#include "ds/Plan/Inspect.h"
#include "ds/Plan/Traffic.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <nlohmann/json.hpp>

using namespace ds;
using namespace ds::plan;
using testing::HasSubstr;

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

/// smallPlan with a report, a variable and machine code.
static TestPlan richPlan() {
  TestPlan builder = smallPlan();
  auto variable = std::make_unique<VariableT>();
  variable->name = "weight\"\xFF"; // a quote and no UTF-8
  variable->shape = {10};
  ds::Layout layout = ds::Layout::replicated(1);
  layout.flat = {"dp"};
  variable->layout = toPlanLayout(layout, {10}, meshOf(builder.plan));
  variable->buffer = builder.buffer("weight", 768, 256, {0, 2});
  builder.plan.variables.push_back(std::move(variable));
  auto object = std::make_unique<NativeObjectT>();
  object->target = "x86_64";
  object->data.resize(2048);
  builder.plan.objects.push_back(std::move(object));
  auto peak = std::make_unique<PeakReportT>();
  peak->peak_bytes = 1024;
  peak->lower_bound_bytes = 512;
  peak->instruction = "op1";
  peak->largest.push_back(std::make_unique<LiveTensorT>());
  peak->largest[0]->name = "whole";
  peak->largest[0]->bytes = 256;
  builder.plan.peaks.push_back(std::move(peak));
  builder.plan.queues[1]->instructions[0]->seconds = 0.25;
  return builder;
}

TEST(Describe, saysWhatPeopleAskFor) {
  TestPlan builder = richPlan();
  ASSERT_EQ(check(builder.plan), absl::OkStatus());
  std::string text = describePlan(builder.plan);
  EXPECT_THAT(text, HasSubstr("mesh       <dp = 2>, 2 ranks"));
  EXPECT_THAT(text, HasSubstr("code       2.0 KiB for x86_64"));
  EXPECT_THAT(text, HasSubstr("arena \"device\" in device memory: 1.0 KiB (1024 bytes) on each rank, 4 buffers"));
  EXPECT_THAT(text, HasSubstr("peak 1.0 KiB, 100.0 % above the lower bound of 512 bytes, which is reached at \"op1\""));
  EXPECT_THAT(text, HasSubstr("f32[10]"));
  EXPECT_THAT(text, HasSubstr("all_gather over dp, 1 segments  (#0 shard) -> #1 whole  waits 0  signals 1"));
  EXPECT_THAT(text, HasSubstr("250.000 ms predicted"));
}

TEST(Describe, bytesHaveUnits) {
  EXPECT_EQ(formatBytes(1), "1 byte");
  EXPECT_EQ(formatBytes(1023), "1023 bytes");
  EXPECT_EQ(formatBytes(1536), "1.5 KiB");
  EXPECT_EQ(formatBytes(uint64_t(3) << 30), "3.0 GiB");
}

TEST(Describe, setsOfIntegersAreIntervals) {
  IntSetT set;
  set.low = -3;
  set.high = 256;
  EXPECT_EQ(formatIntSet(set), "[-3, 256)");
  set.others = {-100, 1000};
  EXPECT_EQ(formatIntSet(set), "[-3, 256) or -100 or 1000");
}

TEST(Json, isValidAndComplete) {
  nlohmann::json json = nlohmann::json::parse(planAsJson(richPlan().plan));
  EXPECT_EQ(json["version"], kPlanVersion);
  EXPECT_EQ(json["mesh"][0]["name"], "dp");
  EXPECT_EQ(json["inputs"], nlohmann::json::array());
  EXPECT_EQ(json["objects"][0]["data"]["bytes"], 2048);
  EXPECT_EQ(json["variables"][0]["role"], "Parameter");
  EXPECT_EQ(json["variables"][0]["source"], nullptr);
  const nlohmann::json &gather = json["queues"][1]["instructions"][0];
  EXPECT_EQ(gather["operation_type"], "Collective");
  EXPECT_EQ(gather["operation"]["kind"], "AllGather");
  EXPECT_EQ(gather["operation"]["segments"][0]["output"], 1);
  EXPECT_EQ(gather["waits"], nlohmann::json::array({0}));
  EXPECT_EQ(gather["seconds"], 0.25);
}

//===----------------------------------------------------------------------===//
// Traffic
//===----------------------------------------------------------------------===//

/// Each kind of collective over 10 elements on dp = 4 in a loop of 3; extent 0: shard, 1: 10, 2: 1.
static TestPlan planWithTraffic() {
  TestPlan builder({{"dp", 4, {}}, {"tp", 2, {}}});
  ds::Layout split = ds::Layout::replicated(1);
  split.dims[0][0].axes = {"dp"};
  uint32_t ten = builder.extent(constantExtent(10));
  size_t queue = builder.queue("all");
  LoopBeginT begin;
  begin.count = 3;
  builder.add(queue, builder.collective(CollectiveKind::AllReduce, 1, {0, 0}, ten));
  builder.add(queue, begin);
  for (CollectiveKind kind : EnumValuesCollectiveKind())
    builder.add(queue, builder.collective(kind, 0, {0, 1}, ten));
  builder.add(queue, LoopEndT());
  RemapT remap;
  remap.shape = {10};
  remap.from = toPlanLayout(split, {10}, meshOf(builder.plan));
  remap.to = toPlanLayout(ds::Layout::replicated(1), {10}, meshOf(builder.plan));
  builder.add(queue, std::move(remap));
  return builder;
}

TEST(Traffic, countsByKindOnTheBusiestRank) {
  std::map<std::string, double> elements = receivedElements(planWithTraffic().plan);
  EXPECT_DOUBLE_EQ(elements["all_gather"], 3 * 9); // blocks of 3, 3, 3, 1: the last rank lacks 9
  EXPECT_DOUBLE_EQ(elements["reduce_scatter"], 3 * 0.75 * 10);
  EXPECT_DOUBLE_EQ(elements["all_reduce"], 3 * 1.5 * 10 + 10);
  EXPECT_DOUBLE_EQ(elements["all_to_all"], 3 * 0.75 * 3);
  EXPECT_DOUBLE_EQ(elements["remap"], 9);
}

TEST(Traffic, listsByKindAndAxis) {
  std::vector<Traffic> list = trafficOf(planWithTraffic().plan);
  ASSERT_EQ(list.size(), 6u);
  EXPECT_EQ(list[1].kind, "all_reduce");
  EXPECT_EQ(list[1].axis, "dp");
  EXPECT_EQ(list[1].calls, 3);
  EXPECT_DOUBLE_EQ(list[1].bytes, 4 * 45);
  EXPECT_EQ(list[2].axis, "tp");
  EXPECT_EQ(list[2].calls, 1);
}

TEST(Time, overlapsQueuesAndMultipliesLoops) {
  TestPlan builder({{"dp", 2, {}}});
  size_t a = builder.queue("a"), b = builder.queue("b");
  builder.plan.events = 1;
  LoopBeginT begin;
  begin.count = 4;
  builder.add(a, builder.fill(0, 0)).seconds = 1; // before
  builder.add(a, begin);
  builder.add(b, begin);
  builder.add(a, builder.fill(0, 0), {}, {0}).seconds = 2;
  builder.add(b, builder.fill(0, 0), {0}).seconds = 5; // after a's, beside a's next
  builder.add(a, builder.fill(0, 0)).seconds = 3;
  builder.add(a, LoopEndT());
  builder.add(b, LoopEndT());
  builder.add(b, builder.fill(0, 0)).seconds = 1;
  builder.add(a, builder.fill(0, 0)).seconds = 2;
  EXPECT_DOUBLE_EQ(predictedSeconds(builder.plan), 1 + 4 * (2 + 5) + 2);
}
