// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Config/TrainingConfig.h"

#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace ds {
namespace {

/// learning_rates.jsonl comes from DeepSpeed itself, by make_learning_rates.py.
TEST(LearningRate, EqualsDeepSpeed) {
  std::ifstream file(std::string(DS_SOURCE_DIR) + "/test/Unit/Config/learning_rates.jsonl");
  int count = 0;
  for (std::string line; std::getline(file, line); ++count) {
    const nlohmann::json record = nlohmann::json::parse(line);
    const absl::StatusOr<TrainingConfig> config = parseTrainingConfig(record["config"].dump(), "record");
    ASSERT_TRUE(config.ok()) << config.status();
    for (size_t step = 0; step < record["rates"].size(); ++step)
      EXPECT_NEAR(learningRateAt(*config, static_cast<int64_t>(step)), record["rates"][step].get<double>(), 1e-15)
          << record["config"] << " step " << step;
  }
  EXPECT_GE(count, 10);
}

TEST(LearningRate, IsConstantWithoutAScheduler) {
  TrainingConfig config;
  config.optimizer.lr = 0.5;
  EXPECT_EQ(learningRateAt(config, 0), 0.5);
  EXPECT_EQ(learningRateAt(config, 1000000), 0.5);
}

} // namespace
} // namespace ds
