// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "Checks.h"

using namespace ds::plan;

//===----------------------------------------------------------------------===//
// Profiles
//===----------------------------------------------------------------------===//

RankProfiles::RankProfiles(const PlanT &plan) : mesh(meshOf(plan)) {
  std::map<std::vector<int64_t>, uint32_t> known;
  for (int64_t rank = 0; rank < mesh.numRanks(); ++rank) {
    std::vector<int64_t> lengths;
    lengths.reserve(plan.extents.size());
    for (const ExtentValue &value : evaluateExtents(plan, mesh, rank))
      lengths.push_back(value.length);
    auto [entry, isNew] = known.emplace(std::move(lengths), static_cast<uint32_t>(profiles.size()));
    if (isNew)
      profiles.push_back(entry->first);
    profileOfRank.push_back(entry->second);
  }
}

int64_t RankProfiles::longestPiece(int64_t whole, uint16_t axis) const {
  int64_t longest = 0;
  if (mesh.axes()[axis].weights.empty())
    return pieceOf(whole, mesh, axis, 0).length();
  for (int64_t i = 0; i < mesh.axes()[axis].size; ++i)
    longest = std::max(longest, pieceOf(whole, mesh, axis, i).length());
  return longest;
}

bool RankProfiles::isEqualInGroups(uint32_t extent, uint16_t axis) const {
  auto [entry, isNew] = equalInGroups.emplace(std::pair(extent, axis), true);
  if (!isNew || profiles.size() == 1)
    return entry->second;
  int64_t stride = 1;
  for (size_t i = axis + 1u; i < mesh.axes().size(); ++i)
    stride *= mesh.axes()[i].size;
  for (int64_t rank = 0; rank < mesh.numRanks(); ++rank) {
    int64_t coordinate = rank / stride % mesh.axes()[axis].size;
    int64_t first = rank - coordinate * stride;
    if (profiles[profileOfRank[rank]][extent] != profiles[profileOfRank[first]][extent])
      return entry->second = false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

namespace {
class SizeCheck {
public:
  explicit SizeCheck(const PlanT &plan, const Program &program) : plan(plan), program(program), profiles(plan) {}

  absl::Status run(const Step &step) const;

private:
  using Lengths = std::vector<int64_t>;

  absl::Status checkAccess(const Step &step, const Access &access) const;
  absl::Status checkGroups(const Step &step) const;
  absl::Status checkView(const Step &step, const CopyT &copy, const ViewT &view) const;
  /// The bytes that `access` touches; nothing if that is above all limits.
  std::optional<uint64_t> bytesOf(const Access &access, const Lengths &lengths) const;

  const PlanT &plan;
  const Program &program;
  RankProfiles profiles;
};
} // namespace

std::optional<uint64_t> SizeCheck::bytesOf(const Access &access, const Lengths &lengths) const {
  // Empty first: 0 times what is above all limits is still 0.
  if (!access.type)
    return 0;
  std::vector<int64_t> terms = {access.count, static_cast<int64_t>(sizeOf(*access.type))};
  for (uint32_t extent : access.extents)
    terms.push_back(lengths[extent]);
  if (access.piece)
    terms.push_back(profiles.longestPiece(lengths[access.piece->whole], access.piece->axis));
  uint64_t bytes = 1;
  for (int64_t term : terms)
    if (term == 0)
      return 0;
  for (int64_t term : terms)
    if (__builtin_mul_overflow(bytes, static_cast<uint64_t>(term), &bytes))
      return std::nullopt;
  if (access.divisor)
    bytes /= static_cast<uint64_t>(std::max<int64_t>(lengths[*access.divisor], 1));
  return bytes;
}

absl::Status SizeCheck::checkAccess(const Step &step, const Access &access) const {
  uint64_t reserved = plan.buffers[access.buffer]->bytes;
  for (const Lengths &lengths : profiles.lengths()) {
    std::optional<uint64_t> bytes = bytesOf(access, lengths);
    if (!bytes || *bytes > reserved)
      return invalidPlan(bufferName(plan, access.buffer), " must hold the ",
                         bytes ? std::to_string(*bytes) : "more than 2^64", " bytes that ", stepName(plan, step),
                         access.writes ? " writes" : " reads", ", got ", reserved);
  }
  return absl::OkStatus();
}

/// The members of a group must agree on what they exchange.
absl::Status SizeCheck::checkGroups(const Step &step) const {
  std::vector<uint32_t> extents;
  uint16_t axis = 0;
  if (const auto *collective = operationAs<CollectiveT>(*step.instruction)) {
    axis = collective->axis;
    for (const auto &segment : collective->segments)
      for (uint32_t extent : extentsOf(*collective, *segment))
        extents.push_back(extent);
  } else if (const auto *shard = operationAs<TakeShardT>(*step.instruction)) {
    axis = shard->axis;
    extents = {shard->whole};
  }
  for (uint32_t extent : extents)
    if (!profiles.isEqualInGroups(extent, axis))
      return invalidPlan(stepName(plan, step), " must have extents that are equal along axis \"", plan.mesh[axis]->name,
                         "\", got extent ", extent);
  return absl::OkStatus();
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

/// The smallest and the largest of start and start + step * (n - 1).
static std::pair<int64_t, int64_t> rangeOf(int64_t start, int64_t step, int64_t n) {
  int64_t last = start + step * (n - 1);
  return {std::min(start, last), std::max(start, last)};
}

/// sum += a * b; whether that leaves 64 bits.
static bool addProduct(int64_t &sum, int64_t a, int64_t b) {
  int64_t product;
  return __builtin_mul_overflow(a, b, &product) || __builtin_add_overflow(sum, product, &sum);
}

absl::Status SizeCheck::checkView(const Step &step, const CopyT &copy, const ViewT &view) const {
  for (const Lengths &lengths : profiles.lengths()) {
    bool isEmpty = false;
    for (uint32_t extent : copy.extents)
      isEmpty |= lengths[extent] == 0;
    for (size_t i = 0; i < view.dims.size() && !isEmpty; ++i) {
      const ViewDimT &dim = *view.dims[i];
      int64_t n = dim.loop < 0 ? 1 : lengths[copy.extents[dim.loop]], furthest;
      if (__builtin_mul_overflow(dim.step, n, &furthest) || std::abs(furthest / 4) > kMaxElements)
        return invalidPlan(stepName(plan, step), " has a view that leaves dim ", i, " of its buffer");
      auto [first, last] = rangeOf(dim.start, dim.step, n);
      bool overflows = i == 0 && view.by_loop_index && addProduct(last, n, program.loopCount - 1);
      if (overflows || first < 0 || last >= lengths[dim.extent])
        return invalidPlan(stepName(plan, step), " must touch coordinates in [0, ", lengths[dim.extent], ") in dim ", i,
                           " of ", bufferName(plan, view.buffer), ", got ", first, " to ", last);
    }
  }
  return absl::OkStatus();
}

absl::Status SizeCheck::run(const Step &step) const {
  for (const Access &access : step.accesses)
    DS_RETURN_IF_ERROR(checkAccess(step, access));
  DS_RETURN_IF_ERROR(checkGroups(step));
  if (const auto *copy = operationAs<CopyT>(*step.instruction)) {
    DS_RETURN_IF_ERROR(checkView(step, *copy, *copy->source));
    DS_RETURN_IF_ERROR(checkView(step, *copy, *copy->target));
  }
  return absl::OkStatus();
}

absl::Status ds::plan::checkSizes(const PlanT &plan, const Program &program) {
  SizeCheck check(plan, program);
  for (const Step &step : program.steps)
    DS_RETURN_IF_ERROR(check.run(step));
  return absl::OkStatus();
}
