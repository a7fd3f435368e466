// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Analysis/KernelShape.h"

#include "ds/Analysis/RowSchedule.h"

using namespace mlir;
using namespace ds;

/// Workspaces take at most this part of what the kernel reads.
static constexpr int64_t kWorkspaceDivisor = 4;

/// The largest length of each group on any rank.
static SmallVector<int64_t> maxLengths(const KernelGraph &graph, const Mesh &mesh) {
  Layout layout = layoutOf(graph.space);
  Shape shape = shapeOf(graph.space);
  if (!layout.flat.empty())
    return {maxOwnedElements(layout, shape, mesh)};
  Shape block = maxBlockShape(layout, shape, mesh);
  SmallVector<int64_t> lengths;
  for (auto [begin, end] : graph.groups) {
    int64_t length = 1;
    for (int64_t dim = begin; dim < end; ++dim)
      length *= block[dim];
    lengths.push_back(length);
  }
  return lengths;
}

static int64_t productOver(ArrayRef<int64_t> lengths, DimSet groups) {
  int64_t product = 1;
  for (auto [number, length] : llvm::enumerate(lengths))
    if (groups >> number & 1)
      product *= length;
  return product;
}

/// Partial sums are kept in f32 for 16-bit floats.
static Type accumulatorOf(Type element) {
  return isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32 ? Float32Type::get(element.getContext())
                                                                         : element;
}

FailureOr<KernelShape> ds::analyzeKernel(KernelOp kernel, const Mesh &mesh) {
  FailureOr<KernelGraph> graph = buildKernelGraph(kernel);
  if (failed(graph))
    return failure();
  SmallVector<int64_t> lengths = maxLengths(*graph, mesh);
  KernelShape shape;
  shape.space = graph->space;
  shape.groups = graph->groups;
  shape.numRowGroups = graph->numRowGroups;
  int64_t largestFold = 0;
  for (const KernelResult &result : graph->results) {
    if (!result.isFolded)
      continue;
    int64_t elements = productOver(lengths, result.groups);
    shape.workspaces.push_back({accumulatorOf(graph->nodes[result.node].element()), elements});
    largestFold = std::max(largestFold, elements);
    shape.hasFinish = true;
  }
  const RowSchedule schedule = scheduleRow(*graph);
  for (Type element : schedule.scratch)
    shape.workspaces.push_back({element, productOver(lengths, graph->allGroups() & ~graph->rowGroups())});
  int64_t total = productOver(lengths, graph->allGroups()), rows = productOver(lengths, graph->rowGroups());
  int64_t chunks = std::min({kMaxKernelChunks, rows, llvm::divideCeilSigned(total, kElementsPerKernelChunk)});
  if (largestFold > 0)
    chunks = std::min(chunks, total / largestFold / kWorkspaceDivisor);
  shape.chunks = std::max<int64_t>(chunks, 1);
  shape.operations = operationsPerElement(*graph, schedule) * static_cast<double>(total);
  return shape;
}

/// The first pass that writes to the buffer of a result.
static unsigned firstWriteOf(const KernelGraph &graph, const RowSchedule &schedule, unsigned result) {
  unsigned pass = schedule.passOf(graph.results[result]);
  for (auto [number, kept] : llvm::enumerate(schedule.kept))
    if (kept && kept->place == KeptIn::Result && kept->number == result)
      pass = std::min(pass, schedule.firstPass[number]);
  return pass;
}

static bool mayShareBuffer(KernelOp kernel, unsigned result, unsigned input) {
  ScopedDiagnosticHandler silence(kernel.getContext(), [](Diagnostic &) { return success(); });
  FailureOr<KernelGraph> graph = buildKernelGraph(kernel);
  if (failed(graph) || graph->results[result].isFolded)
    return false;
  auto widthOf = [](Value value) {
    return llvm::divideCeil(cast<RankedTensorType>(value.getType()).getElementTypeBitWidth(), 8u);
  };
  if (widthOf(kernel.getInputs()[input]) != widthOf(kernel.getResults()[result]))
    return false;
  RowSchedule schedule = scheduleRow(*graph);
  Value argument = kernel.getBody().front().getArgument(input);
  bool isRead = false;
  unsigned lastRead = 0;
  for (auto [number, node] : llvm::enumerate(graph->nodes)) {
    if (node.value != argument)
      continue;
    if (node.groups != graph->results[result].groups)
      return false;
    isRead = true;
    for (unsigned pass = 0; pass < schedule.numPasses; ++pass)
      if (schedule.needed[pass][number])
        lastRead = pass;
  }
  // What runs over the rows only is read before the columns and written after them.
  bool isOfRow = graph->hasColumns() && graph->results[result].groups == graph->rowGroups();
  return isRead && (isOfRow || lastRead <= firstWriteOf(*graph, schedule, result));
}

bool ds::mayShareBuffer(Operation *op, unsigned result, unsigned operand) {
  if (auto kernel = dyn_cast<KernelOp>(op))
    return ::mayShareBuffer(kernel, result, operand);
  if (isa<RotaryEmbeddingOp>(op))
    return operand == 0;
  auto fused = dyn_cast<FusedMatmulOp>(op);
  return fused && fused.getAddend() && operand == op->getNumOperands() - 1;
}

bool BufferSharing::isAllowed(Operation *op, unsigned result, unsigned operand) {
  if (!isa<KernelOp>(op))
    return mayShareBuffer(op, result, operand);
  if (op != asked) {
    asked = op;
    first = *firsts.insert(op).first;
  }
  auto [answer, isNew] = answers.try_emplace({first, result, operand});
  if (isNew)
    answer->second = mayShareBuffer(op, result, operand);
  return answer->second;
}
