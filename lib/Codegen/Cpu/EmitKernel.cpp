// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// The code of a kernel, for rows of groups and columns of groups (RowSchedule.h has the levels):
//
// clang-format off
//   what does not change
//   workspaces = neutral
//   for each row
//     what changes with the row
//     for each pass
//       for each line of columns          (one line, unless the columns are several groups)
//         what changes with the line
//         for each vector of elements     (all loads before all stores, as a result may be stored over an input)
//           compute, fold, store
//       the row statistics of the pass, and what depends on them
//     what is folded or stored per row
// clang-format on
//
// Without columns, the rows [begin, end) are one line.

#include "EmitKernel.h"

#include "CodeBuilder.h"

#include "ds/Analysis/OpCost.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace ds;

static Reduction kindOf(const KernelNode &reduction) { return reduction.value.getDefiningOp<ReduceOp>().getKind(); }

namespace {

class KernelEmitter {
public:
  KernelEmitter(const KernelGraph &graph, unsigned vectorBits, OpBuilder &builder)
      : graph(graph), schedule(scheduleRow(graph)), code(builder, graph.kernel->getLoc()), vectorBits(vectorBits) {}

  void emitMain(StringRef symbol, ModuleOp module);
  void emitFinish(StringRef symbol, ModuleOp module);

private:
  // The call
  void startFunction(StringRef name, unsigned numIndices, ModuleOp module);
  void fillWorkspaces(Value chunk);
  void storeScalarResults(Value begin, Value end);

  // Rows
  void emitRow(Value row);
  void findRowIndices(Value row);
  void foldRowValues();
  void storeRowValues();

  // Passes and lines
  void emitPass(unsigned pass, Value begin, Value end);
  SmallVector<Value> emitLine(unsigned pass, Value begin, Value end, ValueRange statistics);
  SmallVector<Value> emitVectors(unsigned pass, Value begin, Value end, ArrayRef<unsigned> accumulated,
                                 ValueRange carried);
  Value linesAreAligned(unsigned pass, Value begin);
  SmallVector<Value> emitElements(unsigned pass, Value at, Lanes lanes, ArrayRef<unsigned> accumulated,
                                  ValueRange carried);
  void addToWorkspace(unsigned node, Value address, Value value, Lanes lanes);

  // Nodes
  void emitNodes(Level level, std::optional<unsigned> stage, std::optional<unsigned> pass);
  Value emitNode(unsigned number, unsigned pass, Value at, Lanes lanes, DenseMap<unsigned, Value> &elements);
  Value valueAt(unsigned number, Lanes lanes, DenseMap<unsigned, Value> &elements);
  bool asksAhead(unsigned input, unsigned pass);

  // Places
  Value offsetOf(DimSet groups, Value at);
  Value countOf(DimSet groups);
  Value resultBuffer(unsigned result) { return buffers[graph.inputs().size() + result]; }
  Value keptAddress(KeptIn kept, Type element, Value at);
  unsigned lanesOf(unsigned pass);
  unsigned numColumnGroups() { return graph.groups.size() - graph.numRowGroups; }

  /// The nodes that pass `pass` folds; those that keep a statistic of the row first.
  SmallVector<unsigned> foldedIn(unsigned pass, NodeKind kind);
  bool isFoldedPerElement(const KernelNode &node) { return node.groups & graph.lastGroup(); }
  bool isStreamed(const KernelResult &result) {
    unsigned bytes = CodeBuilder::bytesOf(graph.nodes[result.node].element());
    return result.isStreamed && isStoredPerElement(result) &&
           lanesOf(schedule.passOf(result)) * bytes % kCacheLine == 0;
  }
  bool isStoredPerElement(const KernelResult &result) {
    return !result.isFolded && !graph.groups.empty() && result.groups == graph.allGroups();
  }

  const KernelGraph &graph;
  RowSchedule schedule;
  CodeBuilder code;
  unsigned vectorBits;

