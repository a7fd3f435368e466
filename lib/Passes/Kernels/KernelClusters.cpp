// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "KernelClusters.h"

#include "ds/Dialect/Splat.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/IntEqClasses.h"

using namespace mlir;
using namespace ds;

bool ds::isFreeOp(Operation *op) { return op->getNumResults() == 1 && isLazy(op->getResult(0)); }

bool ds::isFusibleOp(Operation *op) {
  if (op->getNumResults() != 1 || !isa<RankedTensorType>(op->getResult(0).getType()))
    return false;
  if (isa<ScaleOp, DivideOp, WhereOp, ReduceOp>(op))
    return true;
  return isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) && !isa<arith::ConstantOp>(op);
}

bool ds::separatesKernels(Operation *op) {
  return !isFusibleOp(op) && !isFreeOp(op) &&
         !isa<ReadOp, AssignOp, FenceOp, ReshapeOp, AllGatherOp, ReduceScatterOp, AllReduceOp, AllToAllOp>(op);
}

/// The tensor type of the space that `op` runs over.
static RankedTensorType spaceOf(Operation *op) {
  Value value = isa<ReduceOp>(op) ? op->getOperand(0) : op->getResult(0);
  return cast<RankedTensorType>(value.getType());
}

/// Whether two types cut the same elements to the same ranks, whatever their element types.
static bool sameSpace(RankedTensorType a, RankedTensorType b) {
  if (a.getShape() != b.getShape() || a.getEncoding() == b.getEncoding())
    return a.getShape() == b.getShape();
  Layout left = layoutOf(a), right = layoutOf(b);
  return left.dims == right.dims && left.flat == right.flat;
}

/// Over which dims of the space `value` must run if it is to be `map` over them, seen through broadcasts: the source
/// and its map.
static std::pair<Value, DimMap> seeThrough(Value value, DimMap map) {
  while (auto broadcast = value.getDefiningOp<BroadcastOp>()) {
    DimMap source;
    for (int64_t dim : broadcast.getDims())
      source.push_back(map[dim]);
    map = source;
    value = broadcast.getInput();
  }
  return {value, map};
}

//===----------------------------------------------------------------------===//
// Paths
//===----------------------------------------------------------------------===//

namespace {
/// One direction of a search for a path between a cluster and a value, an edge at a time. What lies on the path is an
/// op outside of clusters, or a cluster as one.
class PathSearch {
public:
  virtual ~PathSearch() = default;
  /// Goes over the next edge. Whether there is a path, once that is known.
  virtual std::optional<bool> step() = 0;
};
} // namespace

/// From the value back to what it is computed from.
class KernelClusters::BackwardSearch : public PathSearch {
public:
  BackwardSearch(KernelClusters &all, unsigned target, Value value, bool directIsPath) : all(all), target(target) {
    edges.push_back({value, directIsPath});
  }

  /// Goes over all edges that are left: the ops from which a path leads to the value.
  DenseSet<Operation *> finish() {
    while (!edges.empty())
      (void)step();
    return std::move(ancestors);
  }

  std::optional<bool> step() override {
    if (edges.empty())
      return false;
    auto [value, counts] = edges.pop_back_val();
    Operation *op = value.getDefiningOp();
    // Nothing before the target's segment can depend on it.
    if (!op || op->getBlock() != &all.block || all.segmentOf.lookup(op) < all.clusters[target].segment)
      return std::nullopt;
    const std::optional<unsigned> cluster = all.findCluster(op);
    if (counts)
      noteAncestors(op, cluster);
    if (cluster == target)
      return counts ? std::optional(true) : std::nullopt;
    if (!seen.insert(op).second)
      return std::nullopt;
    if (!cluster) {
      // A free op is made anew in its user's kernel: it is no op of its own on the path.
      addOperands(op, counts || !isFreeOp(op));
      return std::nullopt;
    }
    for (Operation *member : all.clusters[*cluster].ops)
      if (seen.insert(member).second || member == op)
        addOperands(member, true);
    return std::nullopt;
  }

private:
  void noteAncestors(Operation *op, std::optional<unsigned> cluster) {
    ArrayRef<Operation *> ops = cluster ? ArrayRef(all.clusters[*cluster].ops) : ArrayRef(op);
    ancestors.insert(ops.begin(), ops.end());
  }

