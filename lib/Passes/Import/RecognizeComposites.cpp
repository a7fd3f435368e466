// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Dialect/DsDialect.h"
#include "ds/Import/Recognize.h"
#include "ds/Passes/GreedyRewrites.h"
#include "ds/Passes/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

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
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns), flatRewrites())))
      signalPassFailure();
  }
};
} // namespace
