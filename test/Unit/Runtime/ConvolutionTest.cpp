// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// Convolutions and pools against sums in double.

#include "LibraryPlan.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>

using namespace ds;
using namespace ds::runtime;
using namespace ds::runtime::test;
using plan::LibraryFunction;

namespace {
struct Window {
  int64_t in, kernel, stride = 1, padBegin = 0, padEnd = 0, dilation = 1;
  int64_t out() const { return (in + padBegin + padEnd - (kernel - 1) * dilation - 1) / stride + 1; }
};

struct Case {
  int64_t batch, inputs, outputs, groups;
  std::vector<Window> dims;
};
} // namespace

/// The last three dims; those that are not there have one element.
static std::array<Window, 3> volumeOf(const Case &test) {
  std::array<Window, 3> volume = {Window{1, 1}, Window{1, 1}, Window{1, 1}};
  std::copy_backward(test.dims.begin(), test.dims.end(), volume.end());
  return volume;
}

static int64_t productOver(const Case &test, int64_t (*size)(const Window &)) {
  int64_t product = 1;
  for (const Window &dim : test.dims)
    product *= size(dim);
  return product;
}
static int64_t inputSpace(const Case &test) {
  return productOver(test, [](const Window &dim) { return dim.in; });
}
static int64_t outputSpace(const Case &test) {
  return productOver(test, [](const Window &dim) { return dim.out(); });
}
static int64_t kernelSpace(const Case &test) {
  return productOver(test, [](const Window &dim) { return dim.kernel; });
}

/// Calls body(output place, input place, kernel place) for each element that a window sees, in row-major order.
static void forEachTap(const Case &test, const std::function<void(int64_t, int64_t, int64_t)> &body) {
  const auto [slices, rows, columns] = volumeOf(test);
  const auto meets = [](const Window &dim, int64_t out, int64_t tap) {
    const int64_t place = out * dim.stride - dim.padBegin + tap * dim.dilation;
    return place >= 0 && place < dim.in ? place : -1;
  };
  for (int64_t out = 0; out < outputSpace(test); ++out)
    for (int64_t tap = 0; tap < kernelSpace(test); ++tap) {
      const int64_t line = out / columns.out(), kernelLine = tap / columns.kernel;
      const int64_t slice = meets(slices, line / rows.out(), kernelLine / rows.kernel),
                    row = meets(rows, line % rows.out(), kernelLine % rows.kernel),
                    column = meets(columns, out % columns.out(), tap % columns.kernel);
      if (slice >= 0 && row >= 0 && column >= 0)
        body(out, (slice * rows.in + row) * columns.in + column, tap);
    }
}

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

/// Calls body(output place, weight place, input place) for each product of the convolution.
static void forEachProduct(const Case &test, const std::function<void(size_t, size_t, size_t)> &body) {
  const int64_t perGroup = test.groups ? test.inputs / test.groups : 0;
  for (int64_t image = 0; image < test.batch; ++image)
    for (int64_t channel = 0; channel < test.outputs; ++channel)
      for (int64_t from = 0; from < perGroup; ++from) {
        const int64_t input = channel / (test.outputs / test.groups) * perGroup + from;
        forEachTap(test, [&](int64_t out, int64_t place, int64_t tap) {
          body(size_t((image * test.outputs + channel) * outputSpace(test) + out),
               size_t((channel * perGroup + from) * kernelSpace(test) + tap),
               size_t((image * test.inputs + input) * inputSpace(test) + place));
        });
      }
}

template <typename T> static std::vector<T> random(int64_t count, unsigned seed) {
  const std::vector<float> floats = randomFloats(count, seed);
  return std::vector<T>(floats.begin(), floats.end());
}

template <typename T> inline constexpr plan::DataType kTypeOf = plan::DataType::F32;
template <> inline constexpr plan::DataType kTypeOf<double> = plan::DataType::F64;

template <typename T>
static void expectNear(const std::vector<T> &got, const std::vector<double> &expected, double terms) {
  ASSERT_EQ(got.size(), expected.size());
  double largest = 1;
  for (double value : expected)
    largest = std::max(largest, std::abs(value));
  for (size_t i = 0; i < got.size(); ++i)
    ASSERT_NEAR(got[i], expected[i], (terms + 8) * std::numeric_limits<T>::epsilon() * largest) << "element " << i;
}

