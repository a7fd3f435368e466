// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// In four steps:
//   1. the space is the tensor of highest rank; where each value lies in it follows from reductions and broadcasts.
//   What is computed lies at one place. An input may be read at several: the last step of a running sum reads x as
//   rows and, through a broadcast, as columns;
//   2. from each result down, each value becomes a node per place at which it is used;
//   3. dims that all nodes have together or not at all become groups; reductions cut rows from columns;
//   4. checks: what the code generator relies on.

#include "ds/Analysis/KernelGraph.h"

#include "ds/Analysis/DimMap.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

#include <map>

using namespace mlir;
using namespace ds;

static RankedTensorType tensorTypeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

static DimSet setOf(ArrayRef<int64_t> map) {
  DimSet set = 0;
  for (int64_t dim : map)
    set |= DimSet(1) << dim;
  return set;
}

static DimMap inputMap(BroadcastOp broadcast, ArrayRef<int64_t> map) {
  return llvm::map_to_vector<4>(broadcast.getDims(), [&](int64_t dim) { return map[dim]; });
}

static DimMap resultMap(ReduceOp reduce, ArrayRef<int64_t> map) {
  DimMap kept;
  for (auto [dim, place] : llvm::enumerate(map))
    if (!llvm::is_contained(reduce.getDims(), static_cast<int64_t>(dim)))
      kept.push_back(place);
  return kept;
}

unsigned KernelNode::iotaDim() const { return llvm::countr_zero(dims); }

unsigned KernelGraph::groupOfDim(unsigned dim) const {
  for (auto [number, group] : llvm::enumerate(groups))
    if (group.second > static_cast<int64_t>(dim))
      return number;
  llvm_unreachable("a dim of the space is in a group");
}

namespace {

class GraphBuilder {
public:
  explicit GraphBuilder(KernelOp kernel) : kernel(kernel) { graph.kernel = kernel; }

  FailureOr<KernelGraph> build() {
    findSpace();
    if (graph.space.getRank() > 64)
      return kernel.emitOpError("must have at most 64 dims, got ") << graph.space.getRank();
    placeValues();
    if (failed(makeNodes()))
      return failure();
    findRows();
    makeGroups();
    classifyReductions();
    if (failed(checkReductions()) || failed(checkResults()) || failed(checkIotas()))
      return failure();
    return graph;
  }

private:
  Block &body() { return kernel.getBody().front(); }
  bool isFlat() const { return !layout.flat.empty(); }

  // 1. Space and places
  void findSpace();
  void placeValues();
  void placeComputed();
  bool placeOperandsAndResult(Operation &op);
  bool place(Value value, const DimMap &map) { return maps.try_emplace(value, map).second; }
  const DimMap *findMap(Value value);

  // 2. Nodes
  LogicalResult makeNodes();
  FailureOr<unsigned> nodeFor(Value value, const DimMap &map);
  FailureOr<unsigned> makeNode(Value value, const DimMap &map);
  LogicalResult checkPlace(Value value, const DimMap &map);

  // 3. Groups
  void findRows();
  bool foldsColumns(const KernelNode &node);
  void makeGroups();
  bool isCut(int64_t dim);
  void classifyReductions();
  DimSet groupsOf(DimSet dims);
  bool isFreeDim(int64_t dim);

  // 4. Checks
  LogicalResult checkReductions();
  LogicalResult checkResults();
  LogicalResult checkIotas();

  KernelOp kernel;
  KernelGraph graph;
  Layout layout; ///< of the space
  DenseMap<Value, DimMap> maps;
  std::map<std::pair<void *, DimSet>, unsigned> numbers;
  int64_t firstColumn = -1; ///< the first dim that row statistics fold; -1: there are none
};

} // namespace

//===----------------------------------------------------------------------===//
// 1. Space and places
//===----------------------------------------------------------------------===//

void GraphBuilder::findSpace() {
  auto consider = [&](Value value) {
    RankedTensorType type = tensorTypeOf(value);
    if (!graph.space || type.getRank() > graph.space.getRank())
      graph.space = type;
  };
  for (Value argument : body().getArguments())
    consider(argument);
  for (Operation &op : body().without_terminator())
    for (Value result : op.getResults())
      consider(result);
  if (!graph.space)
    graph.space = RankedTensorType::get({}, Float32Type::get(kernel.getContext()));
  layout = layoutOf(graph.space);
}

const DimMap *GraphBuilder::findMap(Value value) {
  int64_t rank = tensorTypeOf(value).getRank();
  if (rank == graph.space.getRank() || rank == 0)
    place(value, identityMap(rank));
  auto found = maps.find(value);
  return found == maps.end() ? nullptr : &found->second;
}

