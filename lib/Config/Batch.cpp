// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Config/TrainingConfig.h"

namespace ds {

static std::string numberOrUnset(const std::optional<int64_t> &number) {
  return number ? std::to_string(*number) : "unset";
}

/// "got train_batch_size 256, train_micro_batch_size_per_gpu 2, gradient_accumulation_steps unset, 7 ranks".
static std::string gotNumbers(const BatchConfig &batch, int64_t ranks) {
  return "got train_batch_size " + numberOrUnset(batch.train) + ", train_micro_batch_size_per_gpu " +
         numberOrUnset(batch.micro) + ", gradient_accumulation_steps " + numberOrUnset(batch.accumulation) + ", " +
         std::to_string(ranks) + (ranks == 1 ? " data-parallel rank" : " data-parallel ranks");
}

/// The multiples of `unit` next to `train`.
static std::string nearestMultiples(int64_t train, int64_t unit) {
  const int64_t below = train / unit * unit;
  int64_t above = 0;
  if (__builtin_add_overflow(below, unit, &above))
    return std::to_string(below);
  return below == 0 ? std::to_string(above) : std::to_string(below) + " and " + std::to_string(above);
}

/// `a * b`, or nothing if it does not fit.
static std::optional<int64_t> product(int64_t a, int64_t b) {
  int64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result))
    return std::nullopt;
  return result;
}

/// The triple without `micro`: the parts of a batch need not divide over the ranks.
static absl::StatusOr<Batch> resolveParts(const BatchConfig &batch, int64_t ranks) {
  if (!batch.train)
    return absl::InvalidArgumentError("\"train_batch_size\" or \"train_micro_batch_size_per_gpu\" must be given, " +
                                      gotNumbers(batch, ranks));
  const int64_t accumulation = batch.accumulation.value_or(1);
  if (*batch.train % accumulation != 0)
    return absl::InvalidArgumentError(
        "\"train_batch_size\" must be a multiple of gradient_accumulation_steps, " + gotNumbers(batch, ranks) +
        "; nearest valid train_batch_size: " + nearestMultiples(*batch.train, accumulation));
  return Batch{*batch.train, accumulation};
}

absl::StatusOr<Batch> resolveBatch(const TrainingConfig &config, int64_t dataParallelRanks) {
  const BatchConfig &batch = config.batch;
  if (dataParallelRanks < 1)
    return absl::InvalidArgumentError("the number of data-parallel ranks must be >= 1, got " +
                                      std::to_string(dataParallelRanks));
  if (!batch.micro)
    return resolveParts(batch, dataParallelRanks);

  // One micro-batch of all ranks, and the whole batch if accumulation says so.
  const std::optional<int64_t> part = product(*batch.micro, dataParallelRanks);
  const std::optional<int64_t> whole =
      part ? product(*part, batch.accumulation.value_or(batch.train ? *batch.train / *part : 1)) : std::nullopt;
  if (!whole)
    return absl::InvalidArgumentError("the batch must have fewer than 2^63 samples, " +
                                      gotNumbers(batch, dataParallelRanks));
  if ((batch.train && *batch.train != *whole) || *whole == 0) {
    const std::string nearest =
        batch.accumulation ? std::to_string(*whole) : nearestMultiples(batch.train.value_or(0), *part);
    return absl::InvalidArgumentError("\"train_batch_size\" must be train_micro_batch_size_per_gpu * "
                                      "gradient_accumulation_steps * ranks, " +
                                      gotNumbers(batch, dataParallelRanks) +
                                      "; nearest valid train_batch_size: " + nearest);
  }
  return Batch{*whole, *whole / *part};
}

} // namespace ds
