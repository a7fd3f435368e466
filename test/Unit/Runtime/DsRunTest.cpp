// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// ds-run from the command line to the files, on hand-built plans.

#include "TinyTraining.h"
#include "ToolRun.h"

#include "ds/Files/ContentHash.h"
#include "ds/Runtime/Session/TensorFiles.h"

#include "nlohmann/json.hpp"

#include <csignal>
#include <sys/resource.h>
#include <sys/stat.h>

namespace ds::runtime {

static constexpr int64_t kDataSteps = 3;

static float dataAt(int64_t i) { return static_cast<float>((i * 37 % 19) - 9) * 0.25f; }

/// What the tiny plan must give for a step.
static double expectedLoss(int64_t step) {
  double sum = 0;
  const int64_t perStep = plan::kTinySamples * plan::kTinyWidth;
  for (int64_t i = 0; i < perStep; ++i)
    sum += double(dataAt(step % kDataSteps * perStep + i)) * dataAt(step % kDataSteps * perStep + i);
  return sum;
}

/// A folder with plan.dsplan and data/x.npy.
static void makeJob(const TemporaryFolder &folder, int64_t ranks, uint32_t repeats = 0) {
  ASSERT_TRUE(plan::savePlan(plan::tinyTraining(ranks, repeats), folder / "plan.dsplan").ok());
  std::filesystem::create_directory(folder / "data");
  std::vector<float> data(kDataSteps * plan::kTinySamples * plan::kTinyWidth);
  for (size_t i = 0; i < data.size(); ++i)
    data[i] = dataAt(static_cast<int64_t>(i));
  writeText(folder / "data/x.npy",
            makeNumpyHeader(ElementType::F32, {kDataSteps, plan::kTinySamples, plan::kTinyWidth}) + bytesOf(data));
}

static std::vector<float> floatsIn(const std::string &path, int64_t offset, int64_t count) {
  std::vector<float> values(count);
  const std::string text = readText(path);
  EXPECT_GE(static_cast<int64_t>(text.size()), offset + count * 4);
  std::memcpy(values.data(), text.data() + offset, count * 4);
  return values;
}

static void expectWeights(const std::string &path, float added) {
  absl::StatusOr<File> file = File::open(path);
  ASSERT_TRUE(file.ok()) << file.status();
  const auto tensors = readSafetensorsHeader(*file);
  ASSERT_TRUE(tensors.ok()) << tensors.status();
  ASSERT_EQ(tensors->count("weight"), 1u);
  const StoredTensor &weight = tensors->at("weight");
  EXPECT_EQ(weight.typeAndShape(), "F32 [6, 5]");
  const std::vector<float> values = floatsIn(path, weight.offset, 30);
  for (int64_t i = 0; i < 30; ++i)
    EXPECT_EQ(values[i], plan::tinyWeight(i) + added) << i;
}

TEST(DsRun, TrainsOnOneToFourRanks) {
  for (const int64_t ranks : {1, 2, 3, 4}) {
    const TemporaryFolder folder;
    makeJob(folder, ranks);
    const ToolResult result =
        runTool(folder, {"train", folder / "plan.dsplan", "--data", folder / "data", "--steps", "5", "--log",
                         folder / "log.jsonl", "--save-model", folder / "out.safetensors", "--dump-variables",
                         "optimizer_state=" + (folder / "state.safetensors")});
    ASSERT_EQ(result.code, 0) << result.err;
    std::istringstream log(readText(folder / "log.jsonl"));
    int64_t step = 0;
    for (std::string line; std::getline(log, line); ++step) {
      const auto record = nlohmann::json::parse(line);
      EXPECT_EQ(record["step"], step);
      EXPECT_FLOAT_EQ(record["loss"].get<float>(), static_cast<float>(expectedLoss(step))) << "on " << ranks;
      EXPECT_EQ(record["grad_norm"], 0.5);
      EXPECT_EQ(record["lr"], 0.5);
      EXPECT_EQ(record["samples"], plan::kTinySamples);
      EXPECT_GT(record["seconds"].get<double>(), 0);
    }
    EXPECT_EQ(step, 5);
    expectWeights(folder / "out.safetensors", 5 * 0.25f);
    EXPECT_NE(result.out.find("step 5/5  loss"), std::string::npos) << result.out;
    EXPECT_NE(result.out.find("arena planned"), std::string::npos);
    EXPECT_EQ(folder.names(), (std::vector<std::string>{"data", "log.jsonl", "out.safetensors", "plan.dsplan",
                                                        "state.safetensors", "stderr", "stdout"}));
  }
}

TEST(DsRun, ReportsMemory) {
  const TemporaryFolder folder;
  makeJob(folder, 2);
  const ToolResult result = runTool(folder, {"train", folder / "plan.dsplan", "--data", folder / "data", "--steps",
                                             "20", "--quiet", "--report", folder / "report.json"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.out, "");
  const auto report = nlohmann::json::parse(readText(folder / "report.json"));
  EXPECT_EQ(report["steps"], 20);
  ASSERT_EQ(report["ranks"].size(), 2u);
  for (const auto &rank : report["ranks"]) {
    EXPECT_EQ(rank["arena_planned"], 2048);
    EXPECT_EQ(rank["arena_taken"], 4096); // whole pages
    EXPECT_LT(rank["resident_peak"].get<int64_t>(), int64_t(150) << 20);
  }
}

TEST(DsRun, ProfilesTheInstructionsOfTheLastStep) {
  for (const uint32_t repeats : {0, 3}) {
    const TemporaryFolder folder;
    makeJob(folder, 2, repeats);
    const ToolResult result = runTool(folder, {"train", folder / "plan.dsplan", "--data", folder / "data", "--steps",
                                               "4", "--profile", folder / "trace.json"});
    ASSERT_EQ(result.code, 0) << result.err;
    std::map<std::string, nlohmann::json> events;
    std::vector<std::string> queues;
    const auto trace = nlohmann::json::parse(readText(folder / "trace.json"));
    for (const auto &event : trace["traceEvents"]) {
      if (event["ph"] == "M") {
        queues.push_back(event["args"]["name"]);
        continue;
      }
      const std::string name = event["name"];
      EXPECT_GE(event["ts"].get<double>(), 0) << name;
      EXPECT_GT(event["dur"].get<double>(), 0) << name;
      EXPECT_TRUE(name.empty() || events.emplace(name, event).second) << "two events of " << name;
    }
    EXPECT_EQ(queues, (std::vector<std::string>{"compute", "dp"}));
    for (const char *name : {"squares", "sum of losses", "gather weight", "update"})
      ASSERT_EQ(events.count(name), 1u) << name;
    EXPECT_EQ(events["squares"]["tid"], 0);
    EXPECT_EQ(events["gather weight"]["tid"], 1);
    // Within one step, and in the order of its events.
    EXPECT_LE(events["squares"]["ts"], events["sum of losses"]["ts"]);
    EXPECT_LE(events["gather weight"]["ts"], events["update"]["ts"]);
  }
}

TEST(DsRun, LoadsWhatItSaved) {
  const TemporaryFolder folder;
  makeJob(folder, 3);
  const std::vector<std::string> common = {
      "train",        folder / "plan.dsplan",    "--data", folder / "data", "--steps", "2",
      "--save-model", folder / "out.safetensors"};
  ASSERT_EQ(runTool(folder, common).code, 0);
  std::vector<std::string> again = common;
  again.insert(again.end(), {"--load-model", folder / "out.safetensors"});
  const ToolResult result = runTool(folder, again);
  ASSERT_EQ(result.code, 0) << result.err;
  expectWeights(folder / "out.safetensors", 4 * 0.25f);
}

TEST(DsRun, InferGathersTheOutputs) {
  for (const int64_t ranks : {1, 3}) {
    const TemporaryFolder folder;
    makeJob(folder, ranks);
    const ToolResult result =
        runTool(folder, {"infer", folder / "plan.dsplan", "--data", folder / "data", "--output", folder / "out"});
    ASSERT_EQ(result.code, 0) << result.err;
    EXPECT_EQ(readText(folder / "out/y.npy"), readText(folder / "data/x.npy"));
    absl::StatusOr<File> file = File::open(folder / "out/loss.npy");
    ASSERT_TRUE(file.ok());
    const absl::StatusOr<StoredTensor> loss = readNumpyHeader(*file);
    ASSERT_TRUE(loss.ok()) << loss.status();
    EXPECT_EQ(loss->shape, (std::vector<int64_t>{kDataSteps}));
    const std::vector<float> values = floatsIn(folder / "out/loss.npy", loss->offset, kDataSteps);
    for (int64_t step = 0; step < kDataSteps; ++step)
      EXPECT_FLOAT_EQ(values[step], static_cast<float>(expectedLoss(step)));
  }
}

//===----------------------------------------------------------------------===//
// Mistakes
//===----------------------------------------------------------------------===//

struct Mistake {
  std::vector<std::string> arguments;
  int code;
  std::string message;
};

/// Values that a plan takes from a file: its parameter, in the file beside it.
static void takeWeightsFrom(const TemporaryFolder &folder, const std::string &bytes) {
  writeText(folder / "model.bin", bytes);
  plan::PlanT plan = plan::tinyTraining(2);
  ContentHash hash;
  ASSERT_TRUE(hash.add(*File::open(folder / "model.bin")).ok());
  auto file = std::make_unique<plan::ModelFileT>();
  file->path = "model.bin";
  file->bytes = bytes.size();
  file->hash = hash.hex();
  plan.model_files.push_back(std::move(file));
  auto source = std::make_unique<plan::FileRangeT>();
  source->path = "model.bin";
  source->length = plan.variables[0]->inline_data.size();
  plan.variables[0]->inline_data.clear();
  plan.variables[0]->source = std::move(source);
  ASSERT_TRUE(plan::savePlan(plan, folder / "plan.dsplan").ok());
}

TEST(DsRun, AnotherModelOfThatNameIsRefused) {
  const TemporaryFolder folder;
  makeJob(folder, 2);
  const std::string bytes(200, '\0');
  takeWeightsFrom(folder, bytes);
  const std::vector<std::string> train = {"train", folder / "plan.dsplan", "--data", folder / "data"};
  EXPECT_EQ(runTool(folder, train).code, 0);
  std::string other = bytes;
  other[199] = 1; // behind the values, which may have moved
  for (const std::string &changed : {other, bytes + "x", bytes.substr(1), std::string()}) {
    writeText(folder / "model.bin", changed);
    const ToolResult result = runTool(folder, train);
    EXPECT_EQ(result.code, 2);
    EXPECT_NE(result.err.find("model.bin: must be the file that the plan was compiled from"), std::string::npos)
        << result.err;
  }
}

TEST(DsRun, OutputsReplaceNothingThatIsRead) {
  const TemporaryFolder folder;
  makeJob(folder, 2);
  takeWeightsFrom(folder, std::string(200, '\0'));
  std::filesystem::create_symlink(folder / "elsewhere", folder / "link");
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  const std::string data = folder / "data", x = folder / "data/x.npy", before = readText(x);
  const std::vector<std::string> forbidden = {
      x, folder / "plan.dsplan", folder / "model.bin", folder / "link", folder / "pipe", "/dev/zero/x"};
  for (const std::string &flag : {"--log", "--save-model", "--report", "--profile"})
    for (const std::string &path : forbidden) {
      const ToolResult result = runTool(folder, {"train", folder / "plan.dsplan", "--data", data, flag, path});
      EXPECT_EQ(result.code, 2) << flag << " " << path;
      EXPECT_EQ(result.err.find("ds-run: error: " + flag + " " + path + ": "), 0u) << result.err;
    }
  const ToolResult device = runTool(folder, {"train", folder / "plan.dsplan", "--data", data, "--report", "/dev/null"});
  EXPECT_EQ(device.code, 2);
  EXPECT_NE(device.err.find("is a device"), std::string::npos) << device.err;
  const std::string twice = folder / "out";
  EXPECT_EQ(runTool(folder, {"train", folder / "plan.dsplan", "--data", data, "--log", twice, "--report", twice}).code,
            2);
  EXPECT_EQ(readText(x), before);
  EXPECT_EQ(folder.names(),
            (std::vector<std::string>{"data", "link", "model.bin", "pipe", "plan.dsplan", "stderr", "stdout"}));
}

TEST(DsRun, TheLogMayGoToAStream) {
  const TemporaryFolder folder;
  makeJob(folder, 2);
  const std::vector<std::string> train = {"train", folder / "plan.dsplan", "--data", folder / "data", "-q", "--log"};
  for (const char *stream : {"/dev/null", "/dev/stdout", "/dev/fd/1"}) {
    std::vector<std::string> arguments = train;
    arguments.push_back(stream);
    const ToolResult result = runTool(folder, arguments);
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_EQ(result.out.find("{\"step\":0,") == 0, stream != std::string("/dev/null")) << result.out;
  }
}

TEST(DsRun, AFullDiskIsFoundBeforeTheTraining) {
  const TemporaryFolder folder;
  makeJob(folder, 2);
  rlimit before;
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit little = before;
  little.rlim_cur = 150; // what may be written to a file, as a disk with little room
  ::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &little), 0);
  ToolRun run(folder, {"train", folder / "plan.dsplan", "--data", folder / "data", "-q", "--save-model",
                       folder / "out.safetensors"});
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  ::signal(SIGXFSZ, SIG_DFL);
  EXPECT_EQ(run.wait(), 6);
  EXPECT_NE(readText(run.err).find("out.safetensors: cannot take the "), std::string::npos) << readText(run.err);
}

