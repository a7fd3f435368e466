// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "Kernels.h"

#include "llvm/Object/ELFObjectFile.h"

#include <gmock/gmock.h>

using namespace ds;
using namespace ds::test;
using testing::ElementsAre;
using testing::Pair;

static const char *kScaledSum = R"(
^bb0(%x: !q, %b: !c):
  %bb = ds.broadcast %b {dims = array<i64: 2>} : (!c) -> !q
  %y = arith.mulf %x, %bb : !q
  %s = ds.reduce %y {dims = array<i64: 0, 1>, kind = #ds.reduction<sum>} : (!q) -> !c
  ds.yield %y, %s : !q, !c)";

static KernelShape shapeOf(ParsedKernel &kernel, const Mesh &mesh = Mesh()) {
  mlir::FailureOr<KernelShape> shape = analyzeKernel(kernel.op(), mesh);
  EXPECT_TRUE(mlir::succeeded(shape));
  return mlir::succeeded(shape) ? *shape : KernelShape();
}

TEST(KernelShape, DimsThatGoTogetherAreOneGroup) {
  ParsedKernel kernel({"q = tensor<8x128x64xf32>", "c = tensor<64xf32>"}, "!q, !c", "!q, !c", kScaledSum);
  KernelShape shape = shapeOf(kernel);
  EXPECT_THAT(shape.groups, ElementsAre(Pair(0, 2), Pair(2, 3)));
  EXPECT_EQ(shape.numRowGroups, 1u);
  EXPECT_TRUE(shape.hasFinish);
  ASSERT_EQ(shape.workspaces.size(), 1u);
  EXPECT_EQ(shape.workspaces[0].elements, 64);
  EXPECT_EQ(shape.chunks, 4) << "16384 elements each";
}

TEST(KernelShape, SizesAreThoseOfTheLargestRank) {
  std::string q = "q = tensor<8x128x63xf32, #ds.layout<[{dp}, {}, {tp}]>>",
              c = "c = tensor<63xf32, #ds.layout<[{tp}]>>";
  ParsedKernel kernel({q, c}, "!q, !c", "!q, !c", kScaledSum);
  KernelShape shape = shapeOf(kernel, Mesh({{"dp", 3, {}}, {"tp", 2, {}}}));
  EXPECT_EQ(shape.workspaces[0].elements, 32);
  EXPECT_EQ(shape.chunks, 1) << "3 * 128 * 32 elements";
}

TEST(KernelShape, ADimOfOneElementCutsNothing) {
  ParsedKernel kernel({"q = tensor<8x1x64xf32>", "c = tensor<8x64xf32>"}, "!q, !c", "!q", R"(
^bb0(%x: !q, %b: !c):
  %bb = ds.broadcast %b {dims = array<i64: 0, 2>} : (!c) -> !q
  %y = arith.mulf %x, %bb : !q
  ds.yield %y : !q)");
  EXPECT_THAT(shapeOf(kernel).groups, ElementsAre(Pair(0, 3)));
  EXPECT_TRUE(mayShareBuffer(kernel.op(), 0, 1));
}

TEST(KernelShape, ChunksLeaveRoomForTheRows) {
  ParsedKernel kernel({"q = tensor<2x2x100000xf32>", "c = tensor<100000xf32>"}, "!q, !c", "!q, !c", kScaledSum);
  EXPECT_EQ(shapeOf(kernel).chunks, 1) << "a workspace takes at most a fourth of the input";
}

