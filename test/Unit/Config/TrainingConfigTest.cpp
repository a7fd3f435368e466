// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Config/TrainingConfig.h"

#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>
#include <random>

namespace ds {
namespace {

TrainingConfig parsed(std::string_view text) {
  absl::StatusOr<TrainingConfig> config = parseTrainingConfig(text, "c.json");
  EXPECT_TRUE(config.ok()) << config.status();
  return config.ok() ? *std::move(config) : TrainingConfig();
}

std::string errorOf(std::string_view text, absl::StatusCode code) {
  const absl::StatusOr<TrainingConfig> config = parseTrainingConfig(text, "c.json");
  EXPECT_EQ(config.status().code(), code) << text << "\n" << config.status();
  return std::string(config.status().message());
}

std::string invalid(std::string_view text) { return errorOf(text, absl::StatusCode::kInvalidArgument); }
std::string unsupported(std::string_view text) { return errorOf(text, absl::StatusCode::kUnimplemented); }

TEST(TrainingConfig, EmptyFileHasTheDefaultsOfTheStructs) {
  EXPECT_EQ(printTrainingConfig(parsed("{}")), printTrainingConfig(TrainingConfig()));
  EXPECT_EQ(parsed("{}").gradientClipping, 1.0);
  EXPECT_TRUE(parsed("{}").keysWithoutEffect.empty());
}

TEST(TrainingConfig, ReadsTheWholeRecipe) {
  const TrainingConfig config = parsed(R"({
    "train_batch_size": 16, "gradient_accumulation_steps": 4, "gradient_clipping": 0.5, "steps_per_print": 10,
    "optimizer": {"type": "adamw", "params": {"lr": 1e-4, "betas": [0.8, 0.95], "eps": 1e-6, "weight_decay": 0.1}},
    "scheduler": {"type": "WarmupDecayLR", "params": {"total_num_steps": 1e3, "warmup_num_steps": 10,
                                                       "warmup_type": "linear"}},
    "zero_optimization": {"stage": 3, "reduce_bucket_size": 5e7, "overlap_comm": true},
    "model": {"loss": {"logits": "logits", "labels": "targets", "shift": true, "ignore_index": -1},
              "dims": {"batch": 8, "sequence": 32}, "frozen": ["wte\\..*"], "stop_gradient": ["/Sub_output_0"]}})");
  EXPECT_EQ(config.batch.train, 16);
  EXPECT_FALSE(config.batch.micro);
  EXPECT_EQ(config.batch.accumulation, 4);
  EXPECT_EQ(config.gradientClipping, 0.5);
  EXPECT_EQ(config.stepsPerPrint, 10);
  EXPECT_EQ(config.optimizer.kind, OptimizerKind::AdamW);
  EXPECT_EQ(config.optimizer.lr, 1e-4);
  EXPECT_EQ(config.optimizer.beta1, 0.8);
  EXPECT_EQ(config.optimizer.beta2, 0.95);
  EXPECT_EQ(config.optimizer.epsilon, 1e-6);
  EXPECT_EQ(config.optimizer.weightDecay, 0.1);
  EXPECT_EQ(config.scheduler.kind, SchedulerKind::WarmupDecayLR);
  EXPECT_EQ(config.scheduler.totalSteps, 1000);
  EXPECT_EQ(config.scheduler.warmupShape, WarmupShape::Linear);
  EXPECT_EQ(config.zero.stage, 3);
  EXPECT_EQ(config.zero.reduceBucketSize, 50000000);
  EXPECT_EQ(config.zero.overlapComm, true);
  EXPECT_TRUE(config.model.loss.isAttached());
  EXPECT_EQ(config.model.loss.labels, "targets");
  EXPECT_TRUE(config.model.loss.isShifted);
  EXPECT_EQ(config.model.loss.ignoreIndex, -1);
  EXPECT_EQ(config.model.dims.at("sequence"), 32);
  EXPECT_EQ(config.keysWithoutEffect,
            (std::vector<std::string>{"zero_optimization.overlap_comm", "zero_optimization.reduce_bucket_size"}));
}

TEST(TrainingConfig, ReadsTheOracles) {
  const char *variable = std::getenv("DS_ORACLES");
  const std::filesystem::path oracles = variable ? variable : DS_ORACLES_DIR;
  if (!std::filesystem::is_directory(oracles))
    GTEST_SKIP() << "no oracles in " << oracles;
  int count = 0;
  for (const auto &entry : std::filesystem::directory_iterator(oracles)) {
    const std::filesystem::path file = entry.path() / "ds_config.json";
    if (!std::filesystem::exists(file))
      continue;
    const absl::StatusOr<TrainingConfig> config = loadTrainingConfig(file.string());
    ASSERT_TRUE(config.ok()) << config.status();
    EXPECT_EQ(config->zero.stage, 3);
    EXPECT_NE(config->optimizer.kind, OptimizerKind::None);
    EXPECT_TRUE(config->keysWithoutEffect.empty());
    for (int64_t ranks = 1; ranks <= 4; ++ranks)
      EXPECT_TRUE(resolveBatch(*config, ranks).ok());
    ++count;
  }
  EXPECT_EQ(count, 6);
}

TEST(TrainingConfig, AdamMeansAdamWUnlessToldOtherwise) {
  const auto optimizerOf = [](std::string text) {
    return parsed(R"({"optimizer": {"type": )" + text + "}}").optimizer;
  };
  EXPECT_EQ(optimizerOf(R"("Adam")").kind, OptimizerKind::AdamW);
  EXPECT_EQ(optimizerOf(R"("Adam", "params": {"adam_w_mode": false})").kind, OptimizerKind::Adam);
  EXPECT_EQ(optimizerOf(R"("AdamW", "params": {"adam_w_mode": false})").kind, OptimizerKind::AdamW);
  EXPECT_EQ(optimizerOf(R"("AdamW")").weightDecay, 0.0);
  EXPECT_EQ(optimizerOf(R"("Adam", "params": {"torch_adam": true})").weightDecay, 0.01);
  EXPECT_EQ(optimizerOf(R"("Adam", "params": {"torch_adam": true, "adam_w_mode": false})").weightDecay, 0.0);
}

TEST(TrainingConfig, DifferencesToAPlanNameBothValues) {
  const TrainingConfig planned = parsed(R"({"train_batch_size": 8, "optimizer": {"type": "AdamW", "params": {
      "lr": 0.1, "weight_decay": 0.01}}, "zero_optimization": {"stage": 2}})");
  const auto differences = [&](std::string_view text) {
    const auto found = plannedDifferences(planned, parsed(text), 2);
    EXPECT_TRUE(found.ok()) << found.status();
    std::string names;
    for (const PlannedDifference &difference : *found)
      names += difference.key + " " + difference.planned + " " + difference.given + ";";
    return names;
  };
  // Another schedule, and the same batch and decay in other words.
  EXPECT_EQ(differences(R"({"train_micro_batch_size_per_gpu": 4, "optimizer": {"type": "Adam", "params": {
      "lr": 0.5, "torch_adam": true}}, "scheduler": {"type": "WarmupLR"}, "steps_per_print": 7,
      "zero_optimization": {"stage": 2, "overlap_comm": false}})"),
            "");
  EXPECT_EQ(differences(R"({"train_batch_size": 8, "optimizer": {"type": "SGD", "params": {"momentum": 0.5}}})"),
            "optimizer.type \"AdamW\" \"SGD\";zero_optimization.stage 2 0;");
  EXPECT_EQ(differences(R"({"train_batch_size": 8, "gradient_accumulation_steps": 2, "gradient_clipping": 0,
      "model": {"frozen": ["a"]}, "zero_optimization": {"stage": 2}})"),
            "gradient_accumulation_steps 1 2;gradient_clipping 1.0 0.0;optimizer.type \"AdamW\" none;"
            "model.frozen [] [\"a\"];");
}