  void addOperands(Operation *op, bool counts) {
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        edges.push_back({operand, counts});
    });
  }

  KernelClusters &all;
  unsigned target;
  SmallVector<std::pair<Value, bool>> edges; ///< to what is not seen yet, and whether a path that ends there counts
  DenseSet<Operation *> seen, ancestors;
};

/// From the cluster on to what is computed from it.
class KernelClusters::ForwardSearch : public PathSearch {
public:
  ForwardSearch(KernelClusters &all, unsigned target, Value value, bool directIsPath)
      : all(all), target(target), end(value.getDefiningOp()), directIsPath(directIsPath) {
    if (!end)
      return;
    endCluster = all.findCluster(end);
    for (Operation *member : all.clusters[target].ops)
      addUses(member, false);
  }

  std::optional<bool> step() override {
    while (!edges.empty() && edges.back().next == edges.back().last)
      edges.pop_back();
    if (edges.empty())
      return false;
    const bool countsBefore = edges.back().counts;
    Operation *op = all.block.findAncestorOpInBlock(**edges.back().next++);
    auto segment = op ? all.segmentOf.find(op) : all.segmentOf.end();
    // What comes later is not looked at yet, or does not lead back.
    if (segment == all.segmentOf.end() || segment->second > all.segmentOf.lookup(end))
      return std::nullopt;
    const std::optional<unsigned> cluster = all.findCluster(op);
    if (cluster == target)
      return std::nullopt;
    const bool counts = countsBefore || !isFreeOp(op);
    const bool isEnd = op == end || (cluster && cluster == endCluster);
    if (isEnd && (counts || directIsPath))
      return true;
    if (!seen.insert(Visit(op, counts)).second)
      return std::nullopt;
    addUses(op, counts);
    if (cluster)
      for (Operation *member : all.clusters[*cluster].ops)
        if (seen.insert(Visit(member, counts)).second)
          addUses(member, counts);
    return std::nullopt;
  }

private:
  using Visit = llvm::PointerIntPair<Operation *, 1, bool>; ///< an op, and whether the path there counts
  struct Uses {
    Operation::user_iterator next, last;
    bool counts; ///< whether a path that goes on there counts
  };

  void addUses(Operation *op, bool counts) { edges.push_back({op->user_begin(), op->user_end(), counts}); }

  KernelClusters &all;
  unsigned target;
  Operation *end; ///< makes the value; null if it is an argument
  std::optional<unsigned> endCluster;
  bool directIsPath;
  SmallVector<Uses> edges;
  DenseSet<Visit> seen;
};

std::optional<unsigned> KernelClusters::findCluster(Operation *op) const {
  auto found = clusterOf.find(op);
  return found == clusterOf.end() ? std::nullopt : std::optional(found->second);
}

/// A search of more steps pays for finding all that the value depends on, as others will ask for the same value.
static constexpr unsigned kLongSearch = 256;

bool KernelClusters::reaches(unsigned target, Value value, bool directIsPath) {
  auto known = ancestorsOf.find({value, directIsPath});
  if (known != ancestorsOf.end() &&
      llvm::any_of(clusters[target].ops, [&](Operation *op) { return known->second.contains(op); }))
    return true;
  // In turn, so that the smaller side bounds the search: every update of a parameter reads the gradients' norm, which
  // comes from all of them, but nothing reads a cluster that has just begun.
  BackwardSearch backward(*this, target, value, directIsPath);
  ForwardSearch forward(*this, target, value, directIsPath);
  for (unsigned steps = 0;; ++steps)
    for (PathSearch *search : {static_cast<PathSearch *>(&backward), static_cast<PathSearch *>(&forward)})
      if (std::optional<bool> found = search->step()) {
        if (*found && steps > kLongSearch)
          ancestorsOf[{value, directIsPath}] = backward.finish();
        return *found;
      }
}