/// Returns all results, one after the other.
template <typename T = float> static std::vector<T> checkConvolution(const Case &test, int threads) {
  const int64_t perGroup = test.groups ? test.inputs / test.groups : 0, outSpace = outputSpace(test);
  const std::vector<T> input = random<T>(test.batch * test.inputs * inputSpace(test), 1),
                       weight = random<T>(test.outputs * perGroup * kernelSpace(test), 2),
                       bias = random<T>(test.outputs, 3),
                       gradOutput = random<T>(test.batch * test.outputs * outSpace, 4);
  LibraryPlan program;
  const uint32_t in = program.buffer(input), w = program.buffer(weight), dy = program.buffer(gradOutput),
                 y = program.buffer<T>(int64_t(gradOutput.size())),
                 dx = program.buffer(random<T>(int64_t(input.size()), 5)),
                 dw = program.buffer(random<T>(int64_t(weight.size()), 6)),
                 db = program.buffer(random<T>(test.outputs, 7));
  const std::vector<uint32_t> extents = extentsOf(program, test, {test.batch, test.inputs, test.outputs, test.groups});
  program.addCall(LibraryFunction::Convolution, kTypeOf<T>, {in, w, y, program.buffer(bias)}, extents, intsOf(test));
  program.addCall(LibraryFunction::ConvolutionGradInput, kTypeOf<T>, {dy, w, dx}, extents, intsOf(test));
  program.addCall(LibraryFunction::ConvolutionGradWeight, kTypeOf<T>, {in, dy, dw, db}, extents, intsOf(test));
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
  forEachProduct(test, [&](size_t out, size_t weightPlace, size_t inputPlace) {
    output[out] += double(weight[weightPlace]) * input[inputPlace];
    gradInput[inputPlace] += double(weight[weightPlace]) * gradOutput[out];
    gradWeight[weightPlace] += double(input[inputPlace]) * gradOutput[out];
  });
  const double kernel = double(kernelSpace(test));
  expectNear(program.read<T>(y), output, double(perGroup) * kernel);
  expectNear(program.read<T>(dx), gradInput, double(test.outputs) * kernel);
  expectNear(program.read<T>(dw), gradWeight, double(test.batch * outSpace));
  expectNear(program.read<T>(db), gradBias, double(test.batch * outSpace));
  std::vector<T> all;
  for (uint32_t buffer : {y, dx, dw, db})
    for (T value : program.read<T>(buffer))
      all.push_back(value);
  return all;
}

static const std::vector<Case> kCases = {{2, 3, 8, 1, {{9, 3, 1, 1, 1}, {11, 3, 1, 1, 1}}},
                                         {2, 3, 5, 1, {{9, 3, 2, 1, 1}, {12, 4, 3, 0, 2}}},
                                         {1, 4, 6, 2, {{7, 3, 1, 2, 2, 2}, {8, 2, 1, 1, 0, 3}}},
                                         {2, 6, 6, 6, {{8, 3, 1, 1, 1}, {8, 3, 2, 1, 1}}},
                                         {3, 4, 8, 1, {{17, 5, 2, 2, 2}}},
                                         {1, 16, 32, 1, {{4, 4, 4}, {4, 4, 4}}},
                                         {5, 16, 32, 1, {{24, 3, 1, 1, 1}, {24, 3, 1, 1, 1}}},
                                         {2, 1, 1, 1, {{1, 1}}}};
static const std::vector<Case> kVolumes = {{2, 1, 2, 1, {{5, 2}, {6, 2}, {4, 2}}},
                                           {1, 4, 6, 2, {{5, 2, 2, 1, 0}, {6, 3, 1, 1, 1, 2}, {7, 2, 3, 0, 2}}}};

TEST(Convolution, AgreesWithSumsAndKeepsBits) {
  for (size_t i = 0; i < kCases.size(); ++i)
    EXPECT_EQ(checkConvolution(kCases[i], 1), checkConvolution(kCases[i], 2))
        << "bits of case " << i << " depend on threads";
}

// The bits of oneDNN's gradients depend on threads here.
TEST(Convolution, OfThreeDimsAgreesWithSums) {
  for (const Case &test : kVolumes)
    for (int threads : {1, 2})
      checkConvolution(test, threads);
}

TEST(Convolution, OfDoublesAgreesWithSumsAndKeepsBits) {
  for (const std::vector<Case> &cases : {kCases, kVolumes})
    for (size_t i = 0; i < cases.size(); ++i)
      EXPECT_EQ(checkConvolution<double>(cases[i], 1), checkConvolution<double>(cases[i], 2))
          << "bits of case " << i << " depend on threads";
}

