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

TEST(CompileModel, TheCompilerKeepsThePlans) {
  Workshop workshop;
  const ToolResult first = workshop.run({"--", "--flag"});
  ASSERT_EQ(first.code, 0) << first.err;
  const std::string call = readText(workshop.folder / "calls");
  for (const std::string &word : {std::string("--ranks 2"), "--plan-cache " + workshop.folder / "cache/ds-mlir",
                                  std::string("-o /dev/fd/"), std::string("--flag")})
    EXPECT_NE(call.find(word), std::string::npos) << word << "\n" << call;
}

TEST(CompileModel, NothingIsKeptWithoutAPlaceForIt) {
  Workshop workshop;
  ::unsetenv("XDG_CACHE_HOME");
  const char *home = std::getenv("HOME");
  const std::string before = home ? home : "/";
  ::unsetenv("HOME");
  EXPECT_EQ(workshop.run().code, 0);
  ::setenv("HOME", before.c_str(), 1);
  EXPECT_EQ(readText(workshop.folder / "calls").find("--plan-cache"), std::string::npos);
}

TEST(CompileModel, WhatIsNoPlanIsRefused) {
  Workshop workshop;
  writeText(workshop.folder / "made.dsplan", "xxxxDSPLdamaged");
  const ToolResult result = workshop.run();
  EXPECT_EQ(result.code, 2);
  EXPECT_NE(result.err.find("(the plan of " + workshop.folder / "model.onnx"), std::string::npos) << result.err;
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

TEST(CompileModel, DefectsOfTheCompilerArePassedOn) {
  Workshop workshop;
  workshop.writeScript("exit 9");
  EXPECT_EQ(workshop.run().code, 9);
}

/// A run whose compiler works for a minute.
struct LongCompilation {
  LongCompilation() {
    workshop.writeScript("exec sleep 60");
    run = std::make_unique<ToolRun>(workshop.folder, workshop.arguments(), workshop.folder / "bin/ds-run");
    for (int i = 0; i < 500 && workshop.calls() == 0; ++i)
      ::usleep(10000);
    compiler = run->children();
  }
  void expectNothingLeft() const {
    ASSERT_EQ(compiler.size(), 1u);
    for (int i = 0; i < 500 && !isGone(compiler[0]); ++i)
      ::usleep(10000);
    EXPECT_TRUE(isGone(compiler[0]));
    EXPECT_TRUE(workshop.cachedFiles().empty());
  }

  Workshop workshop;
  std::unique_ptr<ToolRun> run;
  std::vector<pid_t> compiler;
};

TEST(CompileModel, CtrlCEndsTheCompiler) {
  const LongCompilation job;
  ::kill(job.run->process, SIGINT);
  EXPECT_EQ(job.run->wait(20), 130);
  job.expectNothingLeft();
}

TEST(CompileModel, TheCompilerDoesNotOutliveDsRun) {
  const LongCompilation job;
  ::kill(job.run->process, SIGKILL);
  EXPECT_EQ(job.run->wait(20), -SIGKILL);
  job.expectNothingLeft();
}

} // namespace ds::runtime
