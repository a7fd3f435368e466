// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// What a configuration makes of the program stage.

#include "ds/Passes/Pipelines.h"
#include "ds/Dialect/DsDialect.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace mlir;
using namespace ds;

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// The textual pipeline of the program stage for a configuration and a batch in `parts`.
static std::string pipelineFor(const std::string &json, int64_t parts = 1) {
  absl::StatusOr<TrainingConfig> config = parseTrainingConfig(json, "ds_config.json");
  EXPECT_TRUE(config.ok()) << config.status();
  MLIRContext context;
  PassManager manager(&context);
  buildProgramPipeline(manager, programOptionsFrom(*config, Batch{8 * parts, parts}));
  std::string text;
  llvm::raw_string_ostream stream(text);
  manager.printAsTextualPipeline(stream);
  return text;
}

TEST(ProgramPipeline, takesTheRecipeOfAConfiguration) {
  std::string text = pipelineFor(R"({"train_batch_size": 32, "gradient_accumulation_steps": 4, "gradient_clipping": 0.5,
      "optimizer": {"type": "AdamW", "params": {"betas": [0.9, 0.5], "eps": 0.25, "weight_decay": 0.125}},
      "model": {"loss": {"logits": "scores", "labels": "targets", "shift": true, "ignore_index": -1}, "frozen": ["wte.*"]}})",
                                 4);
  EXPECT_THAT(text, AllOf(HasSubstr("logits=scores"), HasSubstr("labels=targets"), HasSubstr("shift=true"),
                          HasSubstr("ignore-index=-1")));
  EXPECT_THAT(text, AllOf(HasSubstr("frozen={wte.*}"), HasSubstr("parts=4"), HasSubstr("max-norm=5.000000e-01")));
  EXPECT_THAT(text, AllOf(HasSubstr("kind=adamw"), HasSubstr("beta2=5.000000e-01"), HasSubstr("epsilon=2.500000e-01"),
                          HasSubstr("weight-decay=1.250000e-01")));
}

TEST(ProgramPipeline, knowsTheOptimizers) {
  EXPECT_THAT(
      pipelineFor(R"({"train_batch_size": 8, "optimizer": {"type": "Adam", "params": {"adam_w_mode": false}}})"),
      HasSubstr("kind=adam "));
  EXPECT_THAT(
      pipelineFor(
          R"({"train_batch_size": 8, "optimizer": {"type": "SGD", "params": {"momentum": 0.75, "nesterov": true}}})"),
      AllOf(HasSubstr("kind=sgd"), HasSubstr("momentum=7.500000e-01"), HasSubstr("nesterov=true")));
}

TEST(ProgramPipeline, guardsAssignsUnlessBadStepsAreTrainedOn) {
  const std::string start = R"({"train_batch_size": 8, "optimizer": {"type": "Adam"})";
  EXPECT_THAT(pipelineFor(start + "}"), HasSubstr("ds-guard-assigns"));
  EXPECT_THAT(pipelineFor(start + R"(, "model": {"stop_after_bad_steps": 0}})"), Not(HasSubstr("ds-guard-assigns")));
}

TEST(ProgramPipeline, keepsGradientsAsResultsWithoutOptimizer) {
  EXPECT_THAT(pipelineFor(R"({"train_batch_size": 8})"),
              AllOf(HasSubstr("ds-differentiate"), Not(HasSubstr("ds-attach-optimizer"))));
}