TEST(DsRun, SaysWhatIsWrong) {
  const TemporaryFolder folder;
  makeJob(folder, 2);
  const std::string plan = folder / "plan.dsplan", data = folder / "data";
  writeText(folder / "cut.dsplan", readText(plan).substr(0, 900));
  writeText(folder / "text.dsplan", "no plan at all");
  writeText(folder / "cut.safetensors", std::string("\x40\0\0\0\0\0\0\0{}", 10));
  writeText(folder / "bad.json", R"({"train_batch_size": 7, "optimiser": {}})");
  std::filesystem::create_directory(folder / "empty");
  std::filesystem::create_directory(folder / "wide");
  writeText(folder / "wide/x.npy", makeNumpyHeader(ElementType::F32, {1, 7, 5}) + std::string(140, '\0'));
  std::filesystem::create_directory(folder / "integers");
  writeText(folder / "integers/x.npy", makeNumpyHeader(ElementType::I64, {1, 7, 4}) + std::string(224, '\0'));
  const std::vector<Mistake> mistakes = {
      {{"train", folder / "none.dsplan", "--data", data}, 2, "no such plan or model"},
      {{"train", folder / "cut.dsplan", "--data", data}, 8, "invalid plan: file is cut off"},
      {{"train", folder / "text.dsplan", "--data", data}, 2, "invalid plan"},
      {{"train", plan}, 2, "--data must be given"},
      {{"train", plan, "--data", data, "--ranks", "3"}, 2, "is a plan for 2 ranks, got --ranks 3"},
      {{"train", plan, "--data", folder / "nowhere"}, 2, "no such data folder"},
      {{"train", plan, "--data", folder / "empty"}, 2, "has no file for input 'x'"},
      {{"train", plan, "--data", folder / "wide"}, 2, "shape must be [steps] + [7, 4] of input 'x', got [1, 7, 5]"},
      {{"train", plan, "--data", folder / "integers"}, 2, "type must fit F32 of input 'x', got I64"},
      {{"train", plan, "--data", plan}, 2, "a token file gives 'input_ids' and 'labels'"},
      {{"train", plan, "--data", data, "--load-model", folder / "cut.safetensors"},
       2,
       "header length must be at most 2, got 64"},
      {{"train", plan, "--data", data, "--config", folder / "bad.json"}, 2, "optimiser"},
      {{"train", plan, "--data", data, "--save-model", folder / "no/such/folder"}, 2, "cannot write"},
      {{"train", plan, "--data", data, "--profile", folder / "no/such/trace.json"}, 2, "cannot write"},
      {{"train", plan, "--data", data, "--dump-variables", "weights=x"}, 2, "--dump-variables must be ROLE=FILE"},
      {{"train", plan, "--data", data, "--bogus"}, 2, "--bogus"},
      {{"train"}, 2, "program is required"},
  };
  for (const Mistake &mistake : mistakes) {
    const ToolResult result = runTool(folder, mistake.arguments);
    EXPECT_EQ(result.code, mistake.code) << result.err;
    EXPECT_NE(result.err.find(mistake.message), std::string::npos) << mistake.message << "\n" << result.err;
    EXPECT_LE(std::count(result.err.begin(), result.err.end(), '\n'), 3) << result.err;
  }
}

