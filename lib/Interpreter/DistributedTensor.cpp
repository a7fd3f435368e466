// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Interpreter/DistributedTensor.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

using namespace ds;

//===----------------------------------------------------------------------===//
// Folds
//===----------------------------------------------------------------------===//

NeutralElement ds::neutralElement(ReduceKind kind, unsigned width) {
  const int64_t lowest = width == 1 ? 0 : std::numeric_limits<int64_t>::min() >> (64 - width);
  const int64_t highest = width == 1 ? 1 : std::numeric_limits<int64_t>::max() >> (64 - width);
  switch (kind) {
  case ReduceKind::Sum:
    return {0, 0};
  case ReduceKind::Max:
    return {-std::numeric_limits<double>::infinity(), lowest};
  case ReduceKind::Min:
    return {std::numeric_limits<double>::infinity(), highest};
  case ReduceKind::And:
    return {1, width == 1 ? 1 : -1};
  case ReduceKind::Or:
    return {0, 0};
  }
  return {0, 0};
}

double ds::foldFloats(ReduceKind kind, double a, double b) {
  switch (kind) {
  case ReduceKind::Sum:
    return a + b;
  case ReduceKind::Max:
    return std::isnan(a) || std::isnan(b) ? std::nan("") : std::max(a, b);
  case ReduceKind::Min:
    return std::isnan(a) || std::isnan(b) ? std::nan("") : std::min(a, b);
  case ReduceKind::And:
    return a != 0 && b != 0;
  case ReduceKind::Or:
    return a != 0 || b != 0;
  }
  return a;
}

int64_t ds::foldInts(ReduceKind kind, int64_t a, int64_t b) {
  switch (kind) {
  case ReduceKind::Sum:
    return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  case ReduceKind::Max:
    return std::max(a, b);
  case ReduceKind::Min:
    return std::min(a, b);
  case ReduceKind::And:
    return a & b;
  case ReduceKind::Or:
    return a | b;
  }
  return a;
}

static void setNeutral(DenseTensor &tensor, int64_t index, ReduceKind kind, unsigned width) {
  const NeutralElement neutral = neutralElement(kind, width);
  if (tensor.isFloat)
    tensor.floats[index] = neutral.asFloat;
  else
    tensor.ints[index] = neutral.asInt;
}

static void copyElement(DenseTensor &to, int64_t index, const DenseTensor &from, int64_t fromIndex) {
  if (to.isFloat)
    to.floats[index] = from.floats[fromIndex];
  else
    to.ints[index] = from.ints[fromIndex];
}

static void foldElement(ReduceKind kind, DenseTensor &to, int64_t index, const DenseTensor &from, int64_t fromIndex,
                        unsigned width) {
  if (to.isFloat)
    to.floats[index] = foldFloats(kind, to.floats[index], from.floats[fromIndex]);
  else
    to.ints[index] = wrapInteger(foldInts(kind, to.ints[index], from.ints[fromIndex]), width);
}

//===----------------------------------------------------------------------===//
// Spreading a global tensor
//===----------------------------------------------------------------------===//

namespace {
/// Splits elements randomly into parts that fold to them.
class RandomSplitter {
public:
  RandomSplitter(uint64_t seed, unsigned width) : random(seed), width(width) {}

  /// `count` tensors whose sum is `value`, each of its size.
  std::vector<DenseTensor> splitSum(const DenseTensor &value, int64_t count) {
    std::vector<DenseTensor> parts;
    DenseTensor rest = value;
    for (int64_t i = 1; i < count; ++i) {
      DenseTensor &part = parts.emplace_back(DenseTensor::zeros(value.shape, value.isFloat));
      for (int64_t index = 0; index < value.size(); ++index)
        moveSummand(part, rest, index);
    }
    parts.push_back(std::move(rest));
    return parts;
  }