bool KernelClusters::reachesInputsOf(unsigned target, unsigned cluster) {
  for (Operation *member : clusters[cluster].ops)
    for (Value operand : member->getOperands()) {
      Operation *producer = operand.getDefiningOp();
      if (producer && clusterOf.lookup_or(producer, ~0u) == cluster)
        continue;
      if (reaches(target, operand, true))
        return true;
    }
  return false;
}

SmallVector<unsigned> KernelClusters::producersOf(Operation *op) {
  SmallVector<unsigned> producers;
  for (Value operand : op->getOperands()) {
    Operation *producer =
        seeThrough(operand, identityMap(cast<RankedTensorType>(operand.getType()).getRank())).first.getDefiningOp();
    auto found = producer ? clusterOf.find(producer) : clusterOf.end();
    if (found != clusterOf.end() && !llvm::is_contained(producers, found->second))
      producers.push_back(found->second);
  }
  llvm::sort(producers, [&](unsigned a, unsigned b) {
    return std::pair(clusters[a].space.getNumElements(), a) > std::pair(clusters[b].space.getNumElements(), b);
  });
  return producers;
}

//===----------------------------------------------------------------------===//
// Joining
//===----------------------------------------------------------------------===//

namespace {
/// How an op would stand in a cluster.
struct Placement {
  DimMap map;               ///< of the op's operand space
  DimMap resultMap;         ///< of its result
  bool foldsRows = false;   ///< it is a leading reduction
  int64_t firstColumn = -1; ///< what it asks of the cluster's columns
};
} // namespace

/// Where a reduction of `map`'s dims leaves its result, and where it cuts rows from columns; nothing if it folds
/// neither end.
static std::optional<Placement> placeReduction(ReduceOp reduce, const DimMap &map) {
  Placement placement;
  placement.map = map;
  DimMap folded;
  for (auto [dim, place] : llvm::enumerate(map))
    (llvm::is_contained(reduce.getDims(), static_cast<int64_t>(dim)) ? folded : placement.resultMap).push_back(place);
  if (folded.empty())
    return placement;
  if (placement.resultMap.empty()) {
    placement.foldsRows = true;
    return placement;
  }
  if (folded.front() > placement.resultMap.back()) {
    placement.firstColumn = folded.front();
    return placement;
  }
  if (folded.back() < placement.resultMap.front()) {
    placement.foldsRows = true;
    placement.firstColumn = placement.resultMap.front();
    return placement;
  }
  return std::nullopt;
}

/// The map that `op`'s operands from `cluster` give its space; nothing if they disagree or none is usable.
static std::optional<DimMap> mapInCluster(Operation *op, const KernelCluster &cluster) {
  RankedTensorType space = spaceOf(op);
  if (sameSpace(space, cluster.space))
    return identityMap(space.getRank());
  for (Value operand : op->getOperands()) {
    auto found = cluster.maps.find(operand);
    if (found != cluster.maps.end() && cast<RankedTensorType>(operand.getType()).getRank() == space.getRank())
      return found->second;
  }
  return std::nullopt;
}

bool KernelClusters::join(Operation *op, unsigned id) {
  KernelCluster &cluster = clusters[id];
  if (cluster.segment != segment || cluster.ops.size() >= 96)
    return false;
  std::optional<DimMap> map = mapInCluster(op, cluster);
  if (!map)
    return false;
  std::optional<Placement> placement = Placement{*map, *map, false, -1};
  if (auto reduce = dyn_cast<ReduceOp>(op))
    placement = placeReduction(reduce, *map);
  if (!placement)
    return false;
  if (placement->firstColumn >= 0 && cluster.firstColumn >= 0 && placement->firstColumn != cluster.firstColumn)
    return false;
  for (Value operand : op->getOperands()) {
    auto [source, sourceMap] = seeThrough(operand, *map);
    auto known = cluster.maps.find(source);
    if (known == cluster.maps.end()) {
      if (reaches(id, operand, false))
        return false;
      continue;
    }
    if (cluster.foldedRows.contains(source) || known->second != sourceMap)
      return false;
  }
  cluster.ops.push_back(op);
  cluster.maps[op->getResult(0)] = placement->resultMap;
  if (placement->foldsRows)
    cluster.foldedRows.insert(op->getResult(0));
  if (placement->firstColumn >= 0)
    cluster.firstColumn = placement->firstColumn;
  clusterOf[op] = id;
  return true;
}

