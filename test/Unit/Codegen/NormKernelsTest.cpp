// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// Kernels with row statistics: norms, softmax, cross entropy.

#include "Kernels.h"

#include <gmock/gmock.h>

using namespace ds;
using namespace ds::test;

static std::vector<std::string> matrixTypes(int64_t rows, int64_t columns) {
  std::string r = std::to_string(rows), c = std::to_string(columns);
  return {"m = tensor<" + r + "x" + c + "xf32>", "r = tensor<" + r + "xf32>", "c = tensor<" + c + "xf32>",
          "n = tensor<" + r + "x" + c + "xi32>", "l = tensor<" + r + "xi64>", "li = tensor<" + r + "xi32>",
          "b = tensor<" + r + "x" + c + "xi1>",  "rb = tensor<" + r + "xi1>", "s = tensor<f32>"};
}

static void expectSame(ParsedKernel &kernel, const std::vector<Tensor> &inputs, double tolerance,
                       const CallOptions &options = {}) {
  std::vector<Tensor> expected = evaluate(kernel.op(), inputs), got = compileAndCall(kernel.op(), inputs, options);
  ASSERT_EQ(got.size(), expected.size());
  for (size_t number = 0; number < got.size(); ++number)
    EXPECT_LE(difference(got[number], expected[number]), tolerance) << "result " << number;
}

