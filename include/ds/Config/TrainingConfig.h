// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// `ds_config.json`, strictly read into plain structs. Reading knows DeepSpeed's whole schema: a key that DeepSpeed
/// does not have is an error, and so is one whose wish cannot be honoured. docs/config.md lists every key.

#ifndef DS_CONFIG_TRAININGCONFIG_H
#define DS_CONFIG_TRAININGCONFIG_H

#include "absl/status/statusor.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ds {

/// The batch sizes as written; `resolveBatch` completes them.
struct BatchConfig {
  std::optional<int64_t> train;        ///< samples per optimizer step, over all ranks
  std::optional<int64_t> micro;        ///< samples per rank and micro-batch
  std::optional<int64_t> accumulation; ///< micro-batches per optimizer step
};

/// `Adam` has L2 regularization in the gradient, `AdamW` decoupled weight decay. In the file "Adam" means AdamW unless
/// `adam_w_mode` is false, as in DeepSpeed; here that is resolved.
enum class OptimizerKind { None, Adam, AdamW, Sgd };

/// The optimizer with DeepSpeed's defaults. Fields of another kind keep their defaults.
struct OptimizerConfig {
  OptimizerKind kind = OptimizerKind::None; ///< None: the file has no optimizer
  double lr = 1e-3;                         ///< before the scheduler, see `learningRateAt`
  double weightDecay = 0.0;

  double beta1 = 0.9; ///< Adam, AdamW
  double beta2 = 0.999;
  double epsilon = 1e-8;
  bool biasCorrection = true;
  bool isDecoupled = true;  ///< `adam_w_mode`; equals kind == AdamW after reading
  bool isTorchAdam = false; ///< `torch_adam`; only changes the default of `weightDecay` (AdamW: 0.01)

  double momentum = 0.0; ///< Sgd
  double dampening = 0.0;
  bool nesterov = false;
};

enum class SchedulerKind { Constant, WarmupLR, WarmupDecayLR, WarmupCosineLR, OneCycle, LRRangeTest };
enum class WarmupShape { Log, Linear };

/// The learning-rate schedule; the formulas are in `learningRateAt`. Fields of another kind keep their defaults.
struct SchedulerConfig {
  SchedulerKind kind = SchedulerKind::Constant; ///< Constant: the file has no scheduler

  double warmupMinLr = 0.0;          ///< WarmupLR, WarmupDecayLR
  std::optional<double> warmupMaxLr; ///< unset: the optimizer's learning rate
  int64_t warmupSteps = 1000;
  WarmupShape warmupShape = WarmupShape::Log;
  int64_t totalSteps = 0;       ///< WarmupDecayLR, WarmupCosineLR
  double warmupMinRatio = 0.0;  ///< WarmupCosineLR, relative to the optimizer's learning rate
  double cosineMinRatio = 1e-4; ///< WarmupCosineLR, likewise

  double cycleMinLr = 0.0; ///< OneCycle
  double cycleMaxLr = 0.0;
  double decayRate = 0.0;
  int64_t firstHalfSteps = 2000;
  std::optional<int64_t> secondHalfSteps; ///< unset: as the first
  int64_t firstStairs = 0;                ///< 0: continuous
  std::optional<int64_t> secondStairs;    ///< unset: as the first
  int64_t decayStepSize = 0;              ///< 0: no decay after the cycle
  bool cyclesMomentum = true;             ///< only false, or an optimizer without betas, is honoured

  double rangeMinLr = 1e-3; ///< LRRangeTest
  int64_t rangeStepSize = 2000;
  double rangeStepRate = 1.0;
  bool isRangeStaircase = false;
};

/// `zero_optimization`. Sizes are elements, not bytes.
struct ZeroConfig {
  int64_t stage = 0; ///< 0 to 3
  int64_t reduceBucketSize = 500000000;
  int64_t allgatherBucketSize = 500000000;
  std::optional<bool> overlapComm; ///< unset: true for stage 3 only
  bool contiguousGradients = true;
  bool reduceScatter = true;
  bool roundRobinGradients = false;
  int64_t subGroupSize = 1000000000;
  int64_t prefetchBucketSize = 50000000;          ///< stage 3
  int64_t parameterPersistenceThreshold = 100000; ///< stage 3: smaller parameters stay whole
  int64_t maxLiveParameters = 1000000000;         ///< stage 3
  int64_t maxReuseDistance = 1000000000;          ///< stage 3
};

/// What a step's loss is the mean of, where its batch is computed in parts.
enum class LossMean {
  Parts, ///< of the parts' losses, each the mean over its own labels
  Labels ///< of all labels of the step
};

/// How the loss comes about: an output of the graph, or cross entropy attached to its logits.
struct LossConfig {
  std::string output = "loss";   ///< a scalar output of the graph; of no meaning if `logits` is set
  std::string logits;            ///< an output of the graph; empty: the graph has its loss
  std::string labels = "labels"; ///< the name of the labels in the data
  bool isShifted = false;        ///< position i predicts label i + 1
  int64_t ignoreIndex = -100;    ///< labels of this value do not count
  LossMean mean = LossMean::Parts;