TEST(TrainingConfig, UnknownKeysGetAHint) {
  EXPECT_EQ(invalid(R"({"gradient_clipp1ng": 1})"),
            "c.json: unknown key \"gradient_clipp1ng\", did you mean \"gradient_clipping\"?");
  EXPECT_EQ(invalid(R"({"zero_optimization": {"Stage": 1}})"),
            "c.json: unknown key \"zero_optimization.Stage\", did you mean \"zero_optimization.stage\"?");
  EXPECT_EQ(invalid(R"({"stage": 1})"), "c.json: unknown key \"stage\", did you mean \"zero_optimization.stage\"?");
  EXPECT_EQ(invalid(R"({"optimizer": {"type": "Adam", "params": {"nesterov": true}}})"),
            "c.json: unknown key \"optimizer.params.nesterov\" for \"Adam\"");
  EXPECT_EQ(invalid(R"({"qqqqqqqqqqqq": 1})"), "c.json: unknown key \"qqqqqqqqqqqq\"");
}

TEST(TrainingConfig, WrongValuesAreNamed) {
  EXPECT_EQ(invalid(R"({"zero_optimization": {"stage": 4}})"),
            "c.json: \"zero_optimization.stage\" must be an integer in [0, 3], got 4");
  EXPECT_EQ(invalid(R"({"train_batch_size": 2.5})"), "c.json: \"train_batch_size\" must be an integer >= 1, got 2.5");
  EXPECT_EQ(invalid(R"({"train_batch_size": 99999999999999999999})"),
            "c.json: \"train_batch_size\" must be an integer >= 1, got 1e+20");
  EXPECT_EQ(invalid(R"({"train_batch_size": "8"})"), "c.json: \"train_batch_size\" must be an integer >= 1, got \"8\"");
  EXPECT_EQ(invalid(R"({"train_batch_size": true})"), "c.json: \"train_batch_size\" must be an integer >= 1, got true");
  EXPECT_EQ(invalid(R"({"optimizer": {"type": "Adam", "params": {"betas": [0.9, 1.0]}}})"),
            "c.json: \"optimizer.params.betas\" must be a list of two numbers in [0, 1), got [0.9,1.0]");
  EXPECT_EQ(invalid(R"({"model": {"dims": {"batch": 0}}})"),
            "c.json: \"model.dims\" must be an object of integers >= 1, got 0 for \"batch\"");
  EXPECT_EQ(invalid(R"({"model": {"frozen": ["("]}})"),
            "c.json: \"model.frozen\" must hold regular expressions of at most 1000 bytes, got \"(\"");
  EXPECT_NE(invalid(R"({"optimizer": {"type": "AdmaW"}})").find("did you mean \"AdamW\"?"), std::string::npos);
  EXPECT_EQ(invalid("[]"), "c.json: the file must hold a JSON object, got []");
}

TEST(TrainingConfig, NamesAllProblemsAtOnce) {
  EXPECT_EQ(invalid(R"({"gradient_clipping": -1, "fp16": {"enabled": true}, "steps_per_print": 0})"),
            "c.json: \"gradient_clipping\" must be a number >= 0, got -1\n"
            "c.json: \"steps_per_print\" must be an integer >= 1, got 0");
}

TEST(TrainingConfig, RequiredKeysMustBeWritten) {
  EXPECT_EQ(invalid(R"({"optimizer": {"params": {"lr": 1}}})"),
            "c.json: \"optimizer.type\" must be given: \"Adam\" means AdamW unless `adam_w_mode` is false, as in "
            "DeepSpeed");
  EXPECT_EQ(invalid(R"({"scheduler": {"type": "WarmupDecayLR", "params": {}}})"),
            "c.json: \"scheduler.params.total_num_steps\" must be given for \"WarmupDecayLR\": steps of the whole "
            "training");
  invalid(R"({"scheduler": {"type": "WarmupDecayLR"}})");
  invalid(R"({"optimizer": {"type": null}})");
}

TEST(TrainingConfig, AutoIsTheDefaultWhereDeepSpeedTakesIt) {
  EXPECT_EQ(parsed(R"({"zero_optimization": {"stage": 2, "reduce_bucket_size": "auto"}})").zero.reduceBucketSize,
            500000000);
  EXPECT_EQ(invalid(R"({"train_batch_size": "auto"})"),
            "c.json: \"train_batch_size\" must be an integer >= 1, got \"auto\": only the Hugging Face Trainer knows "
            "what to put here");
}

TEST(TrainingConfig, RefusesByName) {
  EXPECT_EQ(unsupported(R"({"fp16": {"enabled": true, "loss_scale": 128}})"),
            "c.json: \"fp16.enabled\" must be false in this version, got true: 16-bit floats with loss scaling");
  EXPECT_EQ(unsupported(R"({"zero_optimization": {"offload_optimizer": {"device": "cpu", "pin_memory": false}}})"),
            "c.json: \"zero_optimization.offload_optimizer.device\" must be \"none\" in this version, got \"cpu\": "
            "optimizer states outside device memory");
  EXPECT_EQ(unsupported(R"({"activation_checkpointing": {"cpu_checkpointing": true}})"),
            "c.json: \"activation_checkpointing.cpu_checkpointing\" must be false in this version, got true: saved "
            "activations in host memory");
  EXPECT_EQ(unsupported(R"({"optimizer": {"type": "Lamb", "params": {"max_coeff": 10}}})"),
            "c.json: \"optimizer.type\" must be \"Adam\", \"AdamW\" or \"SGD\" in this version, got \"Lamb\"");
  unsupported(R"({"tensor_parallel": {"autotp_size": 2}})");
  unsupported(R"({"zero_optimization": {"zenflow": {"topk_ratio": 0.2}}})");
  unsupported(R"({"compression_training": {"weight_quantization": {"shared_parameters": {"enabled": true}}}})");
  unsupported(R"({"communication_data_type": "bf16"})");
  unsupported(R"({"optimizer": {"type": "Adam"}, "scheduler": {"type": "OneCycle", "params":
                  {"cycle_min_lr": 0, "cycle_max_lr": 1}}})");
}

