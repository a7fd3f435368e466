// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "OpWork.h"

#include "ds/Analysis/OpStructure.h"
#include "ds/Analysis/PredictedTime.h"
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
    StructureMap<std::optional<double>> ofKernels; // those of all layers take as long
    getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (!isa<KernelOp>(op)) {
        note(op, predict(op, mesh, rank));
        return WalkResult::advance();
      }
      auto [seconds, isNew] = ofKernels.try_emplace(op);
      if (isNew)
        seconds->second = predict(op, mesh, rank);
      note(op, seconds->second);
      return WalkResult::skip();
    });
  }

  static void note(Operation *op, std::optional<double> seconds) {
    if (seconds)
      op->setAttr(kSecondsAttr, Builder(op->getContext()).getF64FloatAttr(*seconds));
  }

  static std::optional<double> predict(Operation *op, const Mesh &mesh, const Machine &rank) {
    if (auto start = dyn_cast<StartOp>(op))
      return secondsOf(start, mesh, rank);
    if (isa<func::FuncOp>(op))
      return std::nullopt;
    std::optional<OpWork> work = workOf(op, mesh);
    return work ? std::optional(secondsOf(*work, rank)) : std::nullopt;
  }
};

} // namespace
