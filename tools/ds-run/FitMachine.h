// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// The constants of a machine from instructions whose work is known and whose times were measured.

#ifndef DS_TOOLS_DS_RUN_FITMACHINE_H
#define DS_TOOLS_DS_RUN_FITMACHINE_H

#include "ds/Config/Machine.h"

#include "absl/status/status.h"

#include <vector>

namespace ds {

/// An instruction on the compute queue of a rank that has all cores of the machine.
struct MeasuredWork {
  Work work;
  double seconds = 0;
};

/// What two ranks took to gather `bytes` from each other.
struct MeasuredLink {
  double bytes = 0;
  double seconds = 0;
};

/// Sets the speeds of `machine`, whose cores are known, so that `secondsOf` gives for each kind of work the sum of the
/// times that were measured. Fails if a kind is missing.
absl::Status fitSpeeds(const std::vector<MeasuredWork> &measured, Machine &machine);

/// Sets latency and bandwidth of the link by a transfer of a few bytes and one of many.
void fitLink(const MeasuredLink &small, const MeasuredLink &large, Machine &machine);

} // namespace ds

#endif // DS_TOOLS_DS_RUN_FITMACHINE_H
