// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// DeepSpeed's schedules in closed form. `iteration` is DeepSpeed's `last_batch_iteration`, -1 before the first update.
/// Source: DeepSpeed 0.19.6, runtime/lr_schedules.py.

#include "ds/Config/TrainingConfig.h"

#include <algorithm>
#include <cmath>

namespace ds {

/// The part of the warm-up that is over, in [0, 1).
static double warmupProgress(const SchedulerConfig &scheduler, int64_t iteration, int64_t warmupSteps) {
  if (scheduler.warmupShape == WarmupShape::Linear)
    return static_cast<double>(iteration) / static_cast<double>(warmupSteps);
  return std::log(static_cast<double>(iteration + 1)) / std::log(static_cast<double>(warmupSteps));
}

/// WarmupLR and WarmupDecayLR: up to the maximum, then constant or linearly down to 0.
static double linearRate(const TrainingConfig &config, int64_t iteration) {
  const SchedulerConfig &scheduler = config.scheduler;
  const double low = scheduler.warmupMinLr;
  const double high = scheduler.warmupMaxLr.value_or(config.optimizer.lr);
  const int64_t warmupSteps = std::max<int64_t>(2, scheduler.warmupSteps);
  if (iteration < 0)
    return low;
  double gamma = 1.0;
  if (iteration < warmupSteps)
    gamma = warmupProgress(scheduler, iteration, warmupSteps);
  else if (scheduler.kind == SchedulerKind::WarmupDecayLR)
    gamma = std::max(0.0, static_cast<double>(scheduler.totalSteps - iteration) /
                              static_cast<double>(std::max<int64_t>(1, scheduler.totalSteps - warmupSteps)));
  return low + (high - low) * gamma;
}

/// WarmupCosineLR: up to the optimizer's rate, then down along half a cosine.
static double cosineRate(const TrainingConfig &config, int64_t iteration) {
  const SchedulerConfig &scheduler = config.scheduler;
  const int64_t warmupSteps = std::max<int64_t>(2, scheduler.warmupSteps);
  if (iteration < 0)
    return 0.0;
  if (iteration < warmupSteps) {
    const double progress = warmupProgress(scheduler, iteration, warmupSteps);
    return config.optimizer.lr * (scheduler.warmupMinRatio + progress * (1.0 - scheduler.warmupMinRatio));
  }
  const double decaySteps = static_cast<double>(std::max<int64_t>(1, scheduler.totalSteps - warmupSteps));
  const double progress = std::min(1.0, static_cast<double>(iteration - warmupSteps + 1) / decaySteps);
  const double cosine = (1.0 + std::cos(M_PI * progress)) / 2.0;
  return config.optimizer.lr * std::max(0.0, scheduler.cosineMinRatio + (1.0 - scheduler.cosineMinRatio) * cosine);
}

/// Height in [0, 1] of the cycle `position` steps after its start.
static double cycleHeight(const SchedulerConfig &scheduler, double position, double up, double down) {
  const bool isRising = position <= up;
  const double height = isRising ? position / up : (up + down - position) / down;
  const int64_t stairs = isRising ? scheduler.firstStairs : scheduler.secondStairs.value_or(scheduler.firstStairs);
  if (stairs == 0)
    return height;
  const double count = static_cast<double>(stairs);
  return std::floor(isRising ? position * count / up : (up + down - position) * count / down) / count;
}

/// OneCycle: up, down, then decay of the minimum.
static double oneCycleRate(const TrainingConfig &config, int64_t iteration) {
  const SchedulerConfig &scheduler = config.scheduler;
  const double up = static_cast<double>(scheduler.firstHalfSteps);
  const double down = static_cast<double>(scheduler.secondHalfSteps.value_or(scheduler.firstHalfSteps));
  const double position = static_cast<double>(iteration + 1);
  if (static_cast<double>(iteration) < up + down) {
    const double height = cycleHeight(scheduler, std::fmod(position, up + down), up, down);
    return scheduler.cycleMinLr + (scheduler.cycleMaxLr - scheduler.cycleMinLr) * height;
  }
  if (scheduler.decayStepSize == 0)
    return scheduler.cycleMinLr;
  const double interval = (position - up - down) / static_cast<double>(scheduler.decayStepSize);
  return scheduler.cycleMinLr / (1.0 + scheduler.decayRate * interval);
}

/// LRRangeTest: grows without end.
static double rangeTestRate(const TrainingConfig &config, int64_t iteration) {
  const SchedulerConfig &scheduler = config.scheduler;
  double interval = static_cast<double>(iteration + 1) / static_cast<double>(scheduler.rangeStepSize);
  if (scheduler.isRangeStaircase)
    interval = std::floor(interval);
  return scheduler.rangeMinLr * (1.0 + scheduler.rangeStepRate * interval);
}

double learningRateAt(const TrainingConfig &config, int64_t step) {
  const int64_t iteration = step - 1;
  switch (config.scheduler.kind) {
  case SchedulerKind::Constant:
    return config.optimizer.lr;
  case SchedulerKind::WarmupLR:
  case SchedulerKind::WarmupDecayLR:
    return linearRate(config, iteration);
  case SchedulerKind::WarmupCosineLR:
    return cosineRate(config, iteration);
  case SchedulerKind::OneCycle:
    return oneCycleRate(config, iteration);
  case SchedulerKind::LRRangeTest:
    return rangeTestRate(config, iteration);
  }
  return config.optimizer.lr;
}

} // namespace ds
