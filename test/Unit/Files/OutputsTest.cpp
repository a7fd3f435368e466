// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "TemporaryFolder.h"

#include "ds/Files/Outputs.h"

#include <sys/stat.h>
#include <unistd.h>

namespace ds {

namespace {
/// A model with its data, and what a run of it is asked to write.
struct ModelRun {
  ModelRun() {
    std::filesystem::create_directory(folder / "data");
    for (const char *name : {"model.onnx", "data/labels.npy", "data/old.json", "old.jsonl"})
      writeText(folder / name, name);
    std::filesystem::create_hard_link(folder / "model.onnx", folder / "twin");
  }
  absl::Status check(const std::vector<Output> &outputs) const {
    return checkOutputs(outputs, {folder / "model.onnx", folder / "data", "", folder / "none"});
  }
  TemporaryFolder folder;
};
} // namespace

TEST(Outputs, NewAndRegularFilesMayBeWritten) {
  const ModelRun run;
  EXPECT_TRUE(run.check({{"--log", run.folder / "old.jsonl", true},
                         {"--report", run.folder / "new.json"},
                         {"--trace", run.folder / "data/old.json"}, // of an earlier run on the same folder
                         {"--save-model", run.folder / "data/new.npy"},
                         {"--profile", ""}})
                  .ok());
}

TEST(Outputs, InputsAreNotWrittenOver) {
  const ModelRun run;
  for (const char *name : {"model.onnx", "data/labels.npy", "data/../model.onnx", "twin"})
    for (const bool mayBeStream : {true, false}) {
      const absl::Status status = run.check({{"--log", run.folder / name, mayBeStream}});
      EXPECT_TRUE(absl::IsInvalidArgument(status)) << name;
      EXPECT_NE(status.message().find("which is read"), std::string::npos) << status;
      EXPECT_EQ(status.message().find("--log "), 0u) << status;
    }
}

TEST(Outputs, TwoOutputsAreTwoFiles) {
  const ModelRun run;
  for (const char *name : {"new", "old.jsonl"}) {
    const absl::Status status =
        run.check({{"--log", run.folder / name, true}, {"--report", run.folder / "data" + "/../" + name}});
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << name;
    EXPECT_NE(status.message().find("is the file of --log as well"), std::string::npos) << status;
  }
}

TEST(Outputs, StreamsAreForThoseThatMayBe) {
  const ModelRun run;
  ASSERT_EQ(::mkfifo((run.folder / "pipe").c_str(), 0600), 0);
  for (const std::string path : {"/dev/null", "/dev/stdout", "/dev/stderr", "/dev/fd/1", "/proc/self/fd/1"}) {
    EXPECT_TRUE(run.check({{"--log", path, true}, {"--report", ""}}).ok()) << path;
    EXPECT_TRUE(absl::IsInvalidArgument(run.check({{"--save-model", path}}))) << path;
  }
  EXPECT_TRUE(run.check({{"--log", "/dev/null", true}, {"--trace", "/dev/null", true}}).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(run.check({{"--log", run.folder / "pipe", true}})));
  EXPECT_TRUE(absl::IsInvalidArgument(openForAppending(run.folder / "pipe").status()));
}

TEST(Outputs, AppendingContinuesAnOpenDescriptor) {
  const ModelRun run;
  const File open = *openForAppending(run.folder / "old.jsonl");
  EXPECT_EQ(readText(run.folder / "old.jsonl"), "");
  ASSERT_TRUE(open.append("one ", 4).ok());
  const std::string name = "/dev/fd/" + std::to_string(open.descriptor());
  ASSERT_TRUE(writeOutput(name, "two ").ok());
  ASSERT_TRUE(open.append("three", 5).ok());
  EXPECT_EQ(readText(run.folder / "old.jsonl"), "one two three");
  EXPECT_FALSE(openForAppending("/dev/fd/999").ok());
}

} // namespace ds
