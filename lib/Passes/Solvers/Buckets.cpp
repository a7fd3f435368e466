// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Passes/Solvers/Buckets.h"

#include <algorithm>
#include <map>

namespace ds {

namespace {

/// What the members of a bucket allow together.
struct Joined {
  uint32_t stream = 0, kind = 0;
  int64_t bytes = 0;       ///< of all but the last member
  int64_t lastBytes = 0;   ///< of the last member
  int64_t ready = 0;       ///< the last input is there
  int64_t firstNeeded = 0; ///< the first result must be there
  int64_t lastNeeded = 0;

  explicit Joined(const BucketMember &first)
      : stream(first.stream), kind(first.kind), lastBytes(first.bytes), ready(first.ready), firstNeeded(first.needed),
        lastNeeded(first.needed) {}

  Joined with(const BucketMember &member) const {
    Joined joined = *this;
    joined.bytes += lastBytes;
    joined.lastBytes = member.bytes;
    joined.ready = std::max(ready, member.ready);
    joined.firstNeeded = std::min(firstNeeded, member.needed);
    joined.lastNeeded = std::max(lastNeeded, member.needed);
    return joined;
  }

  /// What is wrong with it, or nothing.
  std::optional<std::string> findFault(const BucketLimits &limits) const {
    if (bytes >= limits.bytes)
      return "takes a member though it has " + std::to_string(bytes) + " bytes";
    if (ready >= firstNeeded)
      return "is complete at " + std::to_string(ready) + ", but needed at " + std::to_string(firstNeeded);
    if (lastNeeded - firstNeeded > limits.window)
      return "is needed from " + std::to_string(firstNeeded) + " to " + std::to_string(lastNeeded);
    return std::nullopt;
  }
};

} // namespace

std::vector<Bucket> formBuckets(const std::vector<BucketMember> &members, const BucketLimits &limits) {
  std::vector<Bucket> buckets;
  std::map<uint32_t, std::pair<size_t, Joined>> last; // of each stream, with its number
  for (size_t i = 0; i < members.size(); ++i) {
    const BucketMember &member = members[i];
    auto open = last.find(member.stream);
    if (open != last.end() && open->second.second.kind == member.kind) {
      auto &[number, joined] = open->second;
      if (const Joined more = joined.with(member); !more.findFault(limits)) {
        joined = more;
        buckets[number].push_back(i);
        continue;
      }
    }
    last.insert_or_assign(member.stream, std::make_pair(buckets.size(), Joined(member)));
    buckets.push_back({i});
  }
  return buckets;
}

std::optional<std::string> findBucketFault(const std::vector<BucketMember> &members, const BucketLimits &limits,
                                           const std::vector<Bucket> &buckets) {
  std::vector<bool> isTaken(members.size(), false);
  for (size_t i = 0; i < buckets.size(); ++i) {
    std::optional<Joined> joined;
    for (const size_t number : buckets[i]) {
      if (number >= members.size() || isTaken[number])
        return "bucket " + std::to_string(i) + " has member " + std::to_string(number) + ", which is none or another's";
      isTaken[number] = true;
      const BucketMember &member = members[number];
      if (joined && (joined->stream != member.stream || joined->kind != member.kind))
        return "bucket " + std::to_string(i) + " has members of two streams or kinds";
      joined = joined ? joined->with(member) : Joined(member);
      if (buckets[i].size() > 1)
        if (const std::optional<std::string> fault = joined->findFault(limits))
          return "bucket " + std::to_string(i) + " " + *fault;
    }
  }
  const auto left = std::find(isTaken.begin(), isTaken.end(), false);
  if (left != isTaken.end())
    return "member " + std::to_string(left - isTaken.begin()) + " is in no bucket";
  return std::nullopt;
}

} // namespace ds
