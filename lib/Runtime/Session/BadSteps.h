// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Steps whose loss or gradient norm is not finite: how many, and where such a number comes from.

#ifndef DS_LIB_RUNTIME_SESSION_BADSTEPS_H
#define DS_LIB_RUNTIME_SESSION_BADSTEPS_H

#include "ds/Runtime/Session/Session.h"

namespace ds::runtime {

/// What has become of the last steps of a training.
struct BadSteps {
  int64_t inARow = 0;
  int64_t lastGood = -1; ///< -1: none was good
  StepRecord last;       ///< the last bad one

  void add(const StepRecord &record);
  /// Why the training is stopped, of code kNumericStop.
  absl::Status stop() const;
};

/// `loss nan, gradient norm inf`.
std::string describeBadNumbers(const StepRecord &record);

/// What is not finite among the data and the variables of a rank, before a step.
FirstNonFinite findInMemory(const RankMemory &memory);

/// A number that is smaller the earlier `first` is in the step. NaN goes before infinities, which may be meant (a
/// mask).
int64_t placeOf(const FirstNonFinite &first);

/// `the first NaN is in the result of op X (3 of 12 elements)`, and the infinity that came before it, if there is one.
std::string describeFirst(const FirstNonFinite &first);

} // namespace ds::runtime

#endif // DS_LIB_RUNTIME_SESSION_BADSTEPS_H
