// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// Convolutions and pools against sums in double.

#include "LibraryPlan.h"

#include <functional>
#include <limits>

using namespace ds;
using namespace ds::runtime;
using namespace ds::runtime::test;
using plan::LibraryFunction;

namespace {
/// In one dimension the rows are {1, 1, 1, 0, 0, 1}.
struct Window {
  int64_t in, kernel, stride = 1, padBegin = 0, padEnd = 0, dilation = 1;
  int64_t out() const { return (in + padBegin + padEnd - (kernel - 1) * dilation - 1) / stride + 1; }
};

struct Case {
  int64_t batch, inputs, outputs, groups;
  std::vector<Window> dims;
};
} // namespace

static Window rowsOf(const Case &test) { return test.dims.size() == 2 ? test.dims[0] : Window{1, 1}; }
static Window columnsOf(const Case &test) { return test.dims.back(); }

static std::vector<int64_t> intsOf(const Case &test) {
  std::vector<int64_t> ints = {static_cast<int64_t>(test.dims.size())};
  for (int64_t Window::*field :
       {&Window::kernel, &Window::stride, &Window::padBegin, &Window::padEnd, &Window::dilation})
    for (const Window &dim : test.dims)
      ints.push_back(dim.*field);
  return ints;
}

static std::vector<uint32_t> extentsOf(PlanProgram &program, const Case &test, std::vector<int64_t> sizes) {
  for (const Window &dim : test.dims)
    sizes.push_back(dim.in);
  for (const Window &dim : test.dims)
    sizes.push_back(dim.out());
  return program.extents(sizes);
}

/// Calls body(output place, weight place, input place, output channel) for each product of the convolution.
static void forEachProduct(const Case &test, const std::function<void(size_t, size_t, size_t, size_t)> &body) {
  const Window rows = rowsOf(test), columns = columnsOf(test);
  const int64_t perGroup = test.groups ? test.inputs / test.groups : 0;
  for (int64_t image = 0; image < test.batch; ++image)
    for (int64_t channel = 0; channel < test.outputs; ++channel)
      for (int64_t y = 0; y < rows.out(); ++y)
        for (int64_t x = 0; x < columns.out(); ++x)
          for (int64_t from = 0; from < perGroup; ++from)
            for (int64_t i = 0; i < rows.kernel; ++i)
              for (int64_t j = 0; j < columns.kernel; ++j) {
                const int64_t row = y * rows.stride - rows.padBegin + i * rows.dilation;
                const int64_t column = x * columns.stride - columns.padBegin + j * columns.dilation;
                if (row < 0 || row >= rows.in || column < 0 || column >= columns.in)
                  continue;
                const int64_t input = channel / (test.outputs / test.groups) * perGroup + from;
                body(size_t(((image * test.outputs + channel) * rows.out() + y) * columns.out() + x),
                     size_t(((channel * perGroup + from) * rows.kernel + i) * columns.kernel + j),
                     size_t(((image * test.inputs + input) * rows.in + row) * columns.in + column), size_t(channel));
              }
}

static void expectNear(const std::vector<float> &got, const std::vector<double> &expected, double terms) {
  ASSERT_EQ(got.size(), expected.size());
  double largest = 1;
  for (double value : expected)
    largest = std::max(largest, std::abs(value));
  for (size_t i = 0; i < got.size(); ++i)
    ASSERT_NEAR(got[i], expected[i], (terms + 8) * std::numeric_limits<float>::epsilon() * largest) << "element " << i;
}

