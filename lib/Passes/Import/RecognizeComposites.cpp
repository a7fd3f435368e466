// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Dialect/DsDialect.h"
#include "ds/Import/Recognize.h"
#include "ds/Passes/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace ds {
#define GEN_PASS_DEF_RECOGNIZECOMPOSITESPASS
#include "ds/Passes/Passes.h.inc"
} // namespace ds

using namespace mlir;
using namespace ds;

namespace {
struct RecognizeComposites : ds::impl::RecognizeCompositesPassBase<RecognizeComposites> {
  using RecognizeCompositesPassBase::RecognizeCompositesPassBase;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populateRecognizeCompositePatterns(patterns);
    GreedyRewriteConfig config;
    config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled); // a program has no control flow
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns), config)))
      signalPassFailure();
  }
};
} // namespace
