// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// The table of contents of the compiler.

#include "ds/Passes/Pipelines.h"

#include "ds/Passes/GreedyRewrites.h"
#include "ds/Passes/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace ds;

ProgramOptions ds::programOptionsFrom(const TrainingConfig &config, const Batch &batch) {
  return {config.model.loss,       config.model.frozen, batch.accumulation,
          config.gradientClipping, config.optimizer,    config.model.stopAfterBadSteps != 0};
}

static AttachLossPassOptions lossOptions(const LossConfig &loss) {
  return {loss.output, loss.logits, loss.labels, loss.isShifted, loss.ignoreIndex, loss.mean == LossMean::Labels};
}

static AttachOptimizerPassOptions optimizerOptions(const OptimizerConfig &optimizer) {
  AttachOptimizerPassOptions options;
  options.kind = optimizer.kind == OptimizerKind::Sgd    ? "sgd"
                 : optimizer.kind == OptimizerKind::Adam ? "adam"
                                                         : "adamw";
  options.beta1 = optimizer.beta1;
  options.beta2 = optimizer.beta2;
  options.epsilon = optimizer.epsilon;
  options.biasCorrection = optimizer.biasCorrection;
  options.weightDecay = optimizer.weightDecay;
  options.momentum = optimizer.momentum;
  options.dampening = optimizer.dampening;
  options.nesterov = optimizer.nesterov;
  return options;
}

void ds::buildImportPipeline(OpPassManager &manager) {
  manager.addPass(createCSEPass()); // recognizing compares values
  manager.addPass(createRecognizeCompositesPass());
  manager.addPass(createVerifyImportPass());
}

void ds::buildProgramPipeline(OpPassManager &manager, const ProgramOptions &options) {
  manager.addPass(createAttachLossPass(lossOptions(options.loss)));
  DifferentiatePassOptions differentiate;
  differentiate.frozen.assign(options.frozen.begin(), options.frozen.end());
  manager.addPass(createDifferentiatePass(differentiate));
  // Before the loop over parts: canonicalization is quadratic in what a loop carries.
  manager.addPass(createCanonicalizerPass(flatRewrites()));
  manager.addPass(createCSEPass());
  manager.addPass(createAccumulateGradientsPass({options.parts}));
  // After the loop: the norm is that of the whole batch.
  manager.addPass(createClipGradientsPass({options.maxNorm}));
  if (options.optimizer.kind != OptimizerKind::None) {
    manager.addPass(createAttachOptimizerPass(optimizerOptions(options.optimizer)));
    if (options.skipsBadSteps) // all assigns are there
      manager.addPass(createGuardAssignsPass());
  }
  manager.addPass(createVerifyProgramPass());
}

void ds::buildPlacementPipeline(OpPassManager &manager, const PlacementOptions &options) {
  BuildMeshPassOptions mesh;
  mesh.axes.assign(options.axes.begin(), options.axes.end());
  manager.addPass(createBuildMeshPass(mesh));
  manager.addPass(createExpandAxesPass());
  manager.addPass(createAssignDataParallelPass());
  manager.addPass(createAssignZeroPass({options.zeroStage}));
  // All hints are there.
  manager.addPass(createPropagateLayoutsPass());
  manager.addPass(createVerifyLayoutsPass({true}));
  manager.addPass(createExpandRelayoutsPass());
  manager.addNestedPass<func::FuncOp>(createRegatherParametersPass());
  manager.addPass(createVerifyLayoutsPass());
}

void ds::buildKernelPipeline(OpPassManager &manager) {
  // Before the ops that take labels are written out.
  manager.addNestedPass<func::FuncOp>(createBoundInputsPass());
  // Attentions that it leaves are decomposed.
  manager.addNestedPass<func::FuncOp>(createFuseAttentionPass());
  // While activations are still ops.
  manager.addNestedPass<func::FuncOp>(createFuseEpiloguesPass());
  manager.addNestedPass<func::FuncOp>(createDecomposeCompositesPass());
  // Transposes vanish into matmuls before they could become copies.
  manager.addNestedPass<func::FuncOp>(createMatchLibraryCallsPass());
  manager.addPass(createCSEPass()); // of what the passes since the gradients made twice
  // Late, as most ops of a step would be theirs.
  manager.addNestedPass<func::FuncOp>(createDecomposeUpdatesPass());
  // Before values are computed again, as copies must have the same bits.
  manager.addNestedPass<func::FuncOp>(createContractProductsPass());
  // No CSE from here on: it would undo this.
  manager.addNestedPass<func::FuncOp>(createRecomputeElementwisePass());
  manager.addNestedPass<func::FuncOp>(createFormKernelsPass());
  manager.addNestedPass<func::FuncOp>(createStreamResultsPass());
  manager.addNestedPass<func::FuncOp>(createVerifyKernelsPass());
  manager.addPass(createVerifyLayoutsPass());
}

void ds::buildSchedulePipeline(OpPassManager &manager, const std::string &machine) {
  manager.addNestedPass<func::FuncOp>(createSplitAsyncPass());
  manager.addNestedPass<func::FuncOp>(createBucketCollectivesPass());
  manager.addNestedPass<func::FuncOp>(createPredictTimesPass({machine})); // of whole buckets
  manager.addNestedPass<func::FuncOp>(createSchedulePass());
  manager.addNestedPass<func::FuncOp>(createVerifySchedulePass());
  manager.addPass(createVerifyLayoutsPass());
}

void ds::buildPlanPipeline(OpPassManager &manager, const PlanOptions &options) {
  manager.addPass(createAssignArenaPass({options.function, options.memoryBudget}));
  manager.addNestedPass<func::FuncOp>(createVerifySchedulePass()); // now with its memory
}