//===----------------------------------------------------------------------===//
// Ends before the end
//===----------------------------------------------------------------------===//

/// A job of three ranks in the middle of step 1 or later.
struct LongJob {
  explicit LongJob(uint32_t repeats, const std::vector<std::string> &more = {},
                   const std::string &awaited = "step 1/") {
    makeJob(folder, 3, repeats);
    std::vector<std::string> arguments = {
        "train",        folder / "plan.dsplan",    "--data", folder / "data", "--steps", "1000000",
        "--save-model", folder / "out.safetensors"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    run = std::make_unique<ToolRun>(folder, arguments);
    EXPECT_TRUE(run->waitForOutput(awaited)) << readText(run->err);
    for (int i = 0; i < 200 && (ranks = run->children()).size() < 3; ++i)
      ::usleep(10000);
    EXPECT_EQ(ranks.size(), 3u);
  }
  /// Expects that the job ends with `code`, having said `message`, and that nothing is left.
  void expectEnd(int code, const std::string &message, int seconds) {
    EXPECT_EQ(run->wait(seconds), code);
    const std::string said = readText(run->err);
    EXPECT_NE(said.find(message), std::string::npos) << said;
    for (const pid_t rank : ranks)
      EXPECT_TRUE(isGone(rank)) << rank;
    EXPECT_EQ(folder.names(), (std::vector<std::string>{"data", "plan.dsplan", "stderr", "stdout"}));
  }

  TemporaryFolder folder;
  std::unique_ptr<ToolRun> run;
  std::vector<pid_t> ranks;
};

TEST(DsRun, KilledRankEndsTheJob) {
  LongJob job(2000);
  ::kill(job.ranks[1], SIGKILL);
  job.expectEnd(4, "rank 1 was lost in step ", 10);
  const std::string said = readText(job.run->err);
  EXPECT_NE(said.find("killed by signal 9"), std::string::npos) << said;
  EXPECT_NE(said.find("op "), std::string::npos) << said;
}

TEST(DsRun, StalledRankEndsTheJob) {
  LongJob job(2000, {"--timeout", "3"});
  ::kill(job.ranks[2], SIGSTOP);
  job.expectEnd(5, "rank ", 30);
}

TEST(DsRun, CtrlCEndsAfterTheStep) {
  LongJob job(2000);
  ::kill(job.run->process, SIGINT);
  job.expectEnd(130, "nothing was saved", 30);
}

TEST(DsRun, SecondCtrlCKills) {
  LongJob job(100000000, {"--timeout", "0"}, "training"); // a step that does not end
  ::usleep(200000);
  ::kill(job.run->process, SIGINT);
  ::usleep(300000);
  ::kill(job.run->process, SIGINT);
  job.expectEnd(130, "interrupted", 10);
}

TEST(DsRun, KilledLauncherTakesTheRanksWithIt) {
  LongJob job(2000);
  ::kill(job.run->process, SIGKILL);
  EXPECT_EQ(job.run->wait(), -SIGKILL);
  for (int i = 0; i < 500 && !std::all_of(job.ranks.begin(), job.ranks.end(), isGone); ++i)
    ::usleep(10000);
  for (const pid_t rank : job.ranks)
    EXPECT_TRUE(isGone(rank));
}

} // namespace ds::runtime
