// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "LowerKernel.h"

#include "ds/Codegen/Cpu.h"

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
  static const llvm::StringSet<> names = {"math.acos",  "math.asin", "math.atan", "math.atan2",
                                          "math.cbrt",  "math.cos",  "math.erfc", "math.log",
                                          "math.log1p", "math.log2", "math.sin",  "math.tanh"};
  return names.contains(function);
}

static LogicalResult expandMath(ModuleOp module) {
  RewritePatternSet patterns(module.getContext());
  populateMathApproximationPatterns(patterns);
  populateMathAlgebraicSimplificationPatterns(patterns);
  populateMathPolynomialApproximationPatterns(patterns, hasPolynomial);
  math::populateExpansionPatterns(patterns,
                                  {"sinh", "cosh", "tan", "asinh", "acosh", "atanh", "powf", "fpowi", "exp2f", "ctlz"});
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
  if (failed(expandMath(module)) || failed(lowerLoops(module)) || failed(lowerToLLVM(module)))
    return failure();
  return verifyLoweredKernel(module);
}

//===----------------------------------------------------------------------===//
// ds-verify-kernels
//===----------------------------------------------------------------------===//

/// Intrinsics that are instructions on every CPU, or short sequences of them.
static bool isInstruction(StringRef intrinsic) {
  static const llvm::StringSet<> names = {"abs",    "ceil",        "copysign",     "ctlz",      "ctpop",  "cttz",
                                          "fabs",   "floor",       "fma",          "fmuladd",   "fptosi", "maximum",
                                          "maxnum", "masked.load", "masked.store", "minimum",   "minnum", "nearbyint",
                                          "rint",   "round",       "roundeven",    "sqrt",      "smax",   "smin",
                                          "trunc",  "umax",        "umin",         "is.fpclass"};
  return names.contains(intrinsic) || intrinsic.starts_with("vector.");
}

static bool isDouble(Operation *op) {
  return op->getNumResults() == 1 && getElementTypeOrSelf(op->getResult(0).getType()).isF64();
}

LogicalResult ds::verifyLoweredKernel(ModuleOp kernel) {
  WalkResult result = kernel.walk([](Operation *op) -> WalkResult {
    StringRef name = op->getName().getStringRef();
    if (isa<ModuleOp>(op))
      return WalkResult::advance();
    if (!isa<LLVM::LLVMDialect>(op->getDialect()))
      return op->emitOpError("must be in LLVM's dialect in a lowered kernel");
    if (isa<LLVM::AllocaOp, LLVM::MemcpyOp, LLVM::MemcpyInlineOp, LLVM::MemmoveOp>(op))
      return op->emitOpError("must not allocate or copy in a kernel");
    bool calls = isa<LLVM::CallOp, LLVM::InvokeOp, LLVM::CallIntrinsicOp>(op) ||
                 (name.consume_front("llvm.intr.") && !isInstruction(name));
    // There are no polynomials in f64.
    if (calls && !isDouble(op))
      return op->emitOpError("must not call a function in a kernel");
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}