TEST(TrainingConfig, AcceptsWhatIsSwitchedOff) {
  const TrainingConfig config = parsed(R"({
    "fp16": {"enabled": false, "loss_scale": 128}, "bf16": {"enabled": "auto"},
    "zero_optimization": {"stage": 1, "offload_param": {"device": "none", "pin_memory": false}, "zenflow": null},
    "activation_checkpointing": {"partition_activations": false, "number_checkpoints": null},
    "tensor_parallel": {"autotp_size": 1}, "elasticity": {"enabled": false, "micro_batch_sizes": [4]},
    "compression_training": {"weight_quantization": {"shared_parameters": {"enabled": false, "bits": 3},
                                                     "different_groups": {}}},
    "communication_data_type": "fp32", "curriculum_learning": {"enabled": false, "min_difficulty": 8}})");
  EXPECT_EQ(config.keysWithoutEffect,
            (std::vector<std::string>{"curriculum_learning.min_difficulty", "elasticity.micro_batch_sizes",
                                      "fp16.loss_scale", "zero_optimization.offload_param.pin_memory"}));
}

TEST(TrainingConfig, KeysThatExcludeEachOther) {
  invalid(R"({"model": {"loss": {"output": "loss", "logits": "logits"}}})");
  invalid(R"({"model": {"loss": {"shift": true}}})");
  invalid(R"({"optimizer": {"type": "SGD", "params": {"nesterov": true}}})");
  EXPECT_TRUE(
      parsed(R"({"optimizer": {"type": "SGD", "params": {"nesterov": true, "momentum": 0.9}}})").optimizer.nesterov);
}

