// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Config/Machine.h"

#include <gmock/gmock.h>

using namespace ds;
using testing::HasSubstr;

static const std::string kNumbers =
    R"("cores": 8, "matmul_flops_per_core": 1e11, "attention_flops_per_core": 9e10, "element_operations_per_core": 1e10,
       "memory_bytes_per_second": 8e10, "call_seconds": 1e-6, "link_seconds": 2e-6)";

static std::string faultOf(const std::string &text) {
  return std::string(parseMachine(text, "m.json").status().message());
}

TEST(Machine, ReadsEveryKey) {
  absl::StatusOr<Machine> machine =
      parseMachine("{\"name\": \"eight\", " + kNumbers + ", \"link_bytes_per_second\": 3e9}", "m.json");
  ASSERT_TRUE(machine.ok()) << machine.status();
  EXPECT_EQ(machine->name, "eight");
  EXPECT_EQ(machine->cores, 8);
  EXPECT_EQ(machine->matmulFlopsPerCore, 1e11);
  EXPECT_EQ(machine->attentionFlopsPerCore, 9e10);
  EXPECT_EQ(machine->elementOpsPerCore, 1e10);
  EXPECT_EQ(machine->memoryBytesPerSecond, 8e10);
  EXPECT_EQ(machine->callSeconds, 1e-6);
  EXPECT_EQ(machine->linkSeconds, 2e-6);
  EXPECT_EQ(machine->linkBytesPerSecond, 3e9);
}

TEST(Machine, RefusesWhatIsMissingUnknownOrNotPositive) {
  EXPECT_EQ(faultOf("{\"name\": \"x\", " + kNumbers + "}"),
            "m.json: \"link_bytes_per_second\" must be given; `ds-run bench machine` measures all of them");
  EXPECT_EQ(faultOf("{\"name\": \"x\", " + kNumbers + ", \"link_byte_per_second\": 1}"),
            "m.json: unknown key \"link_byte_per_second\", did you mean \"link_bytes_per_second\"?");
  EXPECT_EQ(faultOf("{\"name\": \"x\", " + kNumbers + ", \"link_bytes_per_second\": 0}"),
            "m.json: \"link_bytes_per_second\" must be a number > 0, got 0");
  EXPECT_EQ(faultOf("{\"name\": 3, " + kNumbers + ", \"link_bytes_per_second\": 1}"),
            "m.json: \"name\" must be a string");
  EXPECT_EQ(faultOf("[]"), "m.json: a machine must be an object");
}

TEST(Machine, RefusesANameThatIsNeitherPresetNorFile) {
  EXPECT_THAT(std::string(findMachine("quantum").status().message()), HasSubstr("got \"quantum\""));
  EXPECT_TRUE(findMachine("cpu").ok());
}

TEST(Machine, RanksShareCoresAndMemory) {
  Machine machine = *findMachine("cpu");
  machine.cores = 4;
  EXPECT_EQ(shareOf(machine, 2).cores, 2);
  EXPECT_EQ(shareOf(machine, 2).matmulFlopsPerCore, machine.matmulFlopsPerCore);
  EXPECT_EQ(shareOf(machine, 2).memoryBytesPerSecond, machine.memoryBytesPerSecond / 2);
  EXPECT_EQ(shareOf(machine, 8).cores, 1);
  EXPECT_EQ(shareOf(machine, 8).matmulFlopsPerCore, machine.matmulFlopsPerCore / 2) << "two ranks on each core";
}

TEST(Machine, IsPrintedAsItIsRead) {
  Machine machine = *findMachine("cpu");
  machine.linkSeconds = 0.1 + 0.2; // not a short number
  const std::string text = printMachine(machine);
  EXPECT_EQ(printMachine(*parseMachine(text, "printed")), text);
  machine.linkSeconds = 0.3;
  EXPECT_NE(printMachine(machine), text);
}

/// Numbers that are easy to add up.
static Machine roundMachine() {
  Machine machine;
  machine.cores = 4;
  machine.matmulFlopsPerCore = 100;
  machine.attentionFlopsPerCore = 50;
  machine.elementOpsPerCore = 10;
  machine.memoryBytesPerSecond = 1000;
  machine.callSeconds = 1;
  machine.linkSeconds = 2;
  machine.linkBytesPerSecond = 20;
  return machine;
}

TEST(SecondsOf, ProductsHideAPartOfTheirMemory) {
  Work work;
  work.matmulFlops = 4000;
  work.bytes = 1000;
  EXPECT_DOUBLE_EQ(secondsOf(work, roundMachine()), 1 + 10 + kExposedMemoryOfProducts * 1);
}

TEST(SecondsOf, OthersTakeTheLongerOfArithmeticAndMemory) {
  Work work;
  work.elementOps = 400;
  work.bytes = 1000;
  EXPECT_DOUBLE_EQ(secondsOf(work, roundMachine()), 1 + 10);
  work.bytes = 20000;
  EXPECT_DOUBLE_EQ(secondsOf(work, roundMachine()), 1 + 20);
  work.attentionFlops = 2000;
  EXPECT_DOUBLE_EQ(secondsOf(work, roundMachine()), 1 + 20) << "both at once: 400 / 40 + 2000 / 200 s";
}

TEST(SecondsOf, FewPartsOccupyFewCores) {
  Work work;
  work.elementOps = 400;
  work.parts = 2;
  EXPECT_DOUBLE_EQ(secondsOf(work, roundMachine()), 1 + 20);
  work.parts = 64;
  EXPECT_DOUBLE_EQ(secondsOf(work, roundMachine()), 1 + 10);
}

TEST(SecondsOf, LinksTakeLatencyAndBytes) {
  Work work;
  work.linkRounds = 3;
  work.linkBytes = 200;
  EXPECT_DOUBLE_EQ(secondsOf(work, roundMachine()), 1 + 6 + 10);
}