static const char *kLayerNorm = R"(
^bb0(%x: !m, %res: !m, %g: !c, %bias: !c):
  %inv = arith.constant dense<0.0012987013> : !r
  %eps = arith.constant dense<1.0e-5> : !r
  %h = arith.addf %x, %res : !m
  %s = ds.reduce %h {dims = array<i64: 1>, kind = #ds.reduction<sum>} : (!m) -> !r
  %mean = arith.mulf %s, %inv : !r
  %mb = ds.broadcast %mean {dims = array<i64: 0>} : (!r) -> !m
  %d = arith.subf %h, %mb : !m
  %dd = arith.mulf %d, %d : !m
  %v = ds.reduce %dd {dims = array<i64: 1>, kind = #ds.reduction<sum>} : (!m) -> !r
  %var = arith.mulf %v, %inv : !r
  %ve = arith.addf %var, %eps : !r
  %rs = math.rsqrt %ve : !r
  %rb = ds.broadcast %rs {dims = array<i64: 0>} : (!r) -> !m
  %n = arith.mulf %d, %rb : !m
  %gb = ds.broadcast %g {dims = array<i64: 1>} : (!c) -> !m
  %ng = arith.mulf %n, %gb : !m
  %bb = ds.broadcast %bias {dims = array<i64: 1>} : (!c) -> !m
  %y = arith.addf %ng, %bb : !m
  ds.yield %h, %y, %mean, %rs : !m, !m, !r, !r)";

TEST(NormKernels, LayerNormWithResidual) {
  for (int64_t columns : {770, 769, 33, 1}) {
    SCOPED_TRACE(columns);
    ParsedKernel kernel(matrixTypes(9, columns), "!m, !m, !c, !c", "!m, !m, !r, !r", kLayerNorm);
    for (int64_t chunks : {1, 7}) {
      CallOptions options;
      options.chunks = chunks;
      expectSame(kernel, randomInputs(kernel.op()), 3e-6, options);
    }
    CallOptions inPlace;
    inPlace.shared = {{0, 0}};
    EXPECT_TRUE(mayShareBuffer(kernel.op(), 0, 0)) << "later passes read the sum, not its summands";
    EXPECT_FALSE(mayShareBuffer(kernel.op(), 0, 2)) << "all rows read the scale";
    expectSame(kernel, randomInputs(kernel.op()), 3e-6, inPlace);
  }
}

static const char *kLayerNormGrad = R"(
^bb0(%x: !m, %dy: !m, %g: !c, %mean: !r, %rs: !r):
  %inv = arith.constant dense<0.0012987013> : !r
  %mb = ds.broadcast %mean {dims = array<i64: 0>} : (!r) -> !m
  %rb = ds.broadcast %rs {dims = array<i64: 0>} : (!r) -> !m
  %gb = ds.broadcast %g {dims = array<i64: 1>} : (!c) -> !m
  %d = arith.subf %x, %mb : !m
  %n = arith.mulf %d, %rb : !m
  %dg0 = arith.mulf %dy, %n : !m
  %dg = ds.reduce %dg0 {dims = array<i64: 0>, kind = #ds.reduction<sum>} : (!m) -> !c
  %db = ds.reduce %dy {dims = array<i64: 0>, kind = #ds.reduction<sum>} : (!m) -> !c
  %dn = arith.mulf %dy, %gb : !m
  %a0 = ds.reduce %dn {dims = array<i64: 1>, kind = #ds.reduction<sum>} : (!m) -> !r
  %a1 = arith.mulf %a0, %inv : !r
  %ab = ds.broadcast %a1 {dims = array<i64: 0>} : (!r) -> !m
  %dnn = arith.mulf %dn, %n : !m
  %c0 = ds.reduce %dnn {dims = array<i64: 1>, kind = #ds.reduction<sum>} : (!m) -> !r
  %c1 = arith.mulf %c0, %inv : !r
  %cb = ds.broadcast %c1 {dims = array<i64: 0>} : (!r) -> !m
  %nc = arith.mulf %n, %cb : !m
  %e0 = arith.subf %dn, %ab : !m
  %e1 = arith.subf %e0, %nc : !m
  %dx = arith.mulf %e1, %rb : !m
  ds.yield %dx, %dg, %db : !m, !c, !c)";

TEST(NormKernels, LayerNormGradient) {
  ParsedKernel kernel(matrixTypes(70, 770), "!m, !m, !c, !r, !r", "!m, !c, !c", kLayerNormGrad);
  for (int64_t chunks : {1, 7, 64}) {
    CallOptions options;
    options.chunks = chunks;
    options.shared = {{0, 1}};
    EXPECT_TRUE(mayShareBuffer(kernel.op(), 0, 1));
    expectSame(kernel, randomInputs(kernel.op()), 3e-6, options);
  }
}

static const char *kSoftmax = R"(
^bb0(%x: !m):
  %one = arith.constant dense<1.0> : !r
  %max = ds.reduce %x {dims = array<i64: 1>, kind = #ds.reduction<max>} : (!m) -> !r
  %mb = ds.broadcast %max {dims = array<i64: 0>} : (!r) -> !m
  %d = arith.subf %x, %mb : !m
  %e = math.exp %d : !m
  %s = ds.reduce %e {dims = array<i64: 1>, kind = #ds.reduction<sum>} : (!m) -> !r
  %i = arith.divf %one, %s : !r
  %ib = ds.broadcast %i {dims = array<i64: 0>} : (!r) -> !m
  %y = arith.mulf %e, %ib : !m
  ds.yield %y : !m)";

TEST(NormKernels, SoftmaxKeepsItsExponentialsInTheResult) {
  for (int64_t columns : {1, 5, 64, 770}) {
    ParsedKernel kernel(matrixTypes(6, columns), "!m", "!m", kSoftmax);
    mlir::FailureOr<KernelShape> shape = analyzeKernel(kernel.op(), Mesh());
    ASSERT_TRUE(mlir::succeeded(shape));
    EXPECT_TRUE(shape->workspaces.empty()) << "no scratch";
    EXPECT_TRUE(mayShareBuffer(kernel.op(), 0, 0));
    CallOptions inPlace;
    inPlace.shared = {{0, 0}};
    std::vector<Tensor> inputs = randomInputs(kernel.op());
    inputs[0].elements[0] = -1e30;
    inputs[0].elements.back() = 80;
    expectSame(kernel, inputs, 1e-6);
    expectSame(kernel, inputs, 1e-6, inPlace);
  }
}

static const char *kSoftmaxOverTwoDims = R"(
^bb0(%x: !q, %c: !c):
  %cb = ds.broadcast %c {dims = array<i64: 2>} : (!c) -> !q
  %z = arith.addf %x, %cb : !q
  %max = ds.reduce %z {dims = array<i64: 1, 2>, kind = #ds.reduction<max>} : (!q) -> !r
  %mb = ds.broadcast %max {dims = array<i64: 0>} : (!r) -> !q
  %d = arith.subf %z, %mb : !q
  %e = math.exp %d : !q
  %s = ds.reduce %e {dims = array<i64: 1, 2>, kind = #ds.reduction<sum>} : (!q) -> !r
  %f = ds.reduce %z {dims = array<i64: 0, 1>, kind = #ds.reduction<sum>} : (!q) -> !c
  %ff = ds.reduce %z {dims = array<i64: 0, 1, 2>, kind = #ds.reduction<max>} : (!q) -> !s
  %sb = ds.broadcast %s {dims = array<i64: 0>} : (!r) -> !q
  %y = arith.divf %e, %sb : !q
  ds.yield %y, %f, %ff : !q, !c, !s)";

TEST(NormKernels, ColumnsOfTwoGroups) {
  ParsedKernel kernel({"q = tensor<5x4x19xf32>", "r = tensor<5xf32>", "c = tensor<19xf32>", "s = tensor<f32>"},
                      "!q, !c", "!q, !c, !s", kSoftmaxOverTwoDims);
  for (int64_t chunks : {1, 3}) {
    CallOptions options;
    options.chunks = chunks;
    expectSame(kernel, randomInputs(kernel.op()), 2e-6, options);
  }
}

static const std::string kCrossEntropyStart = R"(
  %zero = arith.constant dense<0.0> : !m
  %zeror = arith.constant dense<0.0> : !r
  %ignored = arith.constant dense<7> : !l
  %max = ds.reduce %x {dims = array<i64: 1>, kind = #ds.reduction<max>} : (!m) -> !r
  %mb = ds.broadcast %max {dims = array<i64: 0>} : (!r) -> !m
  %d = arith.subf %x, %mb : !m
  %e = math.exp %d : !m
  %s = ds.reduce %e {dims = array<i64: 1>, kind = #ds.reduction<sum>} : (!m) -> !r
  %valid = arith.cmpi ne, %label, %ignored : !l
  %narrow = arith.trunci %label : !l to !li
  %lb = ds.broadcast %narrow {dims = array<i64: 0>} : (!li) -> !n
  %column = ds.iota {dim = 1 : i64} : () -> !n
  %hit = arith.cmpi eq, %column, %lb : !n
)";

static const std::string kCrossEntropy = "^bb0(%x: !m, %label: !l):" + kCrossEntropyStart + R"(
  %picked = arith.select %hit, %d, %zero : !b, !m
  %target = ds.reduce %picked {dims = array<i64: 1>, kind = #ds.reduction<sum>} : (!m) -> !r
  %log = math.log %s : !r
  %loss = arith.subf %log, %target : !r
  %kept = arith.select %valid, %loss, %zeror : !rb, !r
  %sum = ds.reduce %kept {dims = array<i64: 0>, kind = #ds.reduction<sum>} : (!r) -> !s
  ds.yield %kept, %sum : !r, !s)";

static const std::string kCrossEntropyGrad = "^bb0(%x: !m, %label: !l, %dy: !r):" + kCrossEntropyStart + R"(
  %dyk = arith.select %valid, %dy, %zeror : !rb, !r
  %f = arith.divf %dyk, %s : !r
  %fb = ds.broadcast %f {dims = array<i64: 0>} : (!r) -> !m
  %p = arith.mulf %e, %fb : !m
  %db = ds.broadcast %dyk {dims = array<i64: 0>} : (!r) -> !m
  %t = arith.select %hit, %db, %zero : !b, !m
  %dx = arith.subf %p, %t : !m
  ds.yield %dx : !m)";

TEST(NormKernels, ARowStatisticMeetsAnInputThatIsAlsoAColumn) {
  // The running sum of x along its last dim, times x: x is read along the columns and along the rows.
  ParsedKernel kernel({"x = tensor<3x5xf32>", "t = tensor<5x5xf32>", "y = tensor<3x5x5xf32>"}, "!x, !t", "!x", R"(
^bb0(%x: !x, %triangle: !t):
  %xb = ds.broadcast %x {dims = array<i64: 0, 2>} : (!x) -> !y
  %tb = ds.broadcast %triangle {dims = array<i64: 1, 2>} : (!t) -> !y
  %p = arith.mulf %xb, %tb : !y
  %s = ds.reduce %p {dims = array<i64: 2>, kind = #ds.reduction<sum>} : (!y) -> !x
  %z = arith.mulf %s, %x : !x
  ds.yield %z : !x)");
  expectSame(kernel, randomInputs(kernel.op()), 1e-6);
}

TEST(NormKernels, CrossEntropyAndItsGradient) {
  for (int64_t vocabulary : {50257, 831, 20}) {
    SCOPED_TRACE(vocabulary);
    ParsedKernel loss(matrixTypes(6, vocabulary), "!m, !l", "!r, !s", kCrossEntropy);
    std::vector<Tensor> inputs = randomInputs(loss.op());
    inputs[1].elements[2] = 7; // ignored
    inputs[1].elements[3] = vocabulary - 1;
    CallOptions options;
    options.chunks = 4;
    expectSame(loss, inputs, 2e-6, options);
    ParsedKernel gradient(matrixTypes(6, vocabulary), "!m, !l, !r", "!m", kCrossEntropyGrad);
    inputs.push_back(randomInputs(gradient.op())[2]);
    options.shared = {{0, 0}};
    expectSame(gradient, inputs, 2e-6, options);
  }
}

TEST(NormKernels, AScratchRowHoldsWhatNoResultCan) {
  ParsedKernel kernel(matrixTypes(5, 70), "!m", "!r", R"(
^bb0(%x: !m):
  %e = math.exp %x : !m
  %s = ds.reduce %e {dims = array<i64: 1>, kind = #ds.reduction<sum>} : (!m) -> !r
  %sb = ds.broadcast %s {dims = array<i64: 0>} : (!r) -> !m
  %d = arith.subf %e, %sb : !m
  %dd = arith.mulf %d, %d : !m
  %v = ds.reduce %dd {dims = array<i64: 1>, kind = #ds.reduction<sum>} : (!m) -> !r
  ds.yield %v : !r)");
  mlir::FailureOr<KernelShape> shape = analyzeKernel(kernel.op(), Mesh());
  ASSERT_TRUE(mlir::succeeded(shape));
  ASSERT_EQ(shape->workspaces.size(), 1u);
  EXPECT_EQ(shape->workspaces[0].elements, 70);
  EXPECT_FALSE(shape->hasFinish);
  for (int64_t chunks : {1, 5}) {
    CallOptions options;
    options.chunks = chunks;
    expectSame(kernel, randomInputs(kernel.op()), 2e-6, options);
  }
}
