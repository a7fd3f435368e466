// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// How ds-run calls the ds-compile beside it, with a script in the compiler's place.

#include "TinyTraining.h"
#include "ToolRun.h"

#include "ds/Runtime/Session/TensorFiles.h"

#include <csignal>

namespace ds::runtime {

namespace {
/// A folder with ds-run, a ds-compile that logs its arguments and copies a plan, a model, and an empty cache.
struct Workshop {
  Workshop() {
    std::filesystem::create_directory(folder / "bin");
    std::filesystem::copy_file(DS_RUN_PATH, folder / "bin/ds-run");
    writeScript("");
    EXPECT_TRUE(plan::savePlan(plan::tinyTraining(2), folder / "made.dsplan").ok());
    std::filesystem::create_directory(folder / "data");
    writeText(folder / "data/x.npy", makeNumpyHeader(ElementType::F32, {1, plan::kTinySamples, plan::kTinyWidth}) +
                                         std::string(4 * plan::kTinySamples * plan::kTinyWidth, '\0'));
    writeText(folder / "model.onnx", "a model");
    ::setenv("XDG_CACHE_HOME", (folder / "cache").c_str(), 1);
  }
  /// The compiler; `first` are commands of the shell that it begins with.
  void writeScript(const std::string &first) {
    writeText(folder / "bin/ds-compile", "#!/bin/sh\necho \"$@\" >> " + folder / "calls" + "\n" + first +
                                             "\nwhile [ \"$1\" != -o ]; do shift; done\ncp " + folder / "made.dsplan" +
                                             " \"$2\"\n");
    std::filesystem::permissions(folder / "bin/ds-compile", std::filesystem::perms::owner_all);
  }
  std::vector<std::string> arguments(const std::vector<std::string> &more = {}) const {
    std::vector<std::string> all = {"train", folder / "model.onnx", "--ranks", "2", "--data", folder / "data"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  ToolResult run(const std::vector<std::string> &more = {}) const {
    return runTool(folder, arguments(more), folder / "bin/ds-run");
  }
  int64_t calls() const {
    const std::string text = readText(folder / "calls");
    return std::count(text.begin(), text.end(), '\n');
  }
  std::vector<std::string> cachedFiles() const {
    std::vector<std::string> names;
    if (std::filesystem::exists(folder / "cache/ds-mlir"))
      for (const auto &entry : std::filesystem::directory_iterator(folder / "cache/ds-mlir"))
        names.push_back(entry.path().string());
    return names;
  }

  TemporaryFolder folder;
};
} // namespace

TEST(CompileModel, EqualModelsAreCompiledOnce) {
  Workshop workshop;
  const ToolResult first = workshop.run();
  ASSERT_EQ(first.code, 0) << first.err;
  EXPECT_EQ(workshop.run().code, 0);
  EXPECT_EQ(workshop.calls(), 1);
  EXPECT_EQ(workshop.cachedFiles().size(), 1u);
  writeText(workshop.folder / "model.onnx", "another model");
  EXPECT_EQ(workshop.run().code, 0);
  EXPECT_EQ(workshop.calls(), 2);
  EXPECT_EQ(workshop.run({"--", "--flag"}).code, 0);
  EXPECT_EQ(workshop.calls(), 3);
  EXPECT_NE(readText(workshop.folder / "calls").find("--ranks 2"), std::string::npos);
}

TEST(CompileModel, DamagedPlansAreMadeAgain) {
  Workshop workshop;
  ASSERT_EQ(workshop.run().code, 0);
  ASSERT_EQ(workshop.cachedFiles().size(), 1u);
  writeText(workshop.cachedFiles()[0], "xxxxDSPLdamaged");
  EXPECT_EQ(workshop.run().code, 0);
  EXPECT_EQ(workshop.calls(), 2);
}

TEST(CompileModel, PlanOutKeepsThePlan) {
  Workshop workshop;
  EXPECT_EQ(workshop.run({"--plan-out", workshop.folder / "kept.dsplan"}).code, 0);
  EXPECT_EQ(readText(workshop.folder / "kept.dsplan"), readText(workshop.folder / "made.dsplan"));
  EXPECT_TRUE(workshop.cachedFiles().empty());
}

TEST(CompileModel, TheCompilersExitCodeIsPassedOn) {
  Workshop workshop;
  workshop.writeScript("echo 'error: no such op' >&2; exit 3");
  const ToolResult result = workshop.run();
  EXPECT_EQ(result.code, 3);
  EXPECT_EQ(result.err, "error: no such op\n");
  EXPECT_TRUE(workshop.cachedFiles().empty());
}

TEST(CompileModel, CtrlCEndsTheCompiler) {
  Workshop workshop;
  workshop.writeScript("exec sleep 60");
  ToolRun run(workshop.folder, workshop.arguments(), workshop.folder / "bin/ds-run");
  for (int i = 0; i < 500 && workshop.calls() == 0; ++i)
    ::usleep(10000);
  ::kill(run.process, SIGINT);
  EXPECT_EQ(run.wait(20), 130);
  EXPECT_TRUE(workshop.cachedFiles().empty());
}

} // namespace ds::runtime
