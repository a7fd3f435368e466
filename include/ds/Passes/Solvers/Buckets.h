// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Decides which collectives go together. Plain C++.

#ifndef DS_PASSES_SOLVERS_BUCKETS_H
#define DS_PASSES_SOLVERS_BUCKETS_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ds {

/// A collective. Times are places in the order of the program.
struct BucketMember {
  uint32_t stream = 0; ///< members of one stream go together, such as those of one axis
  uint32_t kind = 0;   ///< members of a bucket are of one kind, such as sums of f32
  int64_t bytes = 0;   ///< what it takes in or gives on one rank
  int64_t ready = 0;   ///< its input is there
  int64_t needed = 0;  ///< its result must be there; after `ready`
};

struct BucketLimits {
  int64_t bytes = 0;          ///< a bucket that has so many takes no more members
  int64_t window = INT64_MAX; ///< the time from the first need of a bucket's results to the last
};

/// The numbers of the members that go together, in their order.
using Bucket = std::vector<size_t>;

/// Joins members of a stream that follow each other, as long as the inputs of all are there before the result of any is
/// needed. `members` are in the order of the program. O(n). Source: Li et al., "PyTorch Distributed", VLDB 2020,
/// section 3.2.2.
std::vector<Bucket> formBuckets(const std::vector<BucketMember> &members, const BucketLimits &limits);

/// Why `buckets` are not buckets of `members` within `limits`, or nothing.
std::optional<std::string> findBucketFault(const std::vector<BucketMember> &members, const BucketLimits &limits,
                                           const std::vector<Bucket> &buckets);

} // namespace ds

#endif // DS_PASSES_SOLVERS_BUCKETS_H