  /// One tensor per coordinate: the winner of an element has `value`, the others something that does not win.
  std::vector<DenseTensor> splitAmong(const DenseTensor &value, int64_t count, ReduceKind kind,
                                      const std::vector<int64_t> &winners) {
    std::vector<DenseTensor> parts(count, value);
    for (int64_t i = 0; i < count; ++i)
      for (int64_t index = 0; index < value.size(); ++index)
        if (winners[index] != i)
          weaken(kind, parts[i], index);
    return parts;
  }

  std::vector<int64_t> randomWinners(int64_t elements, int64_t count) {
    std::vector<int64_t> winners(elements);
    for (int64_t &winner : winners)
      winner = static_cast<int64_t>(random() % count);
    return winners;
  }

private:
  void moveSummand(DenseTensor &part, DenseTensor &rest, int64_t index) {
    if (!part.isFloat) {
      part.ints[index] = wrapInteger(static_cast<int64_t>(random() % 201) - 100, width);
      rest.ints[index] = wrapInteger(rest.ints[index] - part.ints[index], width);
      return;
    }
    const double value = rest.floats[index];
    const double scale = std::isfinite(value) ? 1 + std::fabs(value) : 0;
    part.floats[index] = scale * std::uniform_real_distribution<double>(-1, 1)(random);
    rest.floats[index] = value - part.floats[index];
  }

  void weaken(ReduceKind kind, DenseTensor &tensor, int64_t index) {
    const double amount = std::uniform_real_distribution<double>(0, 2)(random);
    const int64_t step = random() % 3;
    if (kind == ReduceKind::And || kind == ReduceKind::Or) {
      if (random() % 2)
        setNeutral(tensor, index, kind, width);
    } else if (width == 1 && !tensor.isFloat) {
      setNeutral(tensor, index, kind, width);
    } else if (tensor.isFloat) {
      tensor.floats[index] += kind == ReduceKind::Max ? -amount : amount;
    } else {
      const int64_t neutral = neutralElement(kind, width).asInt, value = tensor.ints[index];
      const bool isNear = kind == ReduceKind::Max ? value < neutral + step : value > neutral - step;
      tensor.ints[index] = isNear ? neutral : value + (kind == ReduceKind::Max ? -step : step);
    }
  }

  std::mt19937_64 random;
  unsigned width;
};
} // namespace

/// The partial axes, sums first.
static std::vector<std::pair<std::string, ReduceKind>> sumsFirst(const Layout &layout) {
  std::vector<std::pair<std::string, ReduceKind>> sums, others;
  for (const auto &axis : layout.partial)
    (axis.second == ReduceKind::Sum ? sums : others).push_back(axis);
  sums.insert(sums.end(), others.begin(), others.end());
  return sums;
}

/// One global tensor per coordinate of the axes of `sumsFirst` (the last axis fastest) that fold to `value`, in any
/// order of the axes: sums are split before other folds, and in those the winner of an element is the same for all
/// summands.
static std::vector<DenseTensor> splitIntoSummands(const DenseTensor &value, const Placement &placement, unsigned width,
                                                  uint64_t seed) {
  std::vector<DenseTensor> summands = {value};
  RandomSplitter splitter(seed, width);
  for (const auto &[axis, kind] : sumsFirst(placement.layout())) {
    const int64_t count = placement.mesh().axisSize(axis);
    const std::vector<int64_t> winners = splitter.randomWinners(value.size(), count);
    std::vector<DenseTensor> finer;
    for (const DenseTensor &summand : summands)
      for (DenseTensor &part : kind == ReduceKind::Sum ? splitter.splitSum(summand, count)
                                                       : splitter.splitAmong(summand, count, kind, winners))
        finer.push_back(std::move(part));
    summands = std::move(finer);
  }
  return summands;
}