/// Returns all results, one after the other.
static std::vector<float> checkConvolution(const Case &test, int threads) {
  const Window rows = rowsOf(test), columns = columnsOf(test);
  const int64_t perGroup = test.groups ? test.inputs / test.groups : 0, outSpace = rows.out() * columns.out();
  const std::vector<float> input = randomFloats(test.batch * test.inputs * rows.in * columns.in, 1),
                           weight = randomFloats(test.outputs * perGroup * rows.kernel * columns.kernel, 2),
                           bias = randomFloats(test.outputs, 3),
                           gradOutput = randomFloats(test.batch * test.outputs * outSpace, 4);
  LibraryPlan program;
  const uint32_t in = program.buffer(input), w = program.buffer(weight), dy = program.buffer(gradOutput),
                 y = program.buffer<float>(int64_t(gradOutput.size())),
                 dx = program.buffer(randomFloats(int64_t(input.size()), 5)),
                 dw = program.buffer(randomFloats(int64_t(weight.size()), 6)),
                 db = program.buffer(randomFloats(test.outputs, 7));
  const std::vector<uint32_t> extents = extentsOf(program, test, {test.batch, test.inputs, test.outputs, test.groups});
  program.addCall(LibraryFunction::Convolution, plan::DataType::F32, {in, w, y, program.buffer(bias)}, extents,
                  intsOf(test));
  program.addCall(LibraryFunction::ConvolutionGradInput, plan::DataType::F32, {dy, w, dx}, extents, intsOf(test));
  program.addCall(LibraryFunction::ConvolutionGradWeight, plan::DataType::F32, {in, dy, dw, db}, extents, intsOf(test));
  const absl::Status status = program.run(threads);
  EXPECT_TRUE(status.ok()) << status;
  if (!status.ok())
    return {};
  std::vector<double> output(gradOutput.size()), gradInput(input.size(), 0), gradWeight(weight.size(), 0),
      gradBias(bias.size(), 0);
  for (size_t i = 0; i < output.size(); ++i) {
    const size_t channel = i / size_t(outSpace) % size_t(test.outputs);
    output[i] = bias[channel];
    gradBias[channel] += gradOutput[i];
  }
  forEachProduct(test, [&](size_t out, size_t weightPlace, size_t inputPlace, size_t) {
    output[out] += double(weight[weightPlace]) * input[inputPlace];
    gradInput[inputPlace] += double(weight[weightPlace]) * gradOutput[out];
    gradWeight[weightPlace] += double(input[inputPlace]) * gradOutput[out];
  });
  const double kernel = double(rows.kernel * columns.kernel);
  expectNear(program.read<float>(y), output, double(perGroup) * kernel);
  expectNear(program.read<float>(dx), gradInput, double(test.outputs) * kernel);
  expectNear(program.read<float>(dw), gradWeight, double(test.batch * outSpace));
  expectNear(program.read<float>(db), gradBias, double(test.batch * outSpace));
  std::vector<float> all;
  for (uint32_t buffer : {y, dx, dw, db})
    for (float value : program.read<float>(buffer))
      all.push_back(value);
  return all;
}

TEST(Convolution, AgreesWithSumsAndKeepsBits) {
  const std::vector<Case> cases = {{2, 3, 8, 1, {{9, 3, 1, 1, 1}, {11, 3, 1, 1, 1}}},
                                   {2, 3, 5, 1, {{9, 3, 2, 1, 1}, {12, 4, 3, 0, 2}}},
                                   {1, 4, 6, 2, {{7, 3, 1, 2, 2, 2}, {8, 2, 1, 1, 0, 3}}},
                                   {2, 6, 6, 6, {{8, 3, 1, 1, 1}, {8, 3, 2, 1, 1}}},
                                   {3, 4, 8, 1, {{17, 5, 2, 2, 2}}},
                                   {1, 16, 32, 1, {{4, 4, 4}, {4, 4, 4}}},
                                   {5, 16, 32, 1, {{24, 3, 1, 1, 1}, {24, 3, 1, 1, 1}}},
                                   {2, 1, 1, 1, {{1, 1}}}};
  for (size_t i = 0; i < cases.size(); ++i)
    EXPECT_EQ(checkConvolution(cases[i], 1), checkConvolution(cases[i], 2))
        << "bits of case " << i << " depend on threads";
}