/// Whether a value was placed.
bool GraphBuilder::placeOperandsAndResult(Operation &op) {
  Value result = op.getResult(0);
  if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
    const DimMap *map = findMap(result);
    return map && place(broadcast.getInput(), inputMap(broadcast, DimMap(*map)));
  }
  if (auto reduce = dyn_cast<ReduceOp>(op)) {
    const DimMap *map = findMap(reduce.getInput());
    return map && place(result, resultMap(reduce, DimMap(*map)));
  }
  std::optional<DimMap> known;
  SmallVector<Value> values(op.getOperands());
  values.push_back(result);
  for (Value value : values)
    if (const DimMap *map = findMap(value); map && map->size() == static_cast<size_t>(tensorTypeOf(result).getRank()))
      known = *map;
  bool changed = false;
  for (Value value : values)
    if (known && tensorTypeOf(value).getRank() == static_cast<int64_t>(known->size()))
      changed |= place(value, *known);
  return changed;
}

/// Places what is computed from values that have a place, operands first. Inputs of lower rank have none yet, so that
/// no use of theirs decides for others.
void GraphBuilder::placeComputed() {
  for (Operation &op : body().without_terminator()) {
    if (auto reduce = dyn_cast<ReduceOp>(op)) {
      if (const DimMap *map = findMap(reduce.getInput()))
        place(reduce.getResult(), resultMap(reduce, DimMap(*map)));
      continue;
    }
    if (isa<BroadcastOp>(op) || op.getNumResults() != 1)
      continue;
    if (findMap(op.getResult(0)))
      continue;
    for (Value operand : op.getOperands())
      if (const DimMap *map = findMap(operand); map && !map->empty())
        place(op.getResult(0), DimMap(*map));
  }
}

void GraphBuilder::placeValues() {
  placeComputed();
  bool changed = true;
  while (changed) {
    changed = false;
    for (Operation &op : body().without_terminator())
      if (op.getNumResults() == 1)
        changed |= placeOperandsAndResult(op);
  }
}

//===----------------------------------------------------------------------===//
// 2. Nodes
//===----------------------------------------------------------------------===//

FailureOr<unsigned> GraphBuilder::nodeFor(Value value, const DimMap &map) {
  if (auto broadcast = value.getDefiningOp<BroadcastOp>()) {
    if (failed(checkPlace(value, map)))
      return failure();
    return nodeFor(broadcast.getInput(), inputMap(broadcast, map));
  }
  auto key = std::make_pair(value.getAsOpaquePointer(), setOf(map));
  auto found = numbers.find(key);
  if (found != numbers.end())
    return found->second;
  FailureOr<unsigned> number = makeNode(value, map);
  if (succeeded(number))
    numbers[key] = *number;
  return number;
}

FailureOr<unsigned> GraphBuilder::makeNode(Value value, const DimMap &map) {
  if (failed(checkPlace(value, map)))
    return failure();
  KernelNode node{NodeKind::Input, value, setOf(map), 0, {}, 0, 0};
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<arith::ConstantOp>(op)) {
    if (!matchPattern(op, m_Constant<SplatElementsAttr>(nullptr)))
      return op->emitOpError("must be a splat inside a kernel");
    node.kind = NodeKind::Constant;
    node.dims = 0; // the same everywhere
  } else if (auto iota = dyn_cast_or_null<IotaOp>(op)) {
    node.kind = NodeKind::Iota;
    node.dims = DimSet(1) << map[iota.getDim()];
  } else if (auto reduce = dyn_cast_or_null<ReduceOp>(op)) {
    const DimMap *operandMap = findMap(reduce.getInput());
    if (!operandMap)
      return op->emitOpError("must reduce a value of the kernel's space");
    node.kind = NodeKind::Fold;
    node.foldedFrom = setOf(*operandMap);
    node.dims = setOf(resultMap(reduce, *operandMap));
    if (node.dims != setOf(map))
      return op->emitOpError("must be used at one place of the kernel's space");
    FailureOr<unsigned> operand = nodeFor(reduce.getInput(), DimMap(*operandMap));
    if (failed(operand))
      return failure();
    node.operands.push_back(*operand);
  } else if (op) {
    node.kind = NodeKind::Compute;
    node.dims = 0; // of its operands
    for (Value operand : op->getOperands()) {
      bool isScalar = tensorTypeOf(operand).getRank() == 0;
      FailureOr<unsigned> number = nodeFor(operand, isScalar ? DimMap() : map);
      if (failed(number))
        return failure();
      node.operands.push_back(*number);
      node.dims |= graph.nodes[*number].dims;
    }
  }
  graph.nodes.push_back(std::move(node));
  return graph.nodes.size() - 1;
}

