// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// What a step of a plan costs: elements received, and the predicted time. Plans must have passed `check`.

#ifndef DS_PLAN_TRAFFIC_H
#define DS_PLAN_TRAFFIC_H

#include "ds/Plan/Plan.h"

#include <map>
#include <vector>

namespace ds::plan {

/// All collectives of one kind over one axis.
struct Traffic {
  std::string kind;    ///< "all_gather", "reduce_scatter", "all_reduce", "all_to_all" or "remap"
  std::string axis;    ///< empty for remap
  int64_t calls = 0;   ///< per step
  double elements = 0; ///< received per step by the rank that receives most
  double bytes = 0;    ///< the same, in bytes
};

/// The traffic of a step by kind and axis, sorted by them. Instructions in the loop count as often as it runs. With k
/// the size of the axis and n the elements put in, a rank receives n_out - n in an all_gather, (k-1)/k n in a
/// reduce_scatter or all_to_all, 2 (k-1)/k n in an all_reduce; in a remap what it needs and does not own.
std::vector<Traffic> trafficOf(const PlanT &plan);

/// The elements received per step by kind, over all axes, by the rank that receives most of that kind.
std::map<std::string, double> receivedElements(const PlanT &plan);

/// The predicted seconds of a step: every instruction starts when its queue and its events allow.
double predictedSeconds(const PlanT &plan);

/// How often the loop runs; 1 without loop.
int64_t loopCountOf(const PlanT &plan);

} // namespace ds::plan

#endif // DS_PLAN_TRAFFIC_H