void KernelClusters::start(Operation *op) {
  KernelCluster cluster;
  cluster.space = spaceOf(op);
  cluster.segment = segment;
  clusters.push_back(std::move(cluster));
  [[maybe_unused]] bool joined = join(op, clusters.size() - 1);
  assert(joined && "an op fits the cluster of its own space");
}

bool KernelClusters::merge(unsigned into, unsigned from) {
  KernelCluster &a = clusters[into], &b = clusters[from];
  if (a.segment != b.segment || !sameSpace(a.space, b.space) || a.ops.size() + b.ops.size() > 96)
    return false;
  if (a.firstColumn >= 0 && b.firstColumn >= 0 && a.firstColumn != b.firstColumn)
    return false;
  if (reachesInputsOf(into, from) || reachesInputsOf(from, into))
    return false;
  for (Operation *op : b.ops)
    clusterOf[op] = into;
  a.ops.append(b.ops);
  llvm::sort(a.ops, [](Operation *x, Operation *y) { return x->isBeforeInBlock(y); });
  a.maps.insert(b.maps.begin(), b.maps.end());
  a.foldedRows.insert(b.foldedRows.begin(), b.foldedRows.end());
  a.firstColumn = std::max(a.firstColumn, b.firstColumn);
  b = KernelCluster();
  return true;
}

void KernelClusters::visit(Operation *op) {
  SmallVector<unsigned> producers = producersOf(op);
  // Clusters that meet in this op become one first.
  for (size_t i = 0; i < producers.size(); ++i)
    for (size_t j = i + 1; j < producers.size();) {
      bool bothFit = mapInCluster(op, clusters[producers[i]]) && mapInCluster(op, clusters[producers[j]]);
      if (bothFit && merge(producers[j], producers[i])) {
        producers[i] = producers[j];
        producers.erase(producers.begin() + j);
      } else {
        ++j;
      }
    }
  for (unsigned producer : producers)
    if (join(op, producer))
      return;
  start(op);
}

void KernelClusters::mergeReaders() {
  llvm::MapVector<std::pair<int64_t, Value>, SmallVector<unsigned>> readers; // by segment and tensor
  for (auto [id, cluster] : llvm::enumerate(clusters))
    for (Operation *op : cluster.ops)
      for (Value operand : op->getOperands()) {
        auto type = cast<RankedTensorType>(operand.getType());
        Operation *producer = operand.getDefiningOp();
        bool isInput = !producer || (!isFreeOp(producer) && clusterOf.lookup_or(producer, ~0u) != id);
        if (!isInput || type.getRank() == 0 || !sameSpace(type, cluster.space))
          continue;
        SmallVector<unsigned> &known = readers[{cluster.segment, operand}];
        if (known.empty() || known.back() != id)
          known.push_back(id);
      }
  llvm::IntEqClasses merged(clusters.size()); // who is where, by the smaller number
  for (auto &[place, ids] : readers)
    for (unsigned id : ArrayRef(ids).drop_front()) {
      unsigned a = merged.findLeader(ids.front()), b = merged.findLeader(id);
      if (a != b && !clusters[a].ops.empty() && !clusters[b].ops.empty() && merge(std::min(a, b), std::max(a, b)))
        merged.join(a, b);
    }
}

SmallVector<ArrayRef<Operation *>> KernelClusters::run() {
  for (Operation &op : block) {
    segmentOf[&op] = segment;
    if (isFusibleOp(&op))
      visit(&op);
    else if (separatesKernels(&op))
      ++segment; // it cannot depend on what comes after it
  }
  mergeReaders();
  SmallVector<ArrayRef<Operation *>> result;
  for (KernelCluster &cluster : clusters)
    if (!cluster.ops.empty())
      result.push_back(cluster.ops);
  return result;
}
