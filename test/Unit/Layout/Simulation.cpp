// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "Simulation.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

using namespace ds;
using namespace ds::test;

static constexpr double poison = std::numeric_limits<double>::quiet_NaN();
static constexpr double infinity = std::numeric_limits<double>::infinity();

static double neutralOf(ReduceKind kind) {
  switch (kind) {
  case ReduceKind::Sum:
  case ReduceKind::Or:
    return 0;
  case ReduceKind::And:
    return 1;
  case ReduceKind::Max:
    return -infinity;
  case ReduceKind::Min:
    return infinity;
  }
  return poison;
}

/// NaN wins over everything, so that a poisoned operand shows.
static double fold(ReduceKind kind, double a, double b) {
  if (std::isnan(a) || std::isnan(b))
    return poison;
  switch (kind) {
  case ReduceKind::Sum:
    return a + b;
  case ReduceKind::Or:
    return a != 0 || b != 0;
  case ReduceKind::And:
    return a != 0 && b != 0;
  case ReduceKind::Max:
    return std::max(a, b);
  case ReduceKind::Min:
    return std::min(a, b);
  }
  return poison;
}

/// A summand that leaves `value` what it is beside a summand that is `value` (for sums: anything).
static double randomSummand(ReduceKind kind, double value, std::mt19937 &random) {
  const double noise = static_cast<double>(random() % 17);
  switch (kind) {
  case ReduceKind::Sum:
    return noise;
  case ReduceKind::Max:
    return value - noise;
  case ReduceKind::Min:
    return value + noise;
  case ReduceKind::And:
    return value != 0 || random() % 2;
  case ReduceKind::Or:
    return value != 0 && random() % 2;
  }
  return poison;
}

/// `count` summands of `value` at random, small integers so that sums are exact.
static std::vector<double> randomSummands(ReduceKind kind, double value, int64_t count, std::mt19937 &random) {
  std::vector<double> summands(count);
  const size_t keeper = random() % count;
  for (double &summand : summands)
    summand = randomSummand(kind, value, random);
  summands[keeper] = value;
  if (kind == ReduceKind::Sum)
    for (size_t i = 0; i < summands.size(); ++i)
      summands[keeper] -= i == keeper ? 0 : summands[i];
  return summands;
}

DistributedTensor::DistributedTensor(std::vector<double> value, Layout layout, Shape shape, const Mesh &mesh,
                                     std::mt19937 &random)
    : value(std::move(value)), shape(std::move(shape)), mesh(mesh) {
  setLayout(std::move(layout));
  // The summand of each element for each coordinate of the partial axes.
  std::map<std::vector<int64_t>, std::vector<double>> summands = {{{}, this->value}};
  for (auto entry = currentLayout.partial.rbegin(); entry != currentLayout.partial.rend(); ++entry) {
    std::map<std::vector<int64_t>, std::vector<double>> finer;
    const int64_t count = mesh.axisSize(entry->first);
    for (const auto &[coordinates, tensor] : summands)
      for (double element : tensor) {
        const std::vector<double> parts = randomSummands(entry->second, element, count, random);
        for (int64_t i = 0; i < count; ++i) {
          std::vector<int64_t> longer = {i};
          longer.insert(longer.end(), coordinates.begin(), coordinates.end());
          finer[longer].push_back(parts[i]);
        }
      }
    summands = std::move(finer);
  }
  for (int64_t rank = 0; rank < mesh.numRanks(); ++rank)
    for (size_t i = 0; i < indices[rank].size(); ++i)
      buffers[rank][i] = summands.at(partialCoordinates(rank))[indices[rank][i]];
}

void DistributedTensor::setLayout(Layout layout) {
  currentLayout = std::move(layout);
  indices.clear();
  for (int64_t rank = 0; rank < mesh.numRanks(); ++rank)
    indices.push_back(ownedIndices(currentLayout, shape, mesh, rank));
  buffers.assign(mesh.numRanks(), std::vector<double>(maxOwnedElements(currentLayout, shape, mesh), poison));
}

std::vector<int64_t> DistributedTensor::partialCoordinates(int64_t rank) const {
  std::vector<int64_t> coordinates;
  for (const auto &entry : currentLayout.partial)
    coordinates.push_back(referenceCoordinate(mesh, rank, entry.first));
  return coordinates;
}

double DistributedTensor::read(int64_t rank, int64_t index) const {
  const auto found = std::find(indices[rank].begin(), indices[rank].end(), index);
  return found == indices[rank].end() ? poison : buffers[rank][found - indices[rank].begin()];
}

