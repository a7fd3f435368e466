// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// In how many passes over the columns of a row a kernel runs, and what each pass computes. For example, a softmax
/// takes three: the maximum; the exponentials and their sum; the quotients.

#ifndef DS_ANALYSIS_ROWSCHEDULE_H
#define DS_ANALYSIS_ROWSCHEDULE_H

#include "ds/Analysis/KernelGraph.h"

namespace ds {

/// How often a value changes: once per call, per row, per line (a run of contiguous columns), or with each element.
enum class Level : uint8_t { Call, Row, Line, Element };
Level levelOf(const KernelGraph &graph, DimSet groups);

/// Where an element-level value stays from the pass that computes it to later ones.
struct KeptIn {
  enum { Result, Scratch } place;
  unsigned number; ///< of the result, or of the scratch row
};

struct RowSchedule {
  unsigned numPasses = 0;
  llvm::SmallVector<unsigned> stage;             ///< per node: the first pass before which its operands are known
  llvm::SmallVector<unsigned> firstPass;         ///< per node: the first pass that needs it, numPasses if none does
  llvm::SmallVector<std::optional<KeptIn>> kept; ///< per node
  llvm::SmallVector<llvm::SmallVector<bool>>
      needed;                            ///< [pass][node]: element-level or line-level, computed or loaded there
  llvm::SmallVector<mlir::Type> scratch; ///< element types of the scratch rows

  /// The pass in which a reduction takes its operand, or a result is written.
  unsigned passOf(const KernelNode &reduction) const { return stage[reduction.operands.front()]; }
  unsigned passOf(const KernelResult &result) const { return stage[result.node]; }
};

RowSchedule scheduleRow(const KernelGraph &graph);

/// Whether the reduction takes elements, rather than one value per row.
bool foldsElements(const KernelGraph &graph, const KernelNode &reduction);

/// How many operations of a CPU the kernel takes per element of its space, about: loads, arithmetic and reductions of
/// all passes. What is computed once per row is not counted.
double operationsPerElement(const KernelGraph &graph, const RowSchedule &schedule);

} // namespace ds

#endif // DS_ANALYSIS_ROWSCHEDULE_H