DistributedTensor ds::distribute(const DenseTensor &value, std::shared_ptr<const Placement> placement, unsigned width,
                                 uint64_t seed) {
  const std::vector<DenseTensor> summands = splitIntoSummands(value, *placement, width, seed);
  const auto axes = sumsFirst(placement->layout());
  DistributedTensor result{placement, {}};
  for (int64_t rank = 0; rank < placement->numRanks(); ++rank) {
    size_t number = 0;
    for (const auto &entry : axes)
      number = number * placement->mesh().axisSize(entry.first) + placement->mesh().coordinate(rank, entry.first);
    DenseTensor local = DenseTensor::zeros(placement->localShape(rank), value.isFloat);
    const std::vector<int64_t> &indices = placement->indices(rank);
    for (size_t i = 0; i < indices.size(); ++i)
      copyElement(local, i, summands[number], indices[i]);
    result.locals.push_back(std::move(local));
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Casts
//===----------------------------------------------------------------------===//

namespace {
/// Where the source of a cast has each global element. A rank is the sum of one offset per axis; here the offsets of
/// the axes that split the tensor.
struct SourceTable {
  std::vector<int64_t> rankOffset; ///< per global element
  std::vector<int64_t> position;   ///< per global element, in the local tensor
};

/// Casts from one placement to another, element by element.
class Caster {
public:
  Caster(const DistributedTensor &value, std::shared_ptr<const Placement> target, unsigned width)
      : value(value), source(*value.placement), target(std::move(target)), mesh(source.mesh()), width(width) {}

  DistributedTensor run() {
    findStrides();
    findFolds();
    findSources();
    DistributedTensor result{target, {}};
    for (int64_t rank = 0; rank < mesh.numRanks(); ++rank)
      result.locals.push_back(localOf(rank));
    return result;
  }

private:
  void findStrides() {
    int64_t stride = 1;
    for (size_t i = mesh.axes().size(); i-- > 0;) {
      strides[mesh.axes()[i].name] = stride;
      stride *= mesh.axes()[i].size;
    }
  }

  bool isSplitAxis(const std::string &axis) const {
    const AxisList dims = source.layout().dimAxes(), &flat = source.layout().flat;
    return std::count(dims.begin(), dims.end(), axis) || std::count(flat.begin(), flat.end(), axis);
  }

  static const ReduceKind *findPartial(const Layout &layout, const std::string &axis) {
    auto found = layout.partial.find(axis);
    return found == layout.partial.end() ? nullptr : &found->second;
  }

  /// The axes whose summands are folded, and those that become partial.
  void findFolds() {
    for (const auto &[axis, kind] : source.layout().partial) {
      const ReduceKind *after = findPartial(target->layout(), axis);
      if (!after || *after != kind)
        folds.emplace_back(axis, kind);
    }
    for (const auto &[axis, kind] : target->layout().partial) {
      const ReduceKind *before = findPartial(source.layout(), axis);
      if (!before || *before != kind)
        newPartials.emplace_back(axis, kind);
    }
  }

  void findSources() {
    table.rankOffset.assign(elementCount(source.shape()), 0);
    table.position.assign(elementCount(source.shape()), 0);
    for (int64_t rank = 0; rank < mesh.numRanks(); ++rank) {
      if (!source.isHeld(rank))
        continue;
      int64_t offset = 0;
      for (const MeshAxis &axis : mesh.axes())
        if (isSplitAxis(axis.name))
          offset += mesh.coordinate(rank, axis.name) * strides[axis.name];
      const std::vector<int64_t> &indices = source.indices(rank);
      for (size_t i = 0; i < indices.size(); ++i) {
        table.rankOffset[indices[i]] = offset;
        table.position[indices[i]] = i;
      }
    }
  }

  /// The offset of the axes that neither split nor fold: the rank's own coordinate, or the lowest that holds the value.
  int64_t ownOffset(int64_t rank) {
    int64_t offset = 0;
    for (const MeshAxis &axis : mesh.axes()) {
      const bool isFolded =
          std::any_of(folds.begin(), folds.end(), [&](const auto &fold) { return fold.first == axis.name; });
      if (isFolded || isSplitAxis(axis.name))
        continue;
      int64_t coordinate = mesh.coordinate(rank, axis.name);
      auto at = source.layout().at.find(axis.name);
      if (at != source.layout().at.end() && !at->second.count(coordinate))
        coordinate = *at->second.begin();
      offset += coordinate * strides[axis.name];
    }
    return offset;
  }

  /// The kind of a new partial axis on which `rank` has the neutral element.
  const ReduceKind *findNeutralKind(int64_t rank) const {
    for (const auto &[axis, kind] : newPartials) {
      auto at = source.layout().at.find(axis);
      const int64_t keeper = at == source.layout().at.end() ? 0 : *at->second.begin();
      if (mesh.coordinate(rank, axis) != keeper)
        return &kind;
    }
    return nullptr;
  }

  DenseTensor localOf(int64_t rank) {
    const ReduceKind *neutral = findNeutralKind(rank);
    if (!neutral)
      return folded(0, ownOffset(rank), rank);
    DenseTensor local = DenseTensor::zeros(target->localShape(rank), value.isFloat());
    for (int64_t i = 0; i < local.size(); ++i)
      setNeutral(local, i, *neutral, width);
    return local;
  }

  /// The elements of `rank`, folded over the axes from number `depth` on in ascending coordinate order; `base` is the
  /// sum of the offsets of all other axes that do not split the source.
  DenseTensor folded(size_t depth, int64_t base, int64_t rank) {
    if (depth == folds.size())
      return picked(base, rank);
    const auto &[axis, kind] = folds[depth];
    DenseTensor result = folded(depth + 1, base, rank);
    for (int64_t coordinate = 1; coordinate < mesh.axisSize(axis); ++coordinate) {
      const DenseTensor term = folded(depth + 1, base + coordinate * strides[axis], rank);
      for (int64_t i = 0; i < result.size(); ++i)
        foldElement(kind, result, i, term, i, width);
    }
    return result;
  }

  DenseTensor picked(int64_t base, int64_t rank) {
    DenseTensor local = DenseTensor::zeros(target->localShape(rank), value.isFloat());
    const std::vector<int64_t> &indices = target->indices(rank);
    for (size_t i = 0; i < indices.size(); ++i)
      copyElement(local, i, value.locals[base + table.rankOffset[indices[i]]], table.position[indices[i]]);
    return local;
  }

  const DistributedTensor &value;
  const Placement &source;
  std::shared_ptr<const Placement> target;
  const Mesh &mesh;
  unsigned width;
  std::map<std::string, int64_t> strides;
  std::vector<std::pair<std::string, ReduceKind>> folds, newPartials;
  SourceTable table;
};
} // namespace

DistributedTensor ds::castTo(const DistributedTensor &value, std::shared_ptr<const Placement> placement,
                             unsigned width) {
  return Caster(value, std::move(placement), width).run();
}

DenseTensor ds::assemble(const DistributedTensor &value, unsigned width) {
  const Placement &source = *value.placement;
  auto whole =
      std::make_shared<const Placement>(Layout::replicated(source.shape().size()), source.shape(), source.mesh());
  return std::move(castTo(value, whole, width).locals.front());
}

std::optional<std::string> ds::findReplicaFault(const DistributedTensor &value) {
  const Placement &placement = *value.placement;
  for (int64_t rank = 0; rank < placement.numRanks(); ++rank) {
    const int64_t first = placement.firstReplica(rank);
    const DenseTensor &mine = value.locals[rank], &other = value.locals[first];
    for (int64_t i = 0; first != rank && i < mine.size(); ++i)
      if (!mine.sameBits(i, other, i))
        return "ranks " + std::to_string(first) + " and " + std::to_string(rank) + " must have equal bits, got " +
               std::to_string(other.at(i)) + " and " + std::to_string(mine.at(i)) + " at element " +
               std::to_string(placement.indices(rank)[i]);
  }
  return std::nullopt;
}
