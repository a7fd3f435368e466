// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// Kernels without row statistics: elementwise chains, folds over rows, scalars, iota, bools.

#include "Kernels.h"

#include "ds/Analysis/KernelGraph.h"

#include <gmock/gmock.h>

using namespace ds;
using namespace ds::test;

static std::string tensor(const std::string &name, std::initializer_list<int64_t> shape,
                          const std::string &element = "f32") {
  std::string text = name + " = tensor<";
  for (int64_t size : shape)
    text += std::to_string(size) + "x";
  return text + element + ">";
}

/// Compiles, calls and compares each result.
static void expectSame(ParsedKernel &kernel, double tolerance, const CallOptions &options = {}) {
  std::vector<Tensor> inputs = randomInputs(kernel.op());
  std::vector<Tensor> expected = evaluate(kernel.op(), inputs), got = compileAndCall(kernel.op(), inputs, options);
  ASSERT_EQ(got.size(), expected.size());
  for (size_t number = 0; number < got.size(); ++number)
    EXPECT_LE(difference(got[number], expected[number]), tolerance) << "result " << number;
}

static const char *kBiasGelu = R"(
^bb0(%x: !m, %b: !c):
  %c0 = arith.constant dense<0.7978845608> : !m
  %c1 = arith.constant dense<0.044715> : !m
  %c2 = arith.constant dense<0.5> : !m
  %c3 = arith.constant dense<1.0> : !m
  %bb = ds.broadcast %b {dims = array<i64: 1>} : (!c) -> !m
  %h = arith.addf %x, %bb : !m
  %h2 = arith.mulf %h, %h : !m
  %h3 = arith.mulf %h2, %h : !m
  %k = arith.mulf %h3, %c1 : !m
  %i = arith.addf %h, %k : !m
  %j = arith.mulf %i, %c0 : !m
  %t = math.tanh %j : !m
  %t1 = arith.addf %t, %c3 : !m
  %hh = arith.mulf %h, %c2 : !m
  %y = arith.mulf %hh, %t1 : !m
  ds.yield %y, %h : !m, !m)";

TEST(Kernels, BiasAndGeluAtAnySize) {
  for (int64_t columns : {1, 3, 5, 15, 16, 17, 64, 127, 770}) {
    SCOPED_TRACE(columns);
    ParsedKernel kernel({tensor("m", {5, columns}), tensor("c", {columns})}, "!m, !c", "!m, !m", kBiasGelu);
    expectSame(kernel, 1e-6);
  }
}

TEST(Kernels, StreamedResultsOfAlignedAndOtherRows) {
  for (int64_t columns : {16, 17, 64, 128, 136, 272}) {
    SCOPED_TRACE(columns);
    ParsedKernel kernel({tensor("m", {5, columns}), tensor("c", {columns})}, "!m, !c", "!m, !m", kBiasGelu);
    kernel.op().setStreamed(llvm::ArrayRef<int64_t>({0, 1}));
    expectSame(kernel, 1e-6);
    CallOptions options;
    options.shared = {{1, 0}};
    expectSame(kernel, 1e-6, options);
  }
}

TEST(Kernels, StreamedResultsOfEveryWidth) {
  for (const char *element : {"bf16", "f64"}) {
    SCOPED_TRACE(element);
    ParsedKernel kernel({tensor("n", {300}, element), tensor("i", {300}, "i32"), tensor("b", {300}, "i1")}, "!n, !i",
                        "!n, !b", R"(
^bb0(%x: !n, %i: !i):
  %y = arith.negf %x : !n
  %c = arith.constant dense<7> : !i
  %z = arith.cmpi ne, %i, %c : !i
  ds.yield %y, %z : !n, !b)");
    kernel.op().setStreamed(llvm::ArrayRef<int64_t>({0, 1}));
    for (int64_t chunks : {1, 3}) {
      CallOptions options;
      options.chunks = chunks;
      expectSame(kernel, element == std::string("f64") ? 0 : 1e-2, options);
    }
  }
}

TEST(Kernels, NoRowsWriteNothing) {
  ParsedKernel kernel({tensor("m", {4, 8}), tensor("c", {8})}, "!m, !c", "!m, !m", kBiasGelu);
  CallOptions options;
  options.extents = {{0, 0}, {8, 0}};
  for (const Tensor &result : compileAndCall(kernel.op(), randomInputs(kernel.op()), options))
    for (double element : result.elements)
      EXPECT_TRUE(std::isnan(element));
}

