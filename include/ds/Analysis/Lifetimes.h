// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// When the memory of a step is in use.

#ifndef DS_ANALYSIS_LIFETIMES_H
#define DS_ANALYSIS_LIFETIMES_H

#include "ds/Analysis/OpEffects.h"
#include "ds/Analysis/Storage.h"

namespace ds {

/// The times at which a storage must keep its bytes, both inclusive.
struct Lifetime {
  uint32_t first = UINT32_MAX, last = 0;
  void include(uint32_t time) {
    first = std::min(first, time);
    last = std::max(last, time);
  }
};

/// The lifetime of each storage, by its number.
/// - It lives while the ops run whose effects (OpEffects.h) it is in.
/// - A storage that is live when a loop begins, and is used in the loop, lives to the loop's end: the next iteration
///   needs it again.
/// - Variables live throughout, inputs from the start to the first op that runs at least, outputs to the end.
std::vector<Lifetime> findLifetimes(const StoragePlan &storage, const OpTimes &times);

} // namespace ds

#endif // DS_ANALYSIS_LIFETIMES_H