LogicalResult GraphBuilder::makeNodes() {
  for (Value value : body().getTerminator()->getOperands()) {
    const DimMap *map = findMap(value);
    if (!map)
      return kernel.emitOpError("must yield values of its space, got ") << value.getType();
    KernelResult result;
    result.dims = setOf(*map);
    FailureOr<unsigned> node = nodeFor(value, DimMap(*map));
    if (failed(node))
      return failure();
    result.node = *node;
    graph.results.push_back(result);
  }
  for (int64_t number : kernel.getStreamed())
    graph.results[number].isStreamed = true;
  return success();
}

/// A value must be cut over the ranks as the space is.
LogicalResult GraphBuilder::checkPlace(Value value, const DimMap &map) {
  if (map.empty())
    return success();
  Layout own = layoutOf(value);
  bool fits = own.flat == layout.flat;
  for (auto [dim, place] : llvm::enumerate(map))
    fits &= own.dims[dim] == layout.dims[place] && tensorTypeOf(value).getDimSize(dim) == graph.space.getDimSize(place);
  if (fits)
    return success();
  return kernel.emitOpError("must run over one space, got ") << value.getType() << " beside " << graph.space;
}

//===----------------------------------------------------------------------===//
// 3. Groups
//===----------------------------------------------------------------------===//

/// Whether `node` folds the last dims of the whole space and keeps the first.
bool GraphBuilder::foldsColumns(const KernelNode &node) {
  DimSet all = setOf(identityMap(graph.space.getRank())), folded = node.foldedFrom & ~node.dims;
  bool isTrailing = folded != 0 && node.dims != 0 && llvm::countr_zero(folded) > 63 - llvm::countl_zero(node.dims);
  return node.foldedFrom == all && isTrailing && !isFlat();
}

void GraphBuilder::findRows() {
  for (const KernelNode &node : graph.nodes)
    if (node.kind == NodeKind::Fold && foldsColumns(node))
      firstColumn = std::max<int64_t>(firstColumn, llvm::countr_zero(node.foldedFrom & ~node.dims));
}

/// A dim of one element on every rank: whether a value has it makes no difference.
bool GraphBuilder::isFreeDim(int64_t dim) {
  for (const Factor &factor : layout.dims[dim])
    if (!factor.axes.empty())
      return false;
  return graph.space.getDimSize(dim) == 1;
}

/// Whether a group ends before `dim`.
bool GraphBuilder::isCut(int64_t dim) {
  if (dim == firstColumn)
    return true;
  auto isIota = [](const KernelNode &node) { return node.kind == NodeKind::Iota; };
  auto hasIota = [&](int64_t at) {
    return llvm::any_of(graph.nodes, [&](const KernelNode &node) { return isIota(node) && node.iotaDim() == at; });
  };
  if (hasIota(dim) || hasIota(dim - 1))
    return true;
  // Free dims go with what stands before them.
  int64_t before = dim - 1;
  while (before > 0 && before != firstColumn && isFreeDim(before) && !hasIota(before))
    --before;
  if (isFreeDim(dim) || isFreeDim(before))
    return false;
  auto cuts = [&](DimSet dims) { return (dims >> before & 1) != (dims >> dim & 1); };
  return llvm::any_of(graph.results, [&](const KernelResult &result) { return cuts(result.dims); }) ||
         llvm::any_of(graph.nodes, [&](const KernelNode &node) {
           bool isPlaced = node.kind != NodeKind::Constant && node.kind != NodeKind::Compute;
           return isPlaced && (cuts(node.dims) || (node.operands.size() == 1 && cuts(node.foldedFrom)));
         });
}

void GraphBuilder::makeGroups() {
  int64_t rank = graph.space.getRank();
  for (int64_t dim = 0; dim < rank; ++dim) {
    if (dim == 0 || (!isFlat() && isCut(dim)))
      graph.groups.push_back({dim, dim + 1});
    else
      graph.groups.back().second = dim + 1;
  }
  for (KernelNode &node : graph.nodes) {
    node.groups = groupsOf(node.dims);
    node.foldedFromGroups = groupsOf(node.foldedFrom);
  }
  for (KernelResult &result : graph.results)
    result.groups = groupsOf(result.dims);
  graph.numRowGroups = graph.groups.size() <= 1 ? graph.groups.size() : graph.groups.size() - 1;
  if (firstColumn >= 0)
    graph.numRowGroups = graph.groupOfDim(firstColumn);
}

