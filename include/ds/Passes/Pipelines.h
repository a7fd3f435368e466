// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// The stages of the compiler: one function per stage appends its passes in order.

#ifndef DS_PASSES_PIPELINES_H
#define DS_PASSES_PIPELINES_H

#include "ds/Config/TrainingConfig.h"

#include "mlir/Pass/PassManager.h"

namespace ds {

/// What the program stage needs to know.
struct ProgramOptions {
  LossConfig loss;
  std::vector<std::string> frozen; ///< regular expressions over parameter names
  int64_t parts = 1;               ///< the batch is computed in so many equal parts, one after the other
  double maxNorm = 0;              ///< the largest global gradient norm; 0: only measured
  OptimizerConfig optimizer;       ///< of kind None: the gradients stay results of the step
  bool skipsBadSteps = true;       ///< steps whose loss or gradient norm is not finite change nothing
};

/// The options that a configuration asks for, with its completed batch sizes.
ProgramOptions programOptionsFrom(const TrainingConfig &config, const Batch &batch);

/// Import stage: an imported program gets its composites back.
void buildImportPipeline(mlir::OpPassManager &manager);

/// Program stage: @forward, imported for one part of the batch, becomes @step for the whole of it.
void buildProgramPipeline(mlir::OpPassManager &manager, const ProgramOptions &options);

/// What the placement stage needs to know.
struct PlacementOptions {
  std::vector<std::string> axes = {"dp=1"}; ///< of the mesh, name=size, major first; "dp" is that of data parallelism
  int64_t zeroStage = 0;                    ///< 0 to 3
};

/// Placement stage: gives every value a layout, and chooses the casts between them.
void buildPlacementPipeline(mlir::OpPassManager &manager, const PlacementOptions &options);

/// Kernel stage: composites in primitive ops, library calls, kernels.
void buildKernelPipeline(mlir::OpPassManager &manager);

/// Schedule stage: buckets, predicted times, and the order of starts and waits. `machine`: a preset or a file.
void buildSchedulePipeline(mlir::OpPassManager &manager, const std::string &machine = "cpu");

/// What the plan stage needs to know.
struct PlanOptions {
  std::string function = "step";
  uint64_t memoryBudget = 0; ///< bytes of a rank's arena; 0: no bound
};

/// Plan stage, up to code generation: a place for every buffer.
void buildPlanPipeline(mlir::OpPassManager &manager, const PlanOptions &options);

} // namespace ds

#endif // DS_PASSES_PIPELINES_H