static const char *kAdamW = R"(
^bb0(%p: !f, %g: !f, %m: !f, %v: !f, %rate: !s, %step: !s):
  %b1 = arith.constant dense<0.9> : !f
  %b1c = arith.constant dense<0.1> : !f
  %b2 = arith.constant dense<0.999> : !f
  %b2c = arith.constant dense<0.001> : !f
  %eps = arith.constant dense<1.0e-8> : !f
  %l1 = arith.constant dense<-0.105360516> : !s
  %one = arith.constant dense<1.0> : !s
  %decay = arith.constant dense<-0.01> : !s
  %m0 = arith.mulf %m, %b1 : !f
  %g0 = arith.mulf %g, %b1c : !f
  %m1 = arith.addf %m0, %g0 : !f
  %gg = arith.mulf %g, %g : !f
  %v0 = arith.mulf %v, %b2 : !f
  %g1 = arith.mulf %gg, %b2c : !f
  %v1 = arith.addf %v0, %g1 : !f
  %e0 = arith.mulf %step, %l1 : !s
  %e1 = math.expm1 %e0 : !s
  %e2 = arith.negf %e1 : !s
  %sc = arith.divf %rate, %e2 : !s
  %scb = ds.broadcast %sc {dims = array<i64>} : (!s) -> !f
  %q = math.sqrt %v1 : !f
  %d = arith.addf %q, %eps : !f
  %ms = arith.mulf %m1, %scb : !f
  %ch = arith.divf %ms, %d : !f
  %k0 = arith.mulf %rate, %decay : !s
  %k1 = arith.addf %k0, %one : !s
  %kb = ds.broadcast %k1 {dims = array<i64>} : (!s) -> !f
  %p0 = arith.mulf %p, %kb : !f
  %p1 = arith.subf %p0, %ch : !f
  ds.yield %p1, %m1, %v1 : !f, !f, !f)";

TEST(Kernels, AdamWInPlaceOnAFlatSpace) {
  std::string flat = "f = tensor<37x53xf32, #ds.layout<[{}, {} ], flat = {x}>>";
  ParsedKernel kernel({flat, "s = tensor<f32>"}, "!f, !f, !f, !f, !s, !s", "!f, !f, !f", kAdamW);
  std::vector<Tensor> inputs = randomInputs(kernel.op());
  for (double &v : inputs[3].elements)
    v = std::abs(v);
  inputs[4].elements = {0.01};
  inputs[5].elements = {3};
  std::vector<Tensor> expected = evaluate(kernel.op(), inputs);
  for (int64_t chunks : {1, 7, 64}) {
    CallOptions options;
    options.chunks = chunks;
    options.shared = {{0, 0}, {1, 2}, {2, 3}};
    options.extents = {{37 * 53, 0}};
    std::vector<Tensor> got = compileAndCall(kernel.op(), inputs, options);
    for (unsigned number = 0; number < 3; ++number) {
      EXPECT_TRUE(mayShareBuffer(kernel.op(), number, number == 0 ? 0 : number + 1));
      EXPECT_LE(difference(got[number], expected[number]), 1e-6) << "result " << number;
    }
  }
  EXPECT_FALSE(mayShareBuffer(kernel.op(), 0, 4)) << "a scalar";
}

