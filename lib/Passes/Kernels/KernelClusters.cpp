// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "KernelClusters.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/IntEqClasses.h"

using namespace mlir;
using namespace ds;

bool ds::isFreeOp(Operation *op) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return isa<SplatElementsAttr>(constant.getValue());
  return isa<BroadcastOp, IotaOp>(op);
}

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

static DimMap identityMap(int64_t rank) { return llvm::to_vector<4>(llvm::seq<int64_t>(0, rank)); }

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

bool KernelClusters::reaches(unsigned target, Value value, bool directIsPath) {
  SmallVector<std::pair<Value, bool>> stack = {{value, directIsPath}};
  DenseSet<Operation *> seen;
  while (!stack.empty()) {
    auto [current, countsHere] = stack.pop_back_val();
    Operation *op = current.getDefiningOp();
    // Nothing before the target's segment can depend on it.
    if (!op || op->getBlock() != &block || segmentOf.lookup(op) < clusters[target].segment)
      continue;
    auto found = clusterOf.find(op);
    if (found != clusterOf.end() && found->second == target) {
      if (countsHere)
        return true;
      continue;
    }
    if (!seen.insert(op).second)
      continue;
    // A free op is made anew in its user's kernel: it is no op of its own on the path.
    bool counts = countsHere || !isFreeOp(op);
    if (found == clusterOf.end()) {
      op->walk([&](Operation *inner) {
        for (Value operand : inner->getOperands())
          stack.push_back({operand, counts});
      });
      continue;
    }
    for (Operation *member : clusters[found->second].ops)
      if (seen.insert(member).second || member == op)
        for (Value operand : member->getOperands())
          stack.push_back({operand, true});
  }
  return false;
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
      segmentOf[&op] = ++segment;
  }
  mergeReaders();
  SmallVector<ArrayRef<Operation *>> result;
  for (KernelCluster &cluster : clusters)
    if (!cluster.ops.empty())
      result.push_back(cluster.ops);
  return result;
}