TEST(KernelShape, UsesOfFoldedRowsAreRefused) {
  ParsedKernel kernel({"m = tensor<8x16xf32>", "c = tensor<16xf32>"}, "!m", "!m", R"(
^bb0(%x: !m):
  %s = ds.reduce %x {dims = array<i64: 0>, kind = #ds.reduction<sum>} : (!m) -> !c
  %b = ds.broadcast %s {dims = array<i64: 1>} : (!c) -> !m
  %y = arith.mulf %x, %b : !m
  ds.yield %y : !m)");
  std::string message;
  mlir::ScopedDiagnosticHandler handler(kernel.context(), [&](mlir::Diagnostic &diagnostic) {
    message = diagnostic.str();
    return mlir::success();
  });
  EXPECT_TRUE(mlir::failed(analyzeKernel(kernel.op(), Mesh())));
  EXPECT_THAT(message, testing::HasSubstr("must only yield what it folds over rows"));
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

TEST(CpuCompiler, KernelsThatDifferInSizesAreOne) {
  std::vector<uint8_t> object;
  ParsedKernel a({"q = tensor<8x128x64xf32>", "c = tensor<64xf32>"}, "!q, !c", "!q, !c", kScaledSum);
  ParsedKernel b({"q = tensor<3x5x770xf32>", "c = tensor<770xf32>"}, "!q, !c", "!q, !c", kScaledSum);
  ParsedKernel c({"q = tensor<3x5x770xf16>", "c = tensor<770xf16>"}, "!q, !c", "!q, !c", kScaledSum);
  std::string first = compileOnly(a.op(), object).hash;
  EXPECT_EQ(compileOnly(b.op(), object).hash, first);
  EXPECT_NE(compileOnly(c.op(), object).hash, first);
}

TEST(CpuCompiler, TwiceTheSameBytes) {
  std::vector<uint8_t> first, second;
  for (std::vector<uint8_t> *object : {&first, &second}) {
    ParsedKernel kernel({"q = tensor<8x128x64xf32>", "c = tensor<64xf32>"}, "!q, !c", "!q, !c", kScaledSum);
    compileOnly(kernel.op(), *object);
  }
  EXPECT_EQ(first, second);
}

TEST(CpuCompiler, CodeOfFloatsNeedsNothingElse) {
  std::vector<uint8_t> object;
  ParsedKernel kernel({"f = tensor<99xf32>"}, "!f, !f", "!f", R"(
^bb0(%x: !f, %z: !f):
  %a = math.exp %x : !f
  %b = math.erf %a : !f
  %c = math.tanh %b : !f
  %d = math.log %c : !f
  %e = math.sin %d : !f
  %g = math.powf %e, %z : !f
  ds.yield %g : !f)");
  for (const char *cpu : {"native", "x86-64-v2"}) { // the second has no multiply-add
    SCOPED_TRACE(cpu);
    CpuOptions options;
    options.cpu = cpu;
    compileOnly(kernel.op(), object, options);
    llvm::StringRef bytes(reinterpret_cast<const char *>(object.data()), object.size());
    auto file = llvm::cantFail(llvm::object::ObjectFile::createELFObjectFile(llvm::MemoryBufferRef(bytes, "kernels")));
    for (const llvm::object::ELFSymbolRef symbol :
         llvm::cast<llvm::object::ELFObjectFileBase>(*file).getDynamicSymbolIterators())
      EXPECT_FALSE(llvm::cantFail(symbol.getFlags()) & llvm::object::SymbolRef::SF_Undefined)
          << llvm::cantFail(symbol.getName()).str();
  }
}

TEST(CpuCompiler, OtherCpusByName) {
  std::vector<uint8_t> object;
  ParsedKernel kernel({"q = tensor<8x128x64xf32>", "c = tensor<64xf32>"}, "!q, !c", "!q, !c", kScaledSum);
  for (const char *cpu : {"x86-64-v3", "znver4", "x86-64"}) {
    CpuOptions options;
    options.cpu = cpu;
    compileOnly(kernel.op(), object, options);
    EXPECT_GT(object.size(), 500u);
  }
  CpuOptions options;
  options.cpu = "x86-64-v3";
  auto compiler = createCpuCompiler(kernel.context(), options);
  ASSERT_TRUE(mlir::succeeded(compiler));
  EXPECT_THAT((*compiler)->features(), testing::Contains("avx2"));
  EXPECT_THAT((*compiler)->features(), testing::Not(testing::Contains("avx512f")));
}

TEST(CpuCompiler, KernelsStartedBeforehandAreTheSame) {
  ParsedKernel kernel({"q = tensor<8x128x64xf32>", "c = tensor<64xf32>"}, "!q, !c", "!q, !c", kScaledSum);
  std::vector<uint8_t> expected;
  const CompiledKernel alone = compileOnly(kernel.op(), expected);
  const Mesh mesh({{"x", 1, {}}});
  auto compiler = *createCpuCompiler(kernel.context());
  ASSERT_TRUE(mlir::succeeded(compiler->start(kernel.op()->getParentOfType<mlir::func::FuncOp>(), mesh)));
  EXPECT_EQ(compiler->counts().all, 1u);
  EXPECT_EQ(compiler->add(kernel.op(), mesh)->hash, alone.hash);
  EXPECT_EQ(compiler->counts().all, 1u);
  EXPECT_EQ(*compiler->finish(), expected);
}

TEST(CpuCompiler, AnUnknownCpuIsRefused) {
  ParsedKernel kernel({"q = tensor<8x128x64xf32>", "c = tensor<64xf32>"}, "!q, !c", "!q, !c", kScaledSum);
  std::string message;
  mlir::ScopedDiagnosticHandler handler(kernel.context(), [&](mlir::Diagnostic &diagnostic) {
    message = diagnostic.str();
    return mlir::success();
  });
  CpuOptions options;
  options.cpu = "z80";
  EXPECT_TRUE(mlir::failed(createCpuCompiler(kernel.context(), options)));
  EXPECT_EQ(message, "must know the CPU, got \"z80\"");
}

TEST(OpStructure, WhatPassesNoteTellsNoOpsApart) {
  ParsedKernel kernel({"q = tensor<8x128x64xf32>", "c = tensor<64xf32>"}, "!q, !c", "!q, !c", kScaledSum);
  mlir::OwningOpRef<KernelOp> copy(kernel.op().clone());
  (*copy)->setAttr(kBuffersAttr, mlir::DenseI64ArrayAttr::get(copy->getContext(), {1, 2}));
  EXPECT_EQ(OpStructure::getHashValue(kernel.op()), OpStructure::getHashValue(*copy));
  EXPECT_TRUE(OpStructure::isEqual(kernel.op(), *copy));
}

TEST(OpStructure, WhatAKernelDoesTellsItApart) {
  ParsedKernel kernel({"q = tensor<8x128x64xf32>", "c = tensor<64xf32>"}, "!q, !c", "!q, !c", kScaledSum);
  mlir::OwningOpRef<KernelOp> copy(kernel.op().clone());
  copy->walk([](ReduceOp reduce) { reduce.setKind(Reduction::Max); });
  EXPECT_FALSE(OpStructure::isEqual(kernel.op(), *copy));
}