static const char *kFolds = R"(
^bb0(%x: !m, %y: !m):
  %p = arith.mulf %x, %y : !m
  %c = ds.reduce %p {dims = array<i64: 0>, kind = #ds.reduction<sum>} : (!m) -> !c
  %s = ds.reduce %p {dims = array<i64: 0, 1>, kind = #ds.reduction<sum>} : (!m) -> !s
  %a = ds.reduce %x {dims = array<i64: 0, 1>, kind = #ds.reduction<max>} : (!m) -> !s
  %i = ds.reduce %y {dims = array<i64: 0>, kind = #ds.reduction<min>} : (!m) -> !c
  ds.yield %p, %c, %s, %a, %i : !m, !c, !s, !s, !c)";

TEST(Kernels, FoldOverRowsInAnyNumberOfChunks) {
  for (int64_t columns : {1, 17, 770})
    for (int64_t rows : {1, 5, 100})
      for (int64_t chunks : {1, 7, 64}) {
        SCOPED_TRACE(testing::Message() << rows << "x" << columns << " in " << chunks);
        ParsedKernel kernel({tensor("m", {rows, columns}), tensor("c", {columns}), "s = tensor<f32>"}, "!m, !m",
                            "!m, !c, !s, !s, !c", kFolds);
        CallOptions options;
        options.chunks = chunks;
        expectSame(kernel, 3e-5, options); // the sums cancel: 1e-7 of the sum of the terms' sizes
      }
}

TEST(Kernels, FoldOfNothingIsNeutral) {
  ParsedKernel kernel({tensor("m", {4, 3}), tensor("c", {3}), "s = tensor<f32>"}, "!m, !m", "!m, !c, !s, !s, !c",
                      kFolds);
  CallOptions options;
  options.extents = {{0, 0}, {3, 0}};
  std::vector<Tensor> got = compileAndCall(kernel.op(), randomInputs(kernel.op()), options);
  EXPECT_THAT(got[1].elements, testing::Each(0));
  EXPECT_EQ(got[2].elements.front(), 0);
  EXPECT_EQ(got[3].elements.front(), -INFINITY);
  EXPECT_THAT(got[4].elements, testing::Each(INFINITY));
}

TEST(Kernels, FlatSumOfSquares) {
  ParsedKernel kernel({tensor("f", {999}), "s = tensor<f32>"}, "!f", "!s", R"(
^bb0(%x: !f):
  %q = arith.mulf %x, %x : !f
  %s = ds.reduce %q {dims = array<i64: 0>, kind = #ds.reduction<sum>} : (!f) -> !s
  ds.yield %s : !s)");
  for (int64_t chunks : {1, 7, 64}) {
    CallOptions options;
    options.chunks = chunks;
    expectSame(kernel, 1e-6, options);
  }
}

TEST(Kernels, MaxKeepsNaN) {
  ParsedKernel kernel({tensor("f", {100}), "s = tensor<f32>"}, "!f", "!s", R"(
^bb0(%x: !f):
  %s = ds.reduce %x {dims = array<i64: 0>, kind = #ds.reduction<max>} : (!f) -> !s
  ds.yield %s : !s)");
  for (size_t place : {0, 50, 99}) {
    std::vector<Tensor> inputs = randomInputs(kernel.op());
    inputs[0].elements[place] = NAN;
    EXPECT_TRUE(std::isnan(compileAndCall(kernel.op(), inputs)[0].elements[0]));
  }
}

TEST(Kernels, ScalarsAlone) {
  ParsedKernel kernel({"s = tensor<f32>"}, "!s, !s", "!s", R"(
^bb0(%a: !s, %b: !s):
  %q = arith.mulf %a, %a : !s
  %r = math.sqrt %q : !s
  %d = arith.divf %b, %r : !s
  ds.yield %d : !s)");
  expectSame(kernel, 1e-6);
}

TEST(Kernels, BroadcastsOfEveryPlaceInFourDims) {
  ParsedKernel kernel(
      {tensor("q", {2, 3, 4, 5}), tensor("a", {2, 5}), tensor("b", {3}), tensor("c", {4, 5}), tensor("d", {2, 3, 4})},
      "!a, !b, !c, !d", "!q", R"(
^bb0(%a: !a, %b: !b, %c: !c, %d: !d):
  %a4 = ds.broadcast %a {dims = array<i64: 0, 3>} : (!a) -> !q
  %b4 = ds.broadcast %b {dims = array<i64: 1>} : (!b) -> !q
  %c4 = ds.broadcast %c {dims = array<i64: 2, 3>} : (!c) -> !q
  %d4 = ds.broadcast %d {dims = array<i64: 0, 1, 2>} : (!d) -> !q
  %ab = arith.mulf %a4, %b4 : !q
  %cd = arith.addf %c4, %d4 : !q
  %r = arith.subf %ab, %cd : !q
  ds.yield %r : !q)");
  expectSame(kernel, 1e-6);
}

TEST(Kernels, OneInputAtTwoPlaces) {
  ParsedKernel kernel({tensor("m", {7, 7}), tensor("c", {7})}, "!c", "!m", R"(
^bb0(%a: !c):
  %x = ds.broadcast %a {dims = array<i64: 0>} : (!c) -> !m
  %y = ds.broadcast %a {dims = array<i64: 1>} : (!c) -> !m
  %r = arith.subf %x, %y : !m
  ds.yield %r : !m)");
  expectSame(kernel, 1e-6);
  EXPECT_FALSE(mayShareBuffer(kernel.op(), 0, 0));
}

TEST(Kernels, CausalMaskInBools) {
  ParsedKernel kernel({tensor("m", {3, 6, 20}), tensor("n", {3, 6, 20}, "i32"), tensor("b", {3, 6, 20}, "i1")},
                      "!m, !b", "!m, !b", R"(
^bb0(%x: !m, %keep: !b):
  %row = ds.iota {dim = 1 : i64} : () -> !n
  %column = ds.iota {dim = 2 : i64} : () -> !n
  %visible = arith.cmpi sle, %column, %row : !n
  %low = arith.constant dense<-1.0e30> : !m
  %y = arith.select %visible, %x, %low : !b, !m
  %zero = arith.constant dense<0.0> : !m
  %positive = arith.cmpf ogt, %y, %zero : !m
  %z = arith.select %keep, %y, %zero : !b, !m
  ds.yield %z, %positive : !m, !b)");
  expectSame(kernel, 1e-6);
}

TEST(Kernels, IotaCountsFromTheBeginOfTheShard) {
  ParsedKernel kernel({tensor("m", {4, 6}), tensor("n", {4, 6}, "i64")}, "!m", "!n", R"(
^bb0(%x: !m):
  %row = ds.iota {dim = 0 : i64} : () -> !n
  %column = ds.iota {dim = 1 : i64} : () -> !n
  %ten = arith.constant dense<10> : !n
  %r = arith.muli %row, %ten : !n
  %s = arith.addi %r, %column : !n
  ds.yield %s : !n)");
  CallOptions options;
  options.extents = {{2, 7}, {3, 100}};
  std::vector<Tensor> got = compileAndCall(kernel.op(), randomInputs(kernel.op()), options);
  std::vector<double> first(got[0].elements.begin(), got[0].elements.begin() + 6);
  EXPECT_THAT(first, testing::ElementsAre(170, 171, 172, 180, 181, 182));
}

TEST(Kernels, SixteenBitFloatsRoundAfterEachOp) {
  for (const char *element : {"f16", "bf16"}) {
    SCOPED_TRACE(element);
    ParsedKernel kernel({tensor("m", {5, 37}, element), tensor("w", {5, 37}), tensor("c", {37}, element)}, "!m, !m",
                        "!w, !m, !c", R"(
^bb0(%x: !m, %y: !m):
  %a = arith.addf %x, %y : !m
  %w = arith.extf %a : !m to !w
  %e = math.exp %w : !w
  %h = arith.truncf %e : !w to !m
  %c = ds.reduce %x {dims = array<i64: 0>, kind = #ds.reduction<sum>} : (!m) -> !c
  ds.yield %e, %h, %c : !w, !m, !c)");
    expectSame(kernel, 2e-2);
  }
}

TEST(Kernels, DivisionOfIntegersDoesNotTrapInTheTail) {
  ParsedKernel kernel({tensor("n", {21}, "i32")}, "!n, !n", "!n", R"(
^bb0(%x: !n, %y: !n):
  %one = arith.constant dense<1> : !n
  %d = arith.addi %y, %one : !n
  %q = arith.divsi %x, %d : !n
  ds.yield %q : !n)");
  expectSame(kernel, 0);
}

TEST(Kernels, DoublesCallTheLibrary) {
  ParsedKernel kernel({tensor("m", {3, 19}, "f64")}, "!m", "!m", R"(
^bb0(%x: !m):
  %a = math.erf %x : !m
  %b = math.exp %a : !m
  %c = math.tanh %b : !m
  ds.yield %c : !m)");
  expectSame(kernel, 1e-14);
}

TEST(Kernels, StreamedKernelsHaveCodeOfTheirOwn) {
  ParsedKernel kernel({tensor("m", {5, 64}), tensor("c", {64})}, "!m, !c", "!m, !m", kBiasGelu);
  const std::string plain = structureOf(*buildKernelGraph(kernel.op()));
  kernel.op().setStreamed(llvm::ArrayRef<int64_t>({1}));
  EXPECT_NE(structureOf(*buildKernelGraph(kernel.op())), plain);
}

TEST(Kernels, FoldOfSomeRowsKeepsOthers) {
  // [B, S, C] -> [S, C] and [S] and [B]: none of the kept dims is contiguous with what is folded.
  ParsedKernel kernel(
      {tensor("q", {3, 4, 21}), tensor("c", {21}), tensor("sc", {4, 21}), tensor("bs", {3, 4}), tensor("s", {4})},
      "!q, !c", "!q, !sc", R"(
^bb0(%x: !q, %c: !c):
  %cb = ds.broadcast %c {dims = array<i64: 2>} : (!c) -> !q
  %y = arith.mulf %x, %cb : !q
  %f = ds.reduce %y {dims = array<i64: 0>, kind = #ds.reduction<sum>} : (!q) -> !sc
  ds.yield %y, %f : !q, !sc)");
  for (int64_t chunks : {1, 5}) {
    CallOptions options;
    options.chunks = chunks;
    expectSame(kernel, 1e-6, options);
  }
}
