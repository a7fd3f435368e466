// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// A row statistic is known after the pass over the columns that feeds it; what depends on it belongs to the next pass.
// What a later pass needs of an earlier one is loaded if it is a result anyway, kept in a result's row or in a scratch
// row if it is costly, and else computed again.

#include "ds/Analysis/RowSchedule.h"

#include "ds/Analysis/OpCost.h"

using namespace mlir;
using namespace ds;

Level ds::levelOf(const KernelGraph &graph, DimSet groups) {
  if (groups & graph.lastGroup())
    return Level::Element;
  if (groups & ~graph.rowGroups())
    return Level::Line;
  return groups ? Level::Row : Level::Call;
}

bool ds::foldsElements(const KernelGraph &graph, const KernelNode &reduction) {
  return reduction.foldedFromGroups == graph.allGroups() && !graph.groups.empty();
}

namespace {

class RowScheduler {
public:
  explicit RowScheduler(const KernelGraph &graph) : graph(graph) {}

  RowSchedule run() {
    assignStages();
    schedule.firstPass.assign(graph.nodes.size(), schedule.numPasses);
    schedule.kept.resize(graph.nodes.size());
    schedule.needed.assign(schedule.numPasses, SmallVector<bool>(graph.nodes.size(), false));
    for (unsigned pass = 0; pass < schedule.numPasses; ++pass) {
      for (const KernelNode &node : graph.nodes)
        if (isReduction(node) && foldsElements(graph, node) && schedule.passOf(node) == pass)
          need(node.operands.front(), pass);
      for (const KernelResult &result : graph.results)
        if (isElementwise(result) && schedule.passOf(result) == pass)
          need(result.node, pass);
    }
    return schedule;
  }

private:
  static bool isReduction(const KernelNode &node) {
    return node.kind == NodeKind::RowStatistic || node.kind == NodeKind::Fold;
  }
  bool isElementwise(const KernelResult &result) {
    return !result.isFolded && result.groups == graph.allGroups() && !graph.groups.empty();
  }

  /// A row of what is streamed is in no cache.
  bool canKeep(const KernelResult &result) { return isElementwise(result) && !result.isStreamed; }

  void assignStages() {
    for (const KernelNode &node : graph.nodes) {
      unsigned stage = 0;
      for (unsigned operand : node.operands)
        stage = std::max(stage, schedule.stage[operand]);
      if (isReduction(node) && foldsElements(graph, node))
        schedule.numPasses = std::max(schedule.numPasses, stage + 1);
      schedule.stage.push_back(stage + (node.kind == NodeKind::RowStatistic));
    }
    for (const KernelResult &result : graph.results)
      if (isElementwise(result))
        schedule.numPasses = std::max(schedule.numPasses, schedule.passOf(result) + 1);
  }

  void need(unsigned number, unsigned pass) {
    const KernelNode &node = graph.nodes[number];
    Level level = levelOf(graph, node.groups);
    if (schedule.needed[pass][number] || level < Level::Line)
      return;
    schedule.needed[pass][number] = true;
    bool isKnown = schedule.firstPass[number] < pass && level == Level::Element && node.kind == NodeKind::Compute;
    if (isKnown && keep(number))
      return;
    schedule.firstPass[number] = std::min(schedule.firstPass[number], pass);
    for (unsigned operand : node.operands)
      need(operand, pass);
  }

  /// Finds a place for the node to stay; false if it is better computed again.
  bool keep(unsigned number) {
    std::optional<KeptIn> &kept = schedule.kept[number];
    if (kept)
      return true;
    for (auto [place, result] : llvm::enumerate(graph.results))
      if (canKeep(result) && result.node == number && !isTaken(place))
        kept = KeptIn{KeptIn::Result, static_cast<unsigned>(place)};
    const KernelNode &node = graph.nodes[number];
    if (kept || !isCostly(node.value.getDefiningOp()))
      return kept.has_value();
    for (auto [place, result] : llvm::enumerate(graph.results)) {
      // A result of the last pass is read by no other pass, and the last pass reads each element before it writes it.
      bool isLate = canKeep(result) && schedule.passOf(result) == schedule.numPasses - 1;
      if (!kept && isLate && graph.nodes[result.node].element() == node.element() && !isTaken(place))
        kept = KeptIn{KeptIn::Result, static_cast<unsigned>(place)};
    }
    if (!kept) {
      kept = KeptIn{KeptIn::Scratch, static_cast<unsigned>(schedule.scratch.size())};
      schedule.scratch.push_back(node.element());
    }
    return true;
  }

  bool isTaken(unsigned result) {
    return llvm::any_of(schedule.kept, [&](const std::optional<KeptIn> &kept) {
      return kept && kept->place == KeptIn::Result && kept->number == result;
    });
  }

  const KernelGraph &graph;
  RowSchedule schedule;
};

} // namespace

RowSchedule ds::scheduleRow(const KernelGraph &graph) { return RowScheduler(graph).run(); }

double ds::operationsPerElement(const KernelGraph &graph, const RowSchedule &schedule) {
  double operations = 0;
  for (auto [number, node] : llvm::enumerate(graph.nodes)) {
    if (node.kind == NodeKind::RowStatistic || node.kind == NodeKind::Fold)
      operations += foldsElements(graph, node);
    if (levelOf(graph, node.groups) != Level::Element)
      continue;
    for (unsigned pass = 0; pass < schedule.numPasses; ++pass) {
      const bool isLoaded =
          node.kind == NodeKind::Input || (schedule.kept[number] && schedule.firstPass[number] < pass);
      if (schedule.needed[pass][number])
        operations += isLoaded ? 1 : operationsOf(node.value.getDefiningOp());
    }
  }
  return operations + static_cast<double>(graph.results.size()); // and their stores
}
