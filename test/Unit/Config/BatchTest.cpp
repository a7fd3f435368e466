// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Config/TrainingConfig.h"

#include <gtest/gtest.h>
#include <random>

namespace ds {
namespace {

using Number = std::optional<int64_t>;

TrainingConfig configOf(Number train, Number micro, Number accumulation) {
  TrainingConfig config;
  config.batch = {train, micro, accumulation};
  return config;
}

std::string messageOf(const TrainingConfig &config, int64_t ranks) {
  const absl::StatusOr<Batch> batch = resolveBatch(config, ranks);
  EXPECT_EQ(batch.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(batch.status().message());
}

/// The rule as it is written down: all batches that satisfy what is given.
std::optional<Batch> expectedBatch(const BatchConfig &batch, int64_t ranks) {
  if (!batch.train && !batch.micro)
    return std::nullopt;
  if (!batch.micro) {
    const int64_t accumulation = batch.accumulation.value_or(1);
    return *batch.train % accumulation ? std::nullopt : std::optional<Batch>(Batch{*batch.train, accumulation});
  }
  const int64_t firstAccumulation = batch.accumulation.value_or(1);
  const int64_t lastAccumulation = batch.accumulation.value_or(batch.train ? 100 : 1);
  for (int64_t accumulation = firstAccumulation; accumulation <= lastAccumulation; ++accumulation)
    if (const int64_t train = *batch.micro * accumulation * ranks; train == batch.train.value_or(train))
      return Batch{train, accumulation};
  return std::nullopt;
}

TEST(Batch, EveryTripleIsCompletedOrRefused) {
  for (Number train : {Number(), Number(1), Number(6), Number(12), Number(24), Number(25)})
    for (Number micro : {Number(), Number(1), Number(2), Number(3)})
      for (Number accumulation : {Number(), Number(1), Number(2), Number(4)})
        for (int64_t ranks = 1; ranks <= 4; ++ranks) {
          const TrainingConfig config = configOf(train, micro, accumulation);
          const absl::StatusOr<Batch> batch = resolveBatch(config, ranks);
          const std::optional<Batch> expected = expectedBatch(config.batch, ranks);
          ASSERT_EQ(batch.ok(), expected.has_value()) << batch.status();
          if (!batch.ok())
            continue;
          EXPECT_EQ(batch->train, expected->train);
          EXPECT_EQ(batch->accumulation, expected->accumulation);
          EXPECT_EQ(batch->partSize() * batch->accumulation, batch->train);
        }
}

TEST(Batch, NeverChangesWhatIsWritten) {
  std::mt19937 random(7);
  std::uniform_int_distribution<int64_t> number(1, 40);
  for (int i = 0; i < 10000; ++i) {
    const TrainingConfig config = configOf(number(random) * number(random), number(random) % 8 + 1, std::nullopt);
    const int64_t ranks = number(random);
    const absl::StatusOr<Batch> batch = resolveBatch(config, ranks);
    if (!batch.ok())
      continue;
    EXPECT_EQ(batch->train, *config.batch.train);
    EXPECT_EQ(*config.batch.micro * batch->accumulation * ranks, batch->train);
  }
}

TEST(Batch, PartsNeedNotDivideOverTheRanks) {
  const absl::StatusOr<Batch> batch = resolveBatch(configOf(16, std::nullopt, 4), 3);
  ASSERT_TRUE(batch.ok());
  EXPECT_EQ(batch->partSize(), 4);
}

TEST(Batch, NamesTheNumbersAndTheNearestBatches) {
  EXPECT_EQ(
      messageOf(configOf(256, 2, std::nullopt), 7),
      "\"train_batch_size\" must be train_micro_batch_size_per_gpu * gradient_accumulation_steps * ranks, got "
      "train_batch_size 256, train_micro_batch_size_per_gpu 2, gradient_accumulation_steps unset, 7 data-parallel "
      "ranks; nearest valid train_batch_size: 252 and 266");
  EXPECT_NE(messageOf(configOf(8, 2, 3), 2).find("nearest valid train_batch_size: 12"), std::string::npos);
  EXPECT_NE(messageOf(configOf(4, 2, std::nullopt), 4).find("nearest valid train_batch_size: 8"), std::string::npos);
  EXPECT_NE(messageOf(configOf(10, std::nullopt, 4), 2).find("nearest valid train_batch_size: 8 and 12"),
            std::string::npos);
}

TEST(Batch, RefusesWhatDoesNotFit) {
  const int64_t large = int64_t(1) << 62;
  EXPECT_NE(messageOf(configOf(std::nullopt, large, 4), 2).find("fewer than 2^63"), std::string::npos);
  EXPECT_NE(messageOf(configOf(std::nullopt, large, std::nullopt), 4).find("fewer than 2^63"), std::string::npos);
  EXPECT_NE(messageOf(configOf(1, std::nullopt, std::nullopt), 0).find("must be >= 1"), std::string::npos);
}

} // namespace
} // namespace ds