  bool isAttached() const { return !logits.empty(); }
};

/// `model`: what DeepSpeed's file has no place for.
struct ModelConfig {
  LossConfig loss;
  std::map<std::string, int64_t> dims;   ///< symbolic dimension -> extent
  int64_t stopAfterBadSteps = 3;         ///< in a row, of a loss or norm that is not finite; 0: they are trained on
  std::vector<std::string> stopGradient; ///< names of values of the graph
  std::vector<std::string> frozen;       ///< expressions (`matchNames`): parameters that are not trained
  std::vector<std::string> parameters;   ///< expressions: tensors that are parameters, whatever the file shows
  std::vector<std::string> buffers;      ///< expressions: tensors that are none
  /// Groups of expressions: all that one group matches is one parameter. Unset: what the file shows.
  std::optional<std::vector<std::vector<std::string>>> tied;
};

/// Everything the compiler and the runtime take from the file.
struct TrainingConfig {
  BatchConfig batch;
  double gradientClipping = 1.0;  ///< global L2 norm; 0: no clipping
  bool isClippingDefault = false; ///< the file does not give it
  OptimizerConfig optimizer;
  SchedulerConfig scheduler;
  ZeroConfig zero;
  ModelConfig model;
  std::optional<int64_t> stepsPerPrint; ///< unset: every step
  bool hasWallClockBreakdown = false;

  /// Paths of the keys that the file holds and that change nothing, sorted: "accepted, no effect".
  std::vector<std::string> keysWithoutEffect;
};

/// Reads a configuration. `fileName` is for messages only. Fails with InvalidArgument on what is not JSON, unknown
/// keys, wrong types and values out of range, else with Unimplemented on what is not supported; each names all such
/// places by their JSON path, one per line.
absl::StatusOr<TrainingConfig> parseTrainingConfig(std::string_view text, std::string_view fileName);

/// The largest file that loadTrainingConfig reads.
inline constexpr int64_t kMaxConfigBytes = 1 << 20;

/// Reads the configuration in the file `path`. Fails also with InvalidArgument if it cannot be read.
absl::StatusOr<TrainingConfig> loadTrainingConfig(const std::string &path);

/// The effective settings as JSON: every key with a place in `TrainingConfig`, defaults included. Parsing the result
/// gives the same settings again.
std::string printTrainingConfig(const TrainingConfig &config);

/// A consistent set of batch sizes.
struct Batch {
  int64_t train = 1;        ///< samples per optimizer step, over all ranks
  int64_t accumulation = 1; ///< micro-batches per optimizer step; divides `train`

  /// Samples of one micro-batch over all ranks. They are spread over the ranks by the layout and need not divide.
  int64_t partSize() const { return train / accumulation; }
};

/// Completes the batch sizes for `dataParallelRanks` ranks as DeepSpeed does. `train = micro * accumulation * ranks` is
/// demanded only if the file gives `train_micro_batch_size_per_gpu`, otherwise only that `accumulation` divides
/// `train`. Fails with InvalidArgument, the three numbers and the nearest valid batch sizes.
absl::StatusOr<Batch> resolveBatch(const TrainingConfig &config, int64_t dataParallelRanks);

/// A key whose value is fixed in a plan, as JSON; "none" where there is no value.
struct PlannedDifference {
  std::string key;
  std::string planned;
  std::string given;
};

/// The keys in which `given` asks for another plan than the one that was made with `planned` for `dataParallelRanks`
/// ranks. A run reads the learning rate, its schedule and what is printed anew: those may differ, as may keys without
/// effect. Batch sizes are compared as completed by `resolveBatch`; fails if those of `given` cannot be.
absl::StatusOr<std::vector<PlannedDifference>>
plannedDifferences(const TrainingConfig &planned, const TrainingConfig &given, int64_t dataParallelRanks);

/// The learning rate of the update of step `step` >= 0, as DeepSpeed's engine has it: the scheduler advances after each
/// update, so step s sees the value of the scheduler's iteration s - 1, and step 0 its starting value.
double learningRateAt(const TrainingConfig &config, int64_t step);

/// What keeps the factor of clipping finite for a norm of zero; PyTorch's clip_grad_norm_ has the same.
inline constexpr double kClippingOffset = 1e-6;

/// What the gradients of a step are multiplied by if their global norm, before clipping, is `norm`.
double clippingFactor(const TrainingConfig &config, double norm);

/// For each of `names` whether one of the regular expressions (ECMAScript syntax) matches it as a whole. Fails with
/// InvalidArgument if an expression matches none; `key` is where the expressions stand, for that message.
absl::StatusOr<std::vector<bool>> matchNames(const std::string &key, const std::vector<std::string> &expressions,
                                             const std::vector<std::string> &names);

/// All known keys with type, default, status and meaning, in Markdown: docs/config.md.
std::string describeConfigKeys();

} // namespace ds

#endif // DS_CONFIG_TRAININGCONFIG_H
