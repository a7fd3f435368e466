// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "LowerKernel.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace ds;

/// What has a polynomial of MLIR for f32; f64 goes to libm.
static bool hasPolynomial(StringRef function) {
  static const llvm::StringSet<> names = {"math.acos", "math.asin", "math.atan",  "math.atan2", "math.cbrt",
                                          "math.erfc", "math.log",  "math.log1p", "math.log2"};
  return names.contains(function);
}

static LogicalResult expandMath(ModuleOp module) {
  RewritePatternSet patterns(module.getContext());
  populateMathApproximationPatterns(patterns);
  populateMathAlgebraicSimplificationPatterns(patterns);
  populateMathPolynomialApproximationPatterns(patterns, hasPolynomial);
  math::populateExpansionPatterns(patterns,
                                  {"sinh", "cosh", "tan", "asinh", "acosh", "atanh", "fpowi", "exp2f", "ctlz"});
  arith::populateCeilFloorDivExpandOpsPatterns(patterns);
  GreedyRewriteConfig config;
  config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
  return applyPatternsGreedily(module, std::move(patterns), config);
}

static LogicalResult lowerLoops(ModuleOp module) {
  RewritePatternSet patterns(module.getContext());
  populateSCFToControlFlowConversionPatterns(patterns);
  ConversionTarget target(*module.getContext());
  target.addIllegalDialect<scf::SCFDialect>();
  target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
  return applyPartialConversion(module, target, std::move(patterns));
}

static LogicalResult lowerToLLVM(ModuleOp module) {
  MLIRContext *context = module.getContext();
  LLVMTypeConverter converter(context);
  RewritePatternSet patterns(context);
  arith::populateArithToLLVMConversionPatterns(converter, patterns);
  cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
  populateFuncToLLVMConversionPatterns(converter, patterns);
  populateMathToLLVMConversionPatterns(converter, patterns);
  populateMathToLibmConversionPatterns(patterns, /*benefit=*/0);
  populateVectorToLLVMConversionPatterns(converter, patterns, /*reassociateFPReductions=*/true);
  vector::populateVectorBroadcastLoweringPatterns(patterns);
  LLVMConversionTarget target(*context);
  target.addLegalOp<ModuleOp>();
  return applyFullConversion(module, target, std::move(patterns));
}

LogicalResult ds::lowerKernel(ModuleOp module) {
  return failure(failed(expandMath(module)) || failed(lowerLoops(module)) || failed(lowerToLLVM(module)));
}
