// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "Kernels.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Parser/Parser.h"

#include <gmock/gmock.h>

using namespace ds;

/// What verifyLoweredKernel says about a function with `body`; empty if it accepts it.
static std::string verify(const std::string &body) {
  mlir::MLIRContext context;
  context.loadDialect<mlir::LLVM::LLVMDialect>();
  std::string text = "llvm.func @malloc(i64) -> !llvm.ptr\nllvm.func @f(%x: vector<16xf32>, %d: vector<8xf64>, %n: "
                     "i64, %p: !llvm.ptr) {\n" +
                     body + "\nllvm.return\n}\n";
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  if (!module)
    return "does not parse";
  std::string message;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
    message = diagnostic.str();
    return mlir::success();
  });
  bool accepts = mlir::succeeded(verifyLoweredKernel(*module));
  return accepts ? "" : message;
}

TEST(VerifyLoweredKernel, TakesInstructions) {
  EXPECT_EQ(verify("%0 = llvm.intr.sqrt(%x) : (vector<16xf32>) -> vector<16xf32>\n"
                   "%1 = llvm.intr.maximum(%0, %x) : (vector<16xf32>, vector<16xf32>) -> vector<16xf32>"),
            "");
}

TEST(VerifyLoweredKernel, TakesTheLibraryForDoublesOnly) {
  EXPECT_EQ(verify("%0 = llvm.intr.exp(%d) : (vector<8xf64>) -> vector<8xf64>"), "");
  EXPECT_THAT(verify("%0 = llvm.intr.exp(%x) : (vector<16xf32>) -> vector<16xf32>"),
              testing::HasSubstr("must not call a function"));
}

TEST(VerifyLoweredKernel, RefusesMemoryOfItsOwn) {
  EXPECT_THAT(verify("%0 = llvm.call @malloc(%n) : (i64) -> !llvm.ptr"),
              testing::HasSubstr("must not call a function"));
  EXPECT_THAT(verify("%0 = llvm.alloca %n x f32 : (i64) -> !llvm.ptr"),
              testing::HasSubstr("must not allocate or copy"));
  EXPECT_THAT(verify("\"llvm.intr.memcpy\"(%p, %p, %n) <{isVolatile = false}> : (!llvm.ptr, !llvm.ptr, i64) -> ()"),
              testing::HasSubstr("must not allocate or copy"));
}