TEST(Convolution, TakesEmptyShards) {
  checkConvolution({0, 3, 8, 1, {{9, 3}, {11, 3}}}, 1);
  checkConvolution({2, 0, 8, 1, {{9, 3}, {11, 3}}}, 1);
  checkConvolution({2, 3, 0, 1, {{9, 3}, {11, 3}}}, 1);
  checkConvolution({2, 0, 0, 0, {{9, 3}}}, 1);
  checkConvolution<double>({0, 3, 8, 1, {{9, 3}, {11, 3}}}, 1);
  checkConvolution<double>({2, 0, 8, 1, {{9, 3}, {11, 3}}}, 1);
  checkConvolution<double>({2, 3, 0, 1, {{9, 3}, {11, 3}}}, 1);
  checkConvolution<double>({2, 0, 0, 0, {{9, 3}}}, 1);
}

TEST(Convolution, RefusesSizesThatDoNotFollow) {
  LibraryPlan program;
  program.addCall(LibraryFunction::Convolution, plan::DataType::F32,
                  {program.buffer<float>(9), program.buffer<float>(3), program.buffer<float>(9)},
                  program.extents({1, 1, 1, 1, 9, 9}), {1, 3, 1, 0, 0, 1});
  EXPECT_NE(program.start().message().find("a window over 9 elements must give 7, got 9"), std::string::npos)
      << program.start();
}

/// The places of the maxima that PyTorch takes, by output of one plane: the first of equal ones, the last NaN.
template <typename T> static std::vector<int64_t> findMaxima(const Case &test, const T *plane) {
  std::vector<int64_t> best(size_t(outputSpace(test)), -1);
  forEachTap(test, [&](int64_t out, int64_t place, int64_t) {
    int64_t &at = best[size_t(out)];
    if (at < 0 || plane[place] > plane[at] || std::isnan(plane[place]))
      at = place;
  });
  return best;
}

template <typename T = float> static void checkMaxPool(int64_t planes, const std::vector<Window> &dims, int threads) {
  const Case test{planes, 0, 0, 0, dims};
  const int64_t outputs = outputSpace(test), inputs = inputSpace(test);
  std::vector<T> input;
  for (int64_t value : randomIndices(planes * inputs, -3, 3, 1)) // few values: many ties
    input.push_back(value == -3 ? std::numeric_limits<T>::quiet_NaN() : static_cast<T>(value));
  const std::vector<T> gradOutput = random<T>(planes * outputs, 2);
  LibraryPlan program;
  const uint32_t in = program.buffer(input), y = program.buffer<T>(planes * outputs),
                 dx = program.buffer<T>(int64_t(input.size()));
  const std::vector<uint32_t> extents = extentsOf(program, test, {planes});
  program.addCall(LibraryFunction::MaxPool, kTypeOf<T>, {in, y}, extents, intsOf(test));
  program.addCall(LibraryFunction::MaxPoolGrad, kTypeOf<T>, {in, program.buffer(gradOutput), dx}, extents,
                  intsOf(test));
  ASSERT_TRUE(program.run(threads).ok());
  const std::vector<T> output = program.read<T>(y);
  std::vector<T> gradInput(input.size(), 0);
  for (int64_t plane = 0; plane < planes; ++plane) {
    const std::vector<int64_t> maxima = findMaxima(test, input.data() + plane * inputs);
    for (int64_t i = 0; i < outputs; ++i) {
      const size_t at = size_t(plane * inputs + maxima[size_t(i)]), out = size_t(plane * outputs + i);
      EXPECT_TRUE(output[out] == input[at] || (std::isnan(output[out]) && std::isnan(input[at])));
      gradInput[at] += gradOutput[out];
    }
  }
  EXPECT_EQ(program.read<T>(dx), gradInput);
}

TEST(MaxPool, TakesTheFirstMaximum) {
  for (int threads : {1, 2}) {
    checkMaxPool(6, {{9, 3, 2, 1, 1}, {8, 2, 2}}, threads);
    checkMaxPool(2, {{9, 3, 1, 1, 1, 2}, {8, 2, 3, 1, 0}}, threads);
    checkMaxPool(3, {{15, 4, 2}}, threads);
    checkMaxPool(0, {{15, 4, 2}}, threads);
    checkMaxPool(4, {{5, 2, 2}, {6, 3, 1, 1, 1}, {7, 2, 3, 1, 0, 2}}, threads);
    checkMaxPool<double>(2, {{9, 3, 1, 1, 1, 2}, {8, 2, 3, 1, 0}}, threads);
  }
}
