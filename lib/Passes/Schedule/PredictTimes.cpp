// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "OpWork.h"

#include "ds/Analysis/OpStructure.h"
#include "ds/Analysis/PredictedWork.h"
#include "ds/Dialect/Refusal.h"
#include "ds/Passes/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ds {
#define GEN_PASS_DEF_PREDICTTIMESPASS
#include "ds/Passes/Passes.h.inc"
} // namespace ds

using namespace mlir;
using namespace ds;

namespace {

struct PredictTimes : ds::impl::PredictTimesPassBase<PredictTimes> {
  using PredictTimesPassBase::PredictTimesPassBase;

  void runOnOperation() override {
    absl::StatusOr<Machine> found = findMachine(machine);
    if (!found.ok()) {
      refuse(getOperation(), Refusal::BadInput) << std::string(found.status().message());
      return signalPassFailure();
    }
    const Mesh mesh = meshOf(getOperation());
    const Machine rank = shareOf(*found, mesh.numRanks());
    StructureMap<Work> ofKernels; // those of all layers take as long
    const WalkResult walk = getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (!takesTime(op))
        return WalkResult::advance();
      const FailureOr<Work> work = isa<KernelOp>(op) ? kernelWork(op, mesh, ofKernels) : workOf(op, mesh);
      if (failed(work))
        return WalkResult::interrupt();
      setPrediction(op, *work, secondsOf(*work, rank));
      return WalkResult::skip();
    });
    if (walk.wasInterrupted())
      signalPassFailure();
  }

  static FailureOr<Work> kernelWork(Operation *kernel, const Mesh &mesh, StructureMap<Work> &known) {
    if (auto found = known.find(kernel); found != known.end())
      return found->second;
    FailureOr<Work> work = workOf(kernel, mesh);
    if (succeeded(work))
      known[kernel] = *work;
    return work;
  }
};

} // namespace
