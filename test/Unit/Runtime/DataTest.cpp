// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// What each rank reads, against lists of indices.

#include "../Files/TemporaryFolder.h"

#include "ds/Plan/LayoutTables.h"
#include "ds/Runtime/Session/DataSource.h"
#include "ds/Runtime/Session/OwnedRuns.h"
#include "ds/Runtime/Session/TensorFiles.h"
#include "ds/Runtime/Session/VariableFiles.h"

namespace ds::runtime {

template <typename T> static std::string rawBytes(const std::vector<T> &values) {
  return std::string(reinterpret_cast<const char *>(values.data()), values.size() * sizeof(T));
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

static std::vector<int64_t> indicesByRuns(const Layout &layout, const Shape &shape, const Mesh &mesh, int64_t rank) {
  std::vector<int64_t> indices;
  (void)forEachOwnedRun(layout, shape, mesh, rank, [&](const OwnedRun &run) {
    EXPECT_EQ(run.local, static_cast<int64_t>(indices.size()));
    EXPECT_GT(run.length, 0);
    for (int64_t i = 0; i < run.length; ++i)
      indices.push_back(run.global + i);
    return absl::OkStatus();
  });
  return indices;
}

/// Layouts with factors, flat pieces, subsets of ranks, and all of them.
static std::vector<std::pair<Layout, Shape>> layouts() {
  const auto make = [](std::vector<DimLayout> dims, AxisList flat) {
    Layout layout;
    layout.dims = std::move(dims);
    layout.flat = std::move(flat);
    return layout;
  };
  const DimLayout whole = {{}}, dp = {{kWholeDim, {"dp"}}}, tp = {{kWholeDim, {"tp"}}},
                  both = {{kWholeDim, {"dp", "tp"}}};
  const DimLayout heads = {{3, {}}, {5, {"tp"}}, {2, {}}};
  std::vector<std::pair<Layout, Shape>> all = {{make({}, {}), {}},
                                               {make({}, {"dp"}), {}},
                                               {make({whole, whole}, {}), {4, 3}},
                                               {make({dp, whole}, {}), {7, 3}},
                                               {make({whole, tp}, {}), {4, 5}},
                                               {make({dp, tp}, {}), {5, 3}},
                                               {make({whole, heads}, {}), {4, 30}},
                                               {make({dp, heads}, {}), {4, 30}},
                                               {make({heads, whole}, {"dp"}), {30, 2}},
                                               {make({whole, whole}, {"dp", "tp"}), {5, 3}},
                                               {make({whole, tp}, {"dp"}), {7, 3}},
                                               {make({both, whole}, {}), {3, 2}},
                                               {make({dp, whole}, {}), {0, 3}},
                                               {make({whole, dp}, {"tp"}), {1, 1}}};
  all.push_back(all[3]);
  all.back().first.at = {{"tp", {1}}};
  return all;
}

TEST(OwnedRuns, AreTheOwnedIndices) {
  for (const Mesh &mesh : {Mesh({{"dp", 2, {}}, {"tp", 2, {}}}), Mesh({{"dp", 4, {}}, {"tp", 3, {2, 1, 3}}}),
                           Mesh({{"dp", 1, {}}, {"tp", 2, {}}})})
    for (const auto &[layout, shape] : layouts())
      for (int64_t rank = 0; rank < mesh.numRanks(); ++rank)
        EXPECT_EQ(indicesByRuns(layout, shape, mesh, rank), ownedIndices(layout, shape, mesh, rank))
            << layout.str() << " rank " << rank;
}

TEST(OwnedRuns, MayBeCutToARange) {
  const Mesh mesh({{"dp", 4, {}}, {"tp", 3, {2, 1, 3}}});
  for (const auto &[layout, shape] : layouts())
    for (int64_t rank = 0; rank < mesh.numRanks(); ++rank) {
      const std::vector<int64_t> all = ownedIndices(layout, shape, mesh, rank);
      for (int64_t begin = 0; begin < 130; begin += 3)
        for (const int64_t length : {0, 1, 7, 1000}) {
          std::vector<int64_t> wanted, found;
          std::copy_if(all.begin(), all.end(), std::back_inserter(wanted),
                       [&](int64_t index) { return begin <= index && index < begin + length; });
          const Interval range{begin, begin + length};
          (void)forEachOwnedRunIn(range, layout, shape, mesh, rank, [&](const OwnedRun &run) {
            for (int64_t i = 0; i < run.length; ++i)
              found.push_back(all[run.local + i] == run.global + i ? run.global + i : -1);
            return absl::OkStatus();
          });
          EXPECT_EQ(found, wanted) << layout.str() << " rank " << rank << " from " << begin;
        }
    }
}

TEST(OwnedRuns, FirstHoldersCoverTheTensorOnce) {
  const Mesh mesh({{"dp", 3, {}}, {"tp", 2, {}}});
  for (const auto &[layout, shape] : layouts()) {
    std::vector<int64_t> all;
    int64_t elements = 1;
    for (const int64_t dim : shape)
      elements *= dim;
    for (int64_t rank = 0; rank < mesh.numRanks(); ++rank)
      if (isFirstHolder(layout, mesh, rank))
        for (const int64_t index : indicesByRuns(layout, shape, mesh, rank))
          all.push_back(index);
    std::sort(all.begin(), all.end());
    ASSERT_EQ(static_cast<int64_t>(all.size()), elements) << layout.str();
    for (int64_t i = 0; i < elements; ++i)
      EXPECT_EQ(all[i], i);
  }
}

TEST(OwnedRuns, AreLongWhereTheLayoutAllows) {
  const Mesh mesh({{"dp", 2, {}}, {"tp", 2, {}}});
  int64_t runs = 0;
  const auto count = [&](const OwnedRun &) {
    ++runs;
    return absl::OkStatus();
  };
  Layout layout = Layout::replicated(3);
  layout.dims[0][0].axes = {"dp"};
  (void)forEachOwnedRun(layout, {8, 100, 100}, mesh, 1, count);
  EXPECT_EQ(runs, 1);
  layout.dims[0][0].axes = {};
  layout.flat = {"dp", "tp"};
  (void)forEachOwnedRun(layout, {8, 100, 100}, mesh, 1, count);
  EXPECT_EQ(runs, 2);
}

//===----------------------------------------------------------------------===//
// Data
//===----------------------------------------------------------------------===//

static void addInput(plan::PlanT &plan, const std::string &name, plan::DataType type, const Shape &shape) {
  Layout layout = Layout::replicated(shape.size());
  if (!shape.empty())
    layout.dims[0][0].axes = {"dp"};
  auto port = std::make_unique<plan::PortT>();
  port->name = name;
  port->type = type;
  port->shape = shape;
  port->layout = plan::toPlanLayout(layout, shape, plan::meshOf(plan));
  plan.inputs.push_back(std::move(port));
}

static plan::PlanT planOnTwoRanks() {
  plan::PlanT plan;
  plan.mesh = plan::toPlanMesh(Mesh({{"dp", 2, {}}}));
  return plan;
}

template <typename T>
static std::vector<T> readAs(const plan::PlanT &plan, const DataSource &data, int64_t step, size_t input, int64_t rank,
                             size_t count) {
  std::vector<T> values(count);
  const absl::Status status =
      data.read(step, input, plan::meshOf(plan), rank, {values.data(), values.size() * sizeof(T)});
  EXPECT_TRUE(status.ok()) << status;
  return values;
}

TEST(Data, RanksReadTheirSamplesAndWrapAround) {
  const TemporaryFolder folder;
  plan::PlanT plan = planOnTwoRanks();
  addInput(plan, "ds.learning_rate", plan::DataType::F32, {});
  addInput(plan, "ids", plan::DataType::I32, {3, 2});
  std::vector<int64_t> values(2 * 3 * 2);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<int64_t>(i);
  writeText(folder / "ids.npy", makeNumpyHeader(ElementType::I64, {2, 3, 2}) + rawBytes(values));
  const auto data = openData(plan, folder.path);
  ASSERT_TRUE(data.ok()) << data.status();
  EXPECT_EQ((*data)->steps(), 2);
  EXPECT_EQ(readAs<int32_t>(plan, **data, 0, 1, 0, 4), (std::vector<int32_t>{0, 1, 2, 3}));
  EXPECT_EQ(readAs<int32_t>(plan, **data, 1, 1, 1, 2), (std::vector<int32_t>{10, 11}));
  EXPECT_EQ(readAs<int32_t>(plan, **data, 5, 1, 1, 2), (std::vector<int32_t>{10, 11}));
}

TEST(Data, NumbersThatDoNotFitAreNamed) {
  const TemporaryFolder folder;
  plan::PlanT plan = planOnTwoRanks();
  addInput(plan, "ids", plan::DataType::I32, {1});
  writeText(folder / "ids.npy", makeNumpyHeader(ElementType::I64, {1, 1}) + rawBytes<int64_t>({int64_t(1) << 40}));
  const auto data = openData(plan, folder.path);
  ASSERT_TRUE(data.ok());
  int32_t value = 0;
  const absl::Status status = (*data)->read(0, 0, plan::meshOf(plan), 0, {&value, 4});
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_NE(std::string(status.message()).find("must fit I32, got 1.09951e+12"), std::string::npos) << status;
}

TEST(Data, NumbersThatThePlanDoesNotAllowAreNamed) {
  const TemporaryFolder folder;
  plan::PlanT plan = planOnTwoRanks();
  addInput(plan, "labels", plan::DataType::I64, {3, 2});
  plan.inputs[0]->allowed = std::make_unique<plan::IntSetT>();
  plan.inputs[0]->allowed->high = 256;
  plan.inputs[0]->allowed->others = {-100};
  const std::vector<int64_t> good = {0, 255, -100, 7, -100, 1};
  const auto errorOf = [&](size_t place, int64_t value, int64_t rank) {
    std::vector<int64_t> values = good;
    values[place] = value;
    writeText(folder / "labels.npy", makeNumpyHeader(ElementType::I64, {1, 3, 2}) + rawBytes(values));
    const auto data = openData(plan, folder.path);
    int64_t buffer[4];
    const absl::Status status = (*data)->read(0, 0, plan::meshOf(plan), rank, {buffer, sizeof(buffer)});
    EXPECT_TRUE(status.ok() || absl::IsInvalidArgument(status));
    return std::string(status.message());
  };
  EXPECT_EQ(errorOf(0, 0, 0), "");
  EXPECT_EQ(errorOf(0, 0, 1), "");
  EXPECT_EQ(errorOf(1, 256, 0), "sample 0, position 1: must be in [0, 256) or -100, got 256");
  EXPECT_EQ(errorOf(4, -1, 1), "sample 2, position 0: must be in [0, 256) or -100, got -1");
  EXPECT_EQ(errorOf(2, (int64_t(1) << 40) + 7, 0),
            "sample 1, position 0: must be in [0, 256) or -100, got 1099511627783");
  EXPECT_EQ(errorOf(4, -1, 0), "") << "what another rank holds is not this one's to check";
}

TEST(Data, TokensThatThePlanDoesNotAllowAreNamed) {
  const TemporaryFolder folder;
  plan::PlanT plan = planOnTwoRanks();
  addInput(plan, "input_ids", plan::DataType::I32, {2, 2});
  plan.inputs[0]->allowed = std::make_unique<plan::IntSetT>();
  plan.inputs[0]->allowed->low = -50;
  plan.inputs[0]->allowed->high = 50;
  writeText(folder / "tokens.bin", rawBytes<uint16_t>({1, 2, 3, 50, 5}));
  const auto data = openData(plan, folder / "tokens.bin");
  ASSERT_TRUE(data.ok()) << data.status();
  int32_t buffer[2];
  const absl::Status status = (*data)->read(0, 0, plan::meshOf(plan), 1, {buffer, sizeof(buffer)});
  EXPECT_EQ(status.message(), "sample 1, position 1: must be in [-50, 50), got 50");
}

TEST(Data, StepsMustAgree) {
  const TemporaryFolder folder;
  plan::PlanT plan = planOnTwoRanks();
  addInput(plan, "a", plan::DataType::F32, {2});
  addInput(plan, "b", plan::DataType::F32, {2});
  writeText(folder / "a.npy", makeNumpyHeader(ElementType::F32, {2, 2}) + std::string(16, '\0'));
  writeText(folder / "b.npy", makeNumpyHeader(ElementType::F32, {3, 2}) + std::string(24, '\0'));
  EXPECT_NE(std::string(openData(plan, folder.path).status().message()).find("must have the 2 steps of"),
            std::string::npos);
  writeText(folder / "b.npy", makeNumpyHeader(ElementType::F32, {0, 2}));
  EXPECT_NE(std::string(openData(plan, folder.path).status().message()).find("must have at least 1 step"),
            std::string::npos);
}

TEST(Data, TokensGiveInputsAndShiftedLabels) {
  const TemporaryFolder folder;
  plan::PlanT plan = planOnTwoRanks();
  addInput(plan, "input_ids", plan::DataType::I64, {2, 3});
  addInput(plan, "labels", plan::DataType::I64, {2, 3});
  std::vector<uint16_t> narrow;
  std::vector<uint32_t> wide;
  for (int i = 0; i < 14; ++i) { // two steps of six tokens, and one more label; the last is left over
    narrow.push_back(static_cast<uint16_t>(60000 + i));
    wide.push_back(static_cast<uint32_t>(100000 + i));
  }
  writeText(folder / "tokens.bin", rawBytes(narrow));
  writeText(folder / "tokens.u32", rawBytes(wide));
  const auto data = openData(plan, folder / "tokens.bin");
  ASSERT_TRUE(data.ok()) << data.status();
  EXPECT_EQ((*data)->steps(), 2);
  EXPECT_EQ(readAs<int64_t>(plan, **data, 0, 0, 1, 3), (std::vector<int64_t>{60003, 60004, 60005}));
  EXPECT_EQ(readAs<int64_t>(plan, **data, 1, 1, 1, 3), (std::vector<int64_t>{60010, 60011, 60012}));
  EXPECT_EQ(readAs<int64_t>(plan, **data, 2, 0, 0, 3), (std::vector<int64_t>{60000, 60001, 60002}));
  const auto wideData = openData(plan, folder / "tokens.u32");
  ASSERT_TRUE(wideData.ok());
  EXPECT_EQ(readAs<int64_t>(plan, **wideData, 0, 1, 0, 3), (std::vector<int64_t>{100001, 100002, 100003}));
  EXPECT_FALSE(openData(plan, folder / "tokens.bin", ElementType::F32).ok());
  writeText(folder / "odd.bin", "123");
  EXPECT_NE(std::string(openData(plan, folder / "odd.bin").status().message()).find("must be a multiple of 2"),
            std::string::npos);
  writeText(folder / "short.bin", "1234");
  EXPECT_NE(std::string(openData(plan, folder / "short.bin").status().message()).find("at least 7 tokens"),
            std::string::npos);
}

//===----------------------------------------------------------------------===//
// Outputs
//===----------------------------------------------------------------------===//

TEST(Outputs, WhatCannotBeWrittenIsSaidByItsName) {
  const TemporaryFolder folder;
  const auto reasonOf = [](const std::string &path) { return std::string(checkWritable(path).message()); };
  EXPECT_EQ(reasonOf(folder / "new"), "");
  writeText(folder / "old", "text");
  EXPECT_EQ(reasonOf(folder / "old"), "");
  EXPECT_EQ(readText(folder / "old"), "text");
  EXPECT_EQ(reasonOf(folder.path), folder.path + ": cannot write: is a folder");
  EXPECT_EQ(reasonOf(folder / "no/new"), folder / "no/new" + ": cannot write: " + (folder / "no") + " is no folder");
  EXPECT_EQ(reasonOf(folder / "old/new"), folder / "old/new" + ": cannot write: " + (folder / "old") + " is no folder");
}

//===----------------------------------------------------------------------===//
// Variables
//===----------------------------------------------------------------------===//

/// A plan with one parameter "w" [4, 3] in flat shards, and two ranks' memory for it.
struct TwoRanks {
  TwoRanks() : plan(planOnTwoRanks()), mesh(plan::meshOf(plan)) {
    Layout layout = Layout::replicated(2);
    layout.flat = {"dp"};
    auto variable = std::make_unique<plan::VariableT>();
    variable->name = "w";
    variable->type = plan::DataType::F32;
    variable->shape = {4, 3};
    variable->layout = plan::toPlanLayout(layout, {4, 3}, mesh);
    plan.variables.push_back(std::move(variable));
  }
  RankMemory memoryOf(int64_t rank) {
    return {plan, mesh, rank,
            [this, rank](uint32_t) {
              return BufferView{memory[rank], sizeof(memory[rank])};
            },
            [this](int64_t other, uint32_t) { return memory[other]; }};
  }

  plan::PlanT plan;
  const Mesh mesh;
  float memory[2][6] = {};
};

TEST(Variables, ComeFromAPartOfAFile) {
  const TemporaryFolder folder;
  TwoRanks ranks;
  std::vector<float> values(14);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(i) - 2;
  writeText(folder / "model.bin", rawBytes(values));
  ranks.plan.variables[0]->source = std::make_unique<plan::FileRangeT>();
  plan::FileRangeT &source = *ranks.plan.variables[0]->source;
  source.path = "model.bin";
  source.offset = 8;
  source.length = 48;
  for (const int64_t rank : {0, 1}) {
    const absl::Status status = initializeVariables(ranks.memoryOf(rank), folder.path);
    ASSERT_TRUE(status.ok()) << status;
    for (int64_t i = 0; i < 6; ++i)
      EXPECT_EQ(ranks.memory[rank][i], static_cast<float>(rank * 6 + i));
  }
  const auto messageOf = [&] { return std::string(initializeVariables(ranks.memoryOf(1), folder.path).message()); };
  source.length = 44;
  EXPECT_EQ(messageOf(), "variable 'w': invalid plan: source must have 48 bytes, got 44");
  source.length = 48;
  source.offset = 16;
  EXPECT_NE(messageOf().find("got end of file"), std::string::npos) << messageOf();
  source.offset = UINT64_MAX - 8;
  EXPECT_NE(messageOf().find("is too large"), std::string::npos);
  source.offset = 8;
  source.path = "/etc/passwd";
  EXPECT_NE(messageOf().find("must be relative to"), std::string::npos) << messageOf();
  source.path = "../model.bin";
  EXPECT_FALSE(initializeVariables(ranks.memoryOf(1), folder.path).ok());
}

TEST(Variables, AreSavedWholeAndLoadedInParts) {
  const TemporaryFolder folder;
  TwoRanks ranks;
  for (int64_t i = 0; i < 12; ++i)
    ranks.memory[i / 6][i % 6] = static_cast<float>(i * i);
  absl::StatusOr<PendingFile> pending = PendingFile::create(folder / "w.safetensors");
  ASSERT_TRUE(pending.ok());
  for (const int64_t rank : {1, 0})
    ASSERT_TRUE(saveVariables(ranks.memoryOf(rank), modelRoles(), pending->file()).ok());
  ASSERT_TRUE(pending->commit().ok());
  std::memset(ranks.memory, 0, sizeof(ranks.memory));
  for (const int64_t rank : {0, 1}) {
    const auto loaded = loadModel(ranks.memoryOf(rank), folder / "w.safetensors");
    ASSERT_TRUE(loaded.ok()) << loaded.status();
    EXPECT_TRUE(loaded->unused.empty() && loaded->kept.empty());
  }
  for (int64_t i = 0; i < 12; ++i)
    EXPECT_EQ(ranks.memory[i / 6][i % 6], static_cast<float>(i * i));
  ranks.plan.variables[0]->name = "net.w";
  EXPECT_EQ(loadModel(ranks.memoryOf(0), folder / "w.safetensors")->removed, "net.");
  ranks.plan.variables[0]->role = plan::VariableRole::Buffer;
  EXPECT_EQ(loadModel(ranks.memoryOf(0), folder / "w.safetensors")->kept, (std::vector<std::string>{"net.w"}));
  ranks.plan.variables[0]->role = plan::VariableRole::Cache;
  EXPECT_EQ(loadModel(ranks.memoryOf(0), folder / "w.safetensors")->unused, (std::vector<std::string>{"w"}));
  ranks.plan.variables[0]->role = plan::VariableRole::Parameter;
  ranks.plan.variables[0]->name = "v";
  EXPECT_NE(std::string(loadModel(ranks.memoryOf(0), folder / "w.safetensors").status().message())
                .find("has no tensor 'v' of the model"),
            std::string::npos);
}

} // namespace ds::runtime