  LLVM::LLVMFuncOp function;
  SmallVector<Value> buffers;         ///< inputs, results
  DenseMap<unsigned, Value> folds;    ///< node -> this chunk's workspace
  SmallVector<Value> scratchRows;     ///< this chunk's
  SmallVector<Value> lengths, begins; ///< of the groups
  DenseMap<unsigned, Value> indices;  ///< group -> where the row and the line are in it
  Value currentRow;
  DenseMap<unsigned, Value> scalars; ///< node -> value, of nodes above the element level
  bool isStreaming = false;          ///< the lines of streamed results are aligned
};

} // namespace

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

/// The number of elements over `groups`.
Value KernelEmitter::countOf(DimSet groups) {
  Value count;
  for (auto [number, length] : llvm::enumerate(lengths))
    if (groups >> number & 1)
      count = count ? code.mul(count, length) : length;
  return count ? count : code.index(1);
}

/// The number of the current element in a tensor over `groups`; `at` is where it stands in the line.
Value KernelEmitter::offsetOf(DimSet groups, Value at) {
  Value offset;
  unsigned first = 0;
  if (graph.hasColumns() && graph.numRowGroups > 0 && (groups & graph.rowGroups()) == graph.rowGroups()) {
    offset = currentRow;
    first = graph.numRowGroups;
  }
  for (unsigned group = first; group < graph.groups.size(); ++group) {
    if (!(groups >> group & 1))
      continue;
    Value index = DimSet(1) << group == graph.lastGroup() ? at : indices.lookup(group);
    offset = offset ? code.add(code.mul(offset, lengths[group]), index) : index;
  }
  return offset;
}

Value KernelEmitter::keptAddress(KeptIn kept, Type element, Value at) {
  if (kept.place == KeptIn::Result)
    return code.addressOf(resultBuffer(kept.number), element, offsetOf(graph.allGroups(), at));
  return code.addressOf(scratchRows[kept.number], element, offsetOf(graph.allGroups() & ~graph.rowGroups(), at));
}

/// Four registers at a time hide the latency of sums and polynomials; where there are 16 of them, or many polynomials,
/// more than two would spill.
unsigned KernelEmitter::lanesOf(unsigned pass) {
  unsigned bits = 32, numCostly = 0;
  for (auto [number, node] : llvm::enumerate(graph.nodes)) {
    if (!schedule.needed[pass][number])
      continue;
    if (isa<FloatType>(node.element()))
      bits = std::max(bits, node.element().getIntOrFloatBitWidth());
    numCostly += node.kind == NodeKind::Compute && isCostly(node.value.getDefiningOp());
  }
  return vectorBits / bits * (numCostly > (vectorBits < 512 ? 0 : 1) ? 2 : 4);
}