/// The groups that a value over `dims` runs over; free dims count only where a group has no others.
DimSet GraphBuilder::groupsOf(DimSet dims) {
  DimSet set = 0;
  for (auto [number, group] : llvm::enumerate(graph.groups)) {
    auto members = llvm::seq<int64_t>(group.first, group.second);
    bool isFree = !isFlat() && llvm::all_of(members, [&](int64_t dim) { return isFreeDim(dim); });
    bool has = llvm::any_of(members,
                            [&](int64_t dim) { return (dims >> dim & 1) && (isFlat() || isFree || !isFreeDim(dim)); });
    set |= DimSet(has) << number;
  }
  return set;
}

void GraphBuilder::classifyReductions() {
  for (KernelNode &node : graph.nodes)
    if (node.kind == NodeKind::Fold && foldsColumns(node) &&
        static_cast<int64_t>(llvm::countr_zero(node.foldedFrom & ~node.dims)) == firstColumn)
      node.kind = NodeKind::RowStatistic;
  for (KernelResult &result : graph.results)
    result.isFolded = graph.nodes[result.node].kind == NodeKind::Fold;
}

//===----------------------------------------------------------------------===//
// 4. Checks
//===----------------------------------------------------------------------===//

LogicalResult GraphBuilder::checkReductions() {
  for (const KernelNode &node : graph.nodes) {
    for (unsigned operand : node.operands)
      if (graph.nodes[operand].kind == NodeKind::Fold)
        return kernel.emitOpError("must only yield what it folds over rows, got a use of ")
               << graph.nodes[operand].value;
    if (node.kind != NodeKind::Fold)
      continue;
    bool isOfRow = graph.hasColumns() && node.foldedFromGroups == graph.rowGroups();
    if (node.foldedFromGroups != graph.allGroups() && !isOfRow)
      return kernel.emitOpError("must fold values that run over all rows, got ") << node.value;
  }
  return success();
}

LogicalResult GraphBuilder::checkResults() {
  for (const KernelResult &result : graph.results) {
    if (result.isFolded || result.groups == graph.allGroups() || result.groups == graph.rowGroups())
      continue;
    return kernel.emitOpError("must yield values that run over all rows, or that are folded over rows, got ")
           << graph.nodes[result.node].value;
  }
  return success();
}

/// The runtime tells where a group starts only if its dim is one interval.
LogicalResult GraphBuilder::checkIotas() {
  for (const KernelNode &node : graph.nodes) {
    if (node.kind != NodeKind::Iota)
      continue;
    const DimLayout &dim = layout.dims[node.iotaDim()];
    bool isSplit = llvm::any_of(dim, [](const Factor &factor) { return !factor.axes.empty(); });
    bool startIsKnown = isFlat() ? graph.space.getRank() == 1 && !isSplit : isInterval(dim);
    if (!startIsKnown)
      return kernel.emitOpError("must number a dim that is one interval on each rank, got ") << graph.space;
  }
  return success();
}

FailureOr<KernelGraph> ds::buildKernelGraph(KernelOp kernel) { return GraphBuilder(kernel).build(); }

//===----------------------------------------------------------------------===//
// Structure
//===----------------------------------------------------------------------===//

std::string ds::structureOf(const KernelGraph &graph) {
  std::string text;
  llvm::raw_string_ostream out(text);
  out << graph.groups.size() << '/' << graph.numRowGroups << ';';
  for (Value input : graph.inputs())
    out << tensorTypeOf(input).getElementType() << ',';
  for (const KernelNode &node : graph.nodes) {
    out << ';' << static_cast<unsigned>(node.kind) << ' ' << node.element() << ' ' << node.groups << ' '
        << node.foldedFromGroups;
    llvm::interleave(node.operands, out, ",");
    if (auto argument = dyn_cast<BlockArgument>(node.value)) {
      out << '#' << argument.getArgNumber();
      continue;
    }
    Operation *op = node.value.getDefiningOp();
    out << op->getName();
    for (NamedAttribute attribute : op->getAttrs()) {
      if (auto elements = dyn_cast<SplatElementsAttr>(attribute.getValue()))
        out << elements.getSplatValue<Attribute>();
      else if (node.kind == NodeKind::Compute || attribute.getName() == "kind")
        out << attribute.getName().getValue() << attribute.getValue();
    }
  }
  for (const KernelResult &result : graph.results)
    out << ";=" << result.node << ' ' << result.groups << ' ' << result.isFolded << result.isStreamed;
  return text;
}