/// Reads from `rank` itself if it has the element, else from the first of `ranks` that has it.
double DistributedTensor::readFrom(const std::vector<int64_t> &ranks, int64_t rank, int64_t index,
                                   int64_t &received) const {
  const double own = read(rank, index);
  if (!std::isnan(own))
    return own;
  ++received;
  for (int64_t other : ranks)
    if (const double element = read(other, index); !std::isnan(element))
      return element;
  return poison;
}

/// The ranks with the same coordinates as `rank` on the partial axes and those in `at`.
std::vector<int64_t> DistributedTensor::ranksLike(int64_t rank, const Layout &layout) const {
  std::vector<int64_t> ranks;
  for (int64_t other = 0; other < mesh.numRanks(); ++other) {
    bool isLike = true;
    const auto compare = [&](const std::string &axis) {
      isLike = isLike && referenceCoordinate(mesh, rank, axis) == referenceCoordinate(mesh, other, axis);
    };
    for (const auto &entry : layout.partial)
      compare(entry.first);
    for (const auto &entry : layout.at)
      compare(entry.first);
    if (isLike)
      ranks.push_back(other);
  }
  return ranks;
}

double DistributedTensor::resultOf(const Cast &cast, int64_t rank, int64_t index, int64_t &received) const {
  switch (cast.kind) {
  case CastKind::TakeShard:
  case CastKind::Copy:
    return read(rank, index);
  case CastKind::ToPartial: {
    const auto set = currentLayout.at.find(cast.axis);
    const int64_t keeper = set == currentLayout.at.end() ? 0 : *set->second.begin();
    return referenceCoordinate(mesh, rank, cast.axis) == keeper ? read(rank, index) : neutralOf(cast.reduce);
  }
  case CastKind::AllGather:
  case CastKind::AllToAll:
  case CastKind::Transfer:
    return readFrom(mesh.group(rank, cast.axis), rank, index, received);
  case CastKind::Remap:
    return readFrom(ranksLike(rank, currentLayout), rank, index, received);
  case CastKind::ReduceScatter:
  case CastKind::AllReduce: {
    double result = neutralOf(cast.reduce);
    for (int64_t other : mesh.group(rank, cast.axis)) {
      result = fold(cast.reduce, result, read(other, index));
      received += other != rank;
    }
    return result;
  }
  }
  return poison;
}

int64_t DistributedTensor::apply(const Cast &cast) {
  DistributedTensor after = *this;
  after.setLayout(cast.result);
  int64_t most = 0;
  for (int64_t rank = 0; rank < mesh.numRanks(); ++rank) {
    int64_t received = 0;
    for (size_t i = 0; i < after.indices[rank].size(); ++i)
      after.buffers[rank][i] = resultOf(cast, rank, after.indices[rank][i], received);
    most = std::max(most, received);
  }
  *this = std::move(after);
  return most;
}

static bool areSameBits(double a, double b) { return std::memcmp(&a, &b, sizeof a) == 0; }

std::string DistributedTensor::findFault() const {
  // 1. One summand per coordinate of the partial axes; replicas agree bit by bit.
  std::map<std::vector<int64_t>, std::map<int64_t, double>> summands;
  for (int64_t rank = 0; rank < mesh.numRanks(); ++rank) {
    for (size_t i = 0; i < indices[rank].size(); ++i) {
      const auto [known, isNew] = summands[partialCoordinates(rank)].insert({indices[rank][i], buffers[rank][i]});
      if (!isNew && !areSameBits(known->second, buffers[rank][i]))
        return "replicas differ at element " + std::to_string(known->first);
    }
    for (size_t i = indices[rank].size(); i < buffers[rank].size(); ++i)
      if (!std::isnan(buffers[rank][i]))
        return "rank " + std::to_string(rank) + " wrote outside its extent";
  }
  // 2. Fold the axes away, the last first, in ascending coordinate order.
  for (auto entry = currentLayout.partial.rbegin(); entry != currentLayout.partial.rend(); ++entry) {
    std::map<std::vector<int64_t>, std::map<int64_t, double>> folded;
    for (const auto &[coordinates, tensor] : summands)
      for (const auto &[index, element] : tensor) {
        const std::vector<int64_t> shorter(coordinates.begin(), coordinates.end() - 1);
        const auto [known, isNew] = folded[shorter].insert({index, element});
        if (!isNew)
          known->second = fold(entry->second, known->second, element);
      }
    summands = std::move(folded);
  }
  // 3. All elements are there and right.
  const std::map<int64_t, double> &tensor = summands[{}];
  for (size_t index = 0; index < value.size(); ++index) {
    const auto found = tensor.find(static_cast<int64_t>(index));
    if (found == tensor.end() || !(found->second == value[index]))
      return "element " + std::to_string(index) + " is wrong in " + currentLayout.str();
  }
  return "";
}