TEST(TrainingConfig, ExpressionsMatchWholeNames) {
  const std::vector<std::string> names = {"wte.weight", "h.1.a", "wte", "h.11.a"};
  const auto matches = matchNames("model.frozen", {"h\\.1\\..*", "wte"}, names);
  ASSERT_TRUE(matches.ok());
  EXPECT_EQ(*matches, (std::vector<bool>{false, true, true, false}));
  EXPECT_EQ(matchNames("model.frozen", {"wte", "h"}, names).status().message(),
            "\"model.frozen\" must match whole names, got \"h\", which matches none of the 4 there are like "
            "\"wte.weight\", \"h.1.a\", \"wte\"");
}

TEST(TrainingConfig, ExpressionsOfAllKeysAreChecked) {
  for (const char *model : {R"({"frozen": ["("]})", R"({"parameters": ["("]})", R"({"buffers": ["("]})",
                            R"({"tied": [["a"], ["b", "("]]})", R"({"tied": ["a"]})"})
    invalid((std::string(R"({"model": )") + model + "}").c_str());
}

TEST(TrainingConfig, TiedGroupsAndNoGroupsDiffer) {
  EXPECT_FALSE(parsed("{}").model.tied.has_value());
  EXPECT_TRUE(parsed(R"({"model": {"tied": []}})").model.tied->empty());
  const auto tied = parsed(R"({"model": {"tied": [["a", "b"], ["c.*"]]}})").model.tied;
  EXPECT_EQ(*tied, (std::vector<std::vector<std::string>>{{"a", "b"}, {"c.*"}}));
}

TEST(TrainingConfig, TheMeanIsOverPartsOrLabels) {
  EXPECT_EQ(parsed(R"({"model": {"loss": {"mean": "labels"}}})").model.loss.mean, LossMean::Labels);
  EXPECT_EQ(parsed(R"({"model": {"loss": {"logits": "y"}}})").model.loss.mean, LossMean::Parts);
  invalid(R"({"model": {"loss": {"logits": "y", "mean": "tokens"}}})");
}

TEST(TrainingConfig, SurvivesEveryDamage) {
  const std::string whole =
      R"({"train_batch_size": 16, "optimizer": {"type": "AdamW", "params": {"betas": [0.8, 0.95]}},
    "scheduler": {"type": "WarmupLR", "params": {"warmup_type": "linear"}}, "zero_optimization": {"stage": 3},
    "model": {"loss": {"logits": "logits"}, "dims": {"batch": 8}, "frozen": ["w.*"]}, "fp16": {"enabled": false}})";
  ASSERT_TRUE(parseTrainingConfig(whole, "c.json").ok());
  std::mt19937 random(3);
  for (int i = 0; i < 20000; ++i) {
    std::string text = whole;
    for (unsigned edits = 1 + random() % 3; edits > 0; --edits) {
      const size_t position = random() % text.size();
      if (random() % 2)
        text[position] = whole[random() % whole.size()];
      else
        text.replace(position, random() % 4, 1, static_cast<char>(random()));
    }
    const absl::StatusCode code = parseTrainingConfig(text, "c.json").status().code();
    EXPECT_TRUE(code == absl::StatusCode::kOk || code == absl::StatusCode::kInvalidArgument ||
                code == absl::StatusCode::kUnimplemented)
        << text;
  }
}

TEST(TrainingConfig, UnreadableFilesAreInvalid) {
  const std::filesystem::path folder = std::filesystem::temp_directory_path();
  EXPECT_EQ(loadTrainingConfig((folder / "no such file").string()).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(loadTrainingConfig(folder.string()).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(loadTrainingConfig("/dev/zero").status().code(), absl::StatusCode::kInvalidArgument);
}

} // namespace
} // namespace ds