SmallVector<unsigned> KernelEmitter::foldedIn(unsigned pass, NodeKind kind) {
  SmallVector<unsigned> folded;
  for (auto [number, node] : llvm::enumerate(graph.nodes))
    if (node.kind == kind && foldsElements(graph, node) && schedule.passOf(node) == pass)
      folded.push_back(number);
  return folded;
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

/// `number` on the lanes of an element-level op.
Value KernelEmitter::valueAt(unsigned number, Lanes lanes, DenseMap<unsigned, Value> &elements) {
  auto [found, isNew] = elements.try_emplace(number, Value());
  if (!isNew)
    return found->second;
  const KernelNode &node = graph.nodes[number];
  Value value =
      node.kind == NodeKind::Constant
          ? code.constant(
                cast<TypedAttr>(cast<SplatElementsAttr>(node.value.getDefiningOp<arith::ConstantOp>().getValue())
                                    .getSplatValue<Attribute>()),
                lanes.count)
          : code.splat(scalars.at(number), lanes.count);
  return elements[number] = value;
}

/// Whether `pass` asks for the rest of an input ahead: the second pass that reads it, if there is one. The first one
/// has little to compute while memory answers, as it knows nothing of the row yet.
bool KernelEmitter::asksAhead(unsigned input, unsigned pass) {
  if (graph.nodes[input].groups != graph.allGroups())
    return false;
  unsigned first = schedule.firstPass[input], second = first + 1;
  while (second < schedule.numPasses && !schedule.needed[second][input])
    ++second;
  return pass == (second < schedule.numPasses ? second : first);
}

/// The value of a node at the current place; `elements` has its operands.
Value KernelEmitter::emitNode(unsigned number, unsigned pass, Value at, Lanes lanes,
                              DenseMap<unsigned, Value> &elements) {
  const KernelNode &node = graph.nodes[number];
  if (node.kind == NodeKind::Input) {
    Value buffer = buffers[cast<BlockArgument>(node.value).getArgNumber()];
    Value address = code.addressOf(buffer, node.element(), offsetOf(node.groups, at));
    if (asksAhead(number, pass))
      code.prefetch(address, node.element(), lanes);
    return code.load(node.element(), address, lanes);
  }
  if (node.kind == NodeKind::Iota) {
    unsigned group = graph.groupOfDim(node.iotaDim());
    Value index = lanes.count > 0 ? at : indices.at(group);
    return code.iota(code.add(index, begins[group]), node.element(), lanes.count);
  }
  if (lanes.count > 0 && schedule.kept[number] && schedule.firstPass[number] < pass)
    return code.load(node.element(), keptAddress(*schedule.kept[number], node.element(), at), lanes);
  SmallVector<Value> operands;
  for (unsigned operand : node.operands)
    operands.push_back(valueAt(operand, lanes, elements));
  return code.compute(node.value.getDefiningOp(), operands, lanes);
}

/// The nodes of a level above the elements that are known from `stage` on, or that `pass` needs.
void KernelEmitter::emitNodes(Level level, std::optional<unsigned> stage, std::optional<unsigned> pass) {
  for (auto [number, node] : llvm::enumerate(graph.nodes)) {
    bool isReduction = node.kind == NodeKind::RowStatistic || node.kind == NodeKind::Fold;
    if (isReduction || node.kind == NodeKind::Constant || levelOf(graph, node.groups) != level)
      continue;
    if ((stage && schedule.stage[number] != *stage) || (pass && !schedule.needed[*pass][number]))
      continue;
    DenseMap<unsigned, Value> none;
    scalars[number] = emitNode(number, 0, {}, {}, none);
  }
}

//===----------------------------------------------------------------------===//
// The call
//===----------------------------------------------------------------------===//

/// Loads the buffers and extents.
void KernelEmitter::startFunction(StringRef name, unsigned numIndices, ModuleOp module) {
  function = code.startKernel(name, module, numIndices);
  buffers.clear();
  lengths.clear();
  begins.clear();
  Value pointers = function.getArgument(0), extents = function.getArgument(1);
  for (unsigned number = 0; number < graph.inputs().size() + graph.results.size(); ++number)
    buffers.push_back(code.loadPointer(pointers, number));
  for (unsigned group = 0; group < graph.groups.size(); ++group) {
    lengths.push_back(code.loadIndex(extents, 2 * group));
    begins.push_back(code.loadIndex(extents, 2 * group + 1));
  }
}

/// Sets this chunk's partial sums to the neutral element, and finds its scratch rows.
void KernelEmitter::fillWorkspaces(Value chunk) {
  unsigned place = buffers.size();
  for (const KernelResult &result : graph.results) {
    if (!result.isFolded)
      continue;
    unsigned own = place++;
    if (folds.contains(result.node))
      continue;
    const KernelNode &node = graph.nodes[result.node];
    Type type = CodeBuilder::accumulatorOf(node.element());
    Value count = countOf(node.groups), base = code.loadPointer(function.getArgument(0), own);
    Value workspace = folds[result.node] = code.addressOf(base, type, code.mul(chunk, count));
    auto fill = [&](Value at, Lanes lanes, ValueRange) -> SmallVector<Value> {
      code.store(code.neutral(kindOf(node), type, lanes.count), code.addressOf(workspace, type, at), lanes);
      return {};
    };
    if (node.groups == 0)
      fill({}, {}, {});
    else
      code.vectorLoop(code.index(0), count, vectorBits / 8, {}, fill);
  }
  for (Type element : schedule.scratch) {
    Value base = code.loadPointer(function.getArgument(0), place++);
    Value count = countOf(graph.allGroups() & ~graph.rowGroups());
    scratchRows.push_back(code.addressOf(base, element, code.mul(chunk, count)));
  }
}

void KernelEmitter::storeScalarResults(Value begin, Value end) {
  auto guarded = scf::IfOp::create(code.builder, code.loc, code.isLess(begin, end), /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(code.builder);
  code.builder.setInsertionPointToStart(guarded.thenBlock());
  DenseMap<unsigned, Value> none;
  for (auto [number, result] : llvm::enumerate(graph.results))
    code.store(valueAt(result.node, {}, none), resultBuffer(number), {});
}

void KernelEmitter::emitMain(StringRef symbol, ModuleOp module) {
  startFunction(symbol, 3, module);
  Value begin = function.getArgument(2), end = function.getArgument(3);
  fillWorkspaces(function.getArgument(4));
  emitNodes(Level::Call, std::nullopt, std::nullopt);
  if (graph.groups.empty()) {
    storeScalarResults(begin, end);
  } else if (!graph.hasColumns()) {
    for (unsigned pass = 0; pass < schedule.numPasses; ++pass)
      emitPass(pass, begin, end);
  } else {
    code.loop(begin, end, {}, [&](Value row, ValueRange) -> SmallVector<Value> {
      emitRow(row);
      return {};
    });
  }
  if (llvm::any_of(graph.results, [&](const KernelResult &result) { return isStreamed(result); }))
    code.fence();
  LLVM::ReturnOp::create(code.builder, code.loc, ValueRange());
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// Where the row is in each of the row groups.
void KernelEmitter::findRowIndices(Value row) {
  currentRow = row;
  Value rest = row;
  for (unsigned group = graph.numRowGroups; group-- > 0;) {
    indices[group] = group == 0 ? rest : code.rem(rest, lengths[group]);
    if (group > 0)
      rest = code.div(rest, lengths[group]);
  }
}

void KernelEmitter::emitRow(Value row) {
  findRowIndices(row);
  emitNodes(Level::Row, 0, std::nullopt);
  for (unsigned pass = 0; pass < schedule.numPasses; ++pass) {
    emitPass(pass, code.index(0), lengths.back());
    emitNodes(Level::Row, pass + 1, std::nullopt);
  }
  // First everything is read, then written.
  foldRowValues();
  storeRowValues();
}

void KernelEmitter::foldRowValues() {
  DenseMap<unsigned, Value> none;
  for (auto [number, node] : llvm::enumerate(graph.nodes)) {
    if (node.kind != NodeKind::Fold || foldsElements(graph, node))
      continue;
    Type type = CodeBuilder::accumulatorOf(node.element());
    Value address = code.addressOf(folds.at(number), type, offsetOf(node.groups, {}));
    addToWorkspace(number, address, code.toAccumulator(valueAt(node.operands.front(), {}, none), 0), {});
  }
}

void KernelEmitter::storeRowValues() {
  DenseMap<unsigned, Value> none;
  for (auto [number, result] : llvm::enumerate(graph.results)) {
    if (result.isFolded || isStoredPerElement(result))
      continue;
    Value value = valueAt(result.node, {}, none);
    code.store(value, code.addressOf(resultBuffer(number), value.getType(), offsetOf(result.groups, {})), {});
  }
}

/// Folds an accumulator into the chunk's partial sum.
void KernelEmitter::addToWorkspace(unsigned node, Value address, Value value, Lanes lanes) {
  Type type = getElementTypeOrSelf(value.getType());
  Value old = code.load(type, address, lanes);
  code.store(code.fold(kindOf(graph.nodes[node]), old, value, {lanes.count, {}}), address, lanes);
}

//===----------------------------------------------------------------------===//
// Passes and lines
//===----------------------------------------------------------------------===//

void KernelEmitter::emitPass(unsigned pass, Value begin, Value end) {
  SmallVector<unsigned> statistics = foldedIn(pass, NodeKind::RowStatistic);
  unsigned lanes = lanesOf(pass);
  SmallVector<Value> values;
  for (unsigned number : statistics) {
    const KernelNode &node = graph.nodes[number];
    values.push_back(code.neutral(kindOf(node), CodeBuilder::accumulatorOf(node.element()), lanes));
  }
  if (numColumnGroups() <= 1) {
    values = emitLine(pass, begin, end, values);
  } else {
    DimSet outer = graph.allGroups() & ~graph.rowGroups() & ~graph.lastGroup();
    values = code.loop(code.index(0), countOf(outer), values, [&](Value line, ValueRange carried) {
      Value rest = line;
      for (unsigned group = graph.groups.size() - 1; group-- > graph.numRowGroups;) {
        indices[group] = code.rem(rest, lengths[group]);
        rest = code.div(rest, lengths[group]);
      }
      return emitLine(pass, begin, end, carried);
    });
  }
  for (auto [number, value] : llvm::zip_equal(statistics, values)) {
    const KernelNode &node = graph.nodes[number];
    scalars[number] = code.fromAccumulator(code.foldLanes(kindOf(node), value), node.element(), 0);
  }
}

SmallVector<Value> KernelEmitter::emitLine(unsigned pass, Value begin, Value end, ValueRange statistics) {
  emitNodes(Level::Line, std::nullopt, pass);
  SmallVector<unsigned> accumulated = foldedIn(pass, NodeKind::RowStatistic), lineFolds;
  for (unsigned number : foldedIn(pass, NodeKind::Fold))
    if (!isFoldedPerElement(graph.nodes[number]))
      lineFolds.push_back(number);
  accumulated.append(lineFolds);
  unsigned lanes = lanesOf(pass);
  SmallVector<Value> values(statistics);
  for (unsigned number : lineFolds) {
    const KernelNode &node = graph.nodes[number];
    values.push_back(code.neutral(kindOf(node), CodeBuilder::accumulatorOf(node.element()), lanes));
  }
  values = emitVectors(pass, begin, end, accumulated, values);
  for (auto [place, number] : llvm::enumerate(lineFolds)) {
    const KernelNode &node = graph.nodes[number];
    Value value = code.foldLanes(kindOf(node), values[statistics.size() + place]);
    Value address = code.addressOf(folds.at(number), value.getType(), offsetOf(node.groups, {}));
    addToWorkspace(number, address, value, {});
  }
  values.resize(statistics.size());
  return values;
}

/// Whether the lines that pass `pass` streams all begin at a multiple of kCacheLine; null if it streams none.
Value KernelEmitter::linesAreAligned(unsigned pass, Value begin) {
  Value all;
  for (auto [number, result] : llvm::enumerate(graph.results)) {
    if (!isStreamed(result) || schedule.passOf(result) != pass)
      continue;
    Type element = graph.nodes[result.node].element();
    Value one = code.isAligned(code.addressOf(resultBuffer(number), element, offsetOf(result.groups, begin)));
    all = all ? arith::AndIOp::create(code.builder, code.loc, all, one).getResult() : one;
  }
  return all;
}

SmallVector<Value> KernelEmitter::emitVectors(unsigned pass, Value begin, Value end, ArrayRef<unsigned> accumulated,
                                              ValueRange carried) {
  auto loop = [&](bool streams) {
    llvm::SaveAndRestore restore(isStreaming, streams);
    return code.vectorLoop(begin, end, lanesOf(pass), carried, [&](Value at, Lanes lanes, ValueRange inner) {
      return emitElements(pass, at, lanes, accumulated, inner);
    });
  };
  Value mayStream = linesAreAligned(pass, begin);
  if (!mayStream)
    return loop(false);
  return code.choose(
      mayStream, carried.getTypes(), [&] { return loop(true); }, [&] { return loop(false); });
}

SmallVector<Value> KernelEmitter::emitElements(unsigned pass, Value at, Lanes lanes, ArrayRef<unsigned> accumulated,
                                               ValueRange carried) {
  DenseMap<unsigned, Value> elements;
  for (auto [number, node] : llvm::enumerate(graph.nodes))
    if (schedule.needed[pass][number] && levelOf(graph, node.groups) == Level::Element)
      elements[number] = emitNode(number, pass, at, lanes, elements);
  auto operandOf = [&](unsigned reduction) {
    return code.toAccumulator(valueAt(graph.nodes[reduction].operands.front(), lanes, elements), lanes.count);
  };
  SmallVector<Value> values;
  for (auto [number, value] : llvm::zip_equal(accumulated, carried))
    values.push_back(code.fold(kindOf(graph.nodes[number]), value, operandOf(number), lanes));
  for (unsigned number : foldedIn(pass, NodeKind::Fold)) {
    const KernelNode &node = graph.nodes[number];
    if (!isFoldedPerElement(node))
      continue;
    Value value = operandOf(number);
    Value address = code.addressOf(folds.at(number), getElementTypeOrSelf(value.getType()), offsetOf(node.groups, at));
    addToWorkspace(number, address, value, lanes);
  }
  for (auto [number, kept] : llvm::enumerate(schedule.kept)) {
    bool isResultItself = kept && kept->place == KeptIn::Result && graph.results[kept->number].node == number;
    if (kept && !isResultItself && schedule.firstPass[number] == pass)
      code.store(elements.at(number), keptAddress(*kept, graph.nodes[number].element(), at), lanes);
  }
  for (auto [number, result] : llvm::enumerate(graph.results)) {
    if (!isStoredPerElement(result) || schedule.passOf(result) != pass)
      continue;
    Value value = valueAt(result.node, lanes, elements);
    Type element = getElementTypeOrSelf(value.getType());
    Value address = code.addressOf(resultBuffer(number), element, offsetOf(result.groups, at));
    if (isStreaming && isStreamed(result) && !lanes.mask)
      code.stream(value, address);
    else
      code.store(value, address, lanes);
  }
  return values;
}

//===----------------------------------------------------------------------===//
// Finish
//===----------------------------------------------------------------------===//

/// result = the chunks' partial sums, folded in ascending order.
void KernelEmitter::emitFinish(StringRef symbol, ModuleOp module) {
  startFunction((symbol + "_finish").str(), 1, module);
  Value chunks = function.getArgument(2);
  unsigned place = buffers.size();
  DenseMap<unsigned, unsigned> places; // a value that is yielded twice has its sums where the first result has
  for (auto [number, result] : llvm::enumerate(graph.results)) {
    if (!result.isFolded)
      continue;
    unsigned own = places.try_emplace(result.node, place++).first->second;
    const KernelNode &node = graph.nodes[result.node];
    Type type = CodeBuilder::accumulatorOf(node.element());
    Value count = countOf(node.groups), workspace = code.loadPointer(function.getArgument(0), own),
          target = resultBuffer(number);
    auto finish = [&](Value at, Lanes lanes, ValueRange) -> SmallVector<Value> {
      Value first = code.neutral(kindOf(node), type, lanes.count);
      SmallVector<Value> sum =
          code.loop(code.index(0), chunks, first, [&](Value chunk, ValueRange carried) -> SmallVector<Value> {
            Value offset = code.mul(chunk, count);
            Value part = code.load(type, code.addressOf(workspace, type, at ? code.add(offset, at) : offset), lanes);
            return {code.fold(kindOf(node), carried.front(), part, {lanes.count, {}})};
          });
      Value value = code.fromAccumulator(sum.front(), node.element(), lanes.count);
      code.store(value, code.addressOf(target, node.element(), at), lanes);
      return {};
    };
    if (node.groups == 0)
      finish({}, {}, {});
    else
      code.vectorLoop(code.index(0), count, vectorBits / 8, {}, finish);
  }
  LLVM::ReturnOp::create(code.builder, code.loc, ValueRange());
}

void ds::emitKernel(const KernelGraph &graph, StringRef symbol, unsigned vectorBits, ModuleOp module) {
  OpBuilder builder(module.getContext());
  KernelEmitter emitter(graph, vectorBits, builder);
  emitter.emitMain(symbol, module);
  if (llvm::any_of(graph.results, [](const KernelResult &result) { return result.isFolded; }))
    emitter.emitFinish(symbol, module);
}