TEST(Convolution, TakesEmptyShards) {
  checkConvolution({0, 3, 8, 1, {{9, 3}, {11, 3}}}, 1);
  checkConvolution({2, 0, 8, 1, {{9, 3}, {11, 3}}}, 1);
  checkConvolution({2, 3, 0, 1, {{9, 3}, {11, 3}}}, 1);
  checkConvolution({2, 0, 0, 0, {{9, 3}}}, 1);
}

TEST(Convolution, RefusesSizesThatDoNotFollow) {
  LibraryPlan program;
  program.addCall(LibraryFunction::Convolution, plan::DataType::F32,
                  {program.buffer<float>(9), program.buffer<float>(3), program.buffer<float>(9)},
                  program.extents({1, 1, 1, 1, 9, 9}), {1, 3, 1, 0, 0, 1});
  EXPECT_NE(program.start().message().find("a window over 9 elements must give 7, got 9"), std::string::npos)
      << program.start();
}

/// The place of the maximum that PyTorch takes: the first, the last NaN.
static int64_t findMaximum(const std::vector<float> &input, int64_t plane, int64_t y, int64_t x, const Window &rows,
                           const Window &columns) {
  int64_t best = -1;
  for (int64_t i = 0; i < rows.kernel; ++i)
    for (int64_t j = 0; j < columns.kernel; ++j) {
      const int64_t row = y * rows.stride - rows.padBegin + i * rows.dilation;
      const int64_t column = x * columns.stride - columns.padBegin + j * columns.dilation;
      if (row < 0 || row >= rows.in || column < 0 || column >= columns.in)
        continue;
      const int64_t at = (plane * rows.in + row) * columns.in + column;
      if (best < 0 || input[size_t(at)] > input[size_t(best)] || std::isnan(input[size_t(at)]))
        best = at;
    }
  return best;
}

static void checkMaxPool(int64_t planes, const std::vector<Window> &dims, int threads) {
  const Case test{planes, 0, 0, 0, dims};
  const Window rows = rowsOf(test), columns = columnsOf(test);
  const int64_t outputs = planes * rows.out() * columns.out();
  std::vector<float> input;
  for (int64_t value : randomIndices(planes * rows.in * columns.in, -3, 3, 1)) // few values: many ties
    input.push_back(value == -3 ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(value));
  const std::vector<float> gradOutput = randomFloats(outputs, 2);
  LibraryPlan program;
  const uint32_t in = program.buffer(input), y = program.buffer<float>(outputs),
                 dx = program.buffer<float>(int64_t(input.size()));
  const std::vector<uint32_t> extents = extentsOf(program, test, {planes});
  program.addCall(LibraryFunction::MaxPool, plan::DataType::F32, {in, y}, extents, intsOf(test));
  program.addCall(LibraryFunction::MaxPoolGrad, plan::DataType::F32, {in, program.buffer(gradOutput), dx}, extents,
                  intsOf(test));
  ASSERT_TRUE(program.run(threads).ok());
  std::vector<float> gradInput(input.size(), 0);
  for (int64_t i = 0; i < outputs; ++i) {
    const int64_t space = rows.out() * columns.out();
    const int64_t at = findMaximum(input, i / space, i % space / columns.out(), i % columns.out(), rows, columns);
    const float expected = input[size_t(at)], got = program.read<float>(y)[size_t(i)];
    EXPECT_TRUE(got == expected || (std::isnan(got) && std::isnan(expected)));
    gradInput[size_t(at)] += gradOutput[size_t(i)];
  }
  EXPECT_EQ(program.read<float>(dx), gradInput);
}

TEST(MaxPool, TakesTheFirstMaximum) {
  for (int threads : {1, 2}) {
    checkMaxPool(6, {{9, 3, 2, 1, 1}, {8, 2, 2}}, threads);
    checkMaxPool(2, {{9, 3, 1, 1, 1, 2}, {8, 2, 3, 1, 0}}, threads);
    checkMaxPool(3, {{15, 4, 2}}, threads);
    checkMaxPool(0, {{15, 4, 2}}, threads);
  }
}
