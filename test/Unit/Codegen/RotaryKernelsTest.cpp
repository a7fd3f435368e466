// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// Kernels of rotary embeddings, for tables of any dims and halves that fill no vector, beside naive ones in f64.

#include "ObjectCall.h"
#include "SharedContext.h"

#include "ds/Codegen/Cpu.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstring>
#include <map>
#include <numeric>
#include <random>

using namespace mlir;
using namespace ds;
using namespace ds::test;

namespace {
using Sizes = std::vector<int64_t>;

struct Rotation {
  Sizes shape;
  Sizes dims; ///< that the tables have, before their columns
  bool isWhole = false;
  std::string cpu = "native";
  int64_t chunks = 3;
  bool isStreamed = false;

  int64_t width() const { return shape.back(); }
  int64_t columns() const { return isWhole ? width() : width() / 2; }
  int64_t rows() const { return product(shape) / width(); }
  Sizes tableShape() const {
    Sizes result;
    for (int64_t dim : dims)
      result.push_back(shape[dim]);
    result.push_back(columns());
    return result;
  }
  static int64_t product(llvm::ArrayRef<int64_t> sizes) {
    return std::accumulate(sizes.begin(), sizes.end(), int64_t(1), std::multiplies<>());
  }
};
} // namespace

static std::string typeOf(const Sizes &shape) {
  std::string text = "tensor<";
  for (int64_t size : shape)
    text += std::to_string(size) + "x";
  return text + "f32>";
}

static std::vector<float> randomFloats(int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> real(-2, 2);
  std::vector<float> numbers(count);
  for (float &number : numbers)
    number = real(random);
  return numbers;
}

/// The row of the tables for a row of the input.
static int64_t tableRow(const Rotation &rotation, int64_t row) {
  Sizes place(rotation.shape.size() - 1);
  for (size_t dim = place.size(); dim-- > 0; row /= rotation.shape[dim])
    place[dim] = row % rotation.shape[dim];
  int64_t result = 0;
  for (int64_t dim : rotation.dims)
    result = result * rotation.shape[dim] + place[dim];
  return result;
}

static OwningOpRef<ModuleOp> parse(const Rotation &rotation) {
  const std::string type = typeOf(rotation.shape), table = typeOf(rotation.tableShape());
  std::string dims;
  for (int64_t dim : rotation.dims)
    dims += (dims.empty() ? ": " : ", ") + std::to_string(dim);
  return parseSourceString<ModuleOp>("func.func @f(%x: " + type + ", %c: " + table + ", %s: " + table + ") {\n" +
                                         "%y = ds.rotary_embedding %x, %c, %s {dims = array<i64" + dims + ">} : (" +
                                         type + ", " + table + ", " + table + ") -> " + type + "\nreturn\n}\n",
                                     &sharedContext());
}

/// The code of all rotations with one hash is the same, whatever the sizes.
static KernelFunction *compile(RotaryEmbeddingOp op, const std::string &cpu) {
  static std::map<std::string, std::unique_ptr<LoadedObject>> objects;
  FailureOr<std::unique_ptr<KernelCompiler>> compiler = createCpuCompiler(&sharedContext(), {cpu, 1});
  if (failed(compiler))
    llvm::report_fatal_error("no compiler");
  const std::string hash = (*compiler)->add(op, Mesh())->hash;
  std::unique_ptr<LoadedObject> &object = objects[cpu + hash];
  if (!object) {
    FailureOr<std::vector<uint8_t>> bytes = (*compiler)->finish();
    if (failed(bytes))
      llvm::report_fatal_error("no object");
    object = std::make_unique<LoadedObject>(*bytes);
  }
  return object->find<KernelFunction>(kernelSymbol(hash));
}

/// As the plan has them: pairs of length and offset.
static Sizes extentsOf(const Rotation &rotation, RotaryEmbeddingOp op) {
  Sizes extents;
  int64_t next = static_cast<int64_t>(rotation.shape.size()) - 1;
  auto add = [&](int64_t begin, int64_t end) {
    const int64_t size = Rotation::product(llvm::ArrayRef(rotation.shape).slice(begin, end - begin));
    extents.insert(extents.end(), {size, 0});
  };
  for (auto [begin, end] : op.getTableRuns()) {
    add(end, next);
    add(begin, end);
    next = begin;
  }
  extents.insert(extents.end(), {rotation.width(), 0});
  return extents;
}

/// In place.
static std::vector<float> compileAndCall(const Rotation &rotation, const std::vector<float> &input,
                                         const std::vector<float> &cosine, const std::vector<float> &sine) {
  OwningOpRef<ModuleOp> module = parse(rotation);
  if (!module)
    llvm::report_fatal_error("must parse");
  RotaryEmbeddingOp op;
  module->walk([&](RotaryEmbeddingOp found) { op = found; });
  op.setStreamed(rotation.isStreamed);
  KernelFunction *function = compile(op, rotation.cpu);
  std::vector<GuardedBuffer> memory;
  memory.reserve(3);
  std::vector<void *> buffers;
  for (const std::vector<float> *numbers : {&input, &cosine, &sine}) {
    buffers.push_back(memory.emplace_back(numbers->size() * sizeof(float)).data());
    std::memcpy(buffers.back(), numbers->data(), numbers->size() * sizeof(float));
  }
  buffers.push_back(buffers.front());
  const Sizes extents = extentsOf(rotation, op);
  const int64_t rows = rotation.rows(), chunks = rotation.chunks;
  for (int64_t chunk = chunks; chunk-- > 0;) // in any order
    function(buffers.data(), extents.data(), chunk * rows / chunks, (chunk + 1) * rows / chunks, chunk);
  for (GuardedBuffer &buffer : memory)
    buffer.checkGuard();
  std::vector<float> result(input.size());
  std::memcpy(result.data(), buffers.front(), result.size() * sizeof(float));
  return result;
}

static void expectSame(const Rotation &rotation) {
  const int64_t width = rotation.width(), half = width / 2, angles = Rotation::product(rotation.tableShape());
  const std::vector<float> x = randomFloats(Rotation::product(rotation.shape), 1), cosine = randomFloats(angles, 2),
                           sine = randomFloats(angles, 3);
  const std::vector<float> result = compileAndCall(rotation, x, cosine, sine);
  double apart = 0;
  for (int64_t row = 0; row < rotation.rows(); ++row)
    for (int64_t i = 0; i < half; ++i) {
      const int64_t first = row * width + i, second = first + half;
      const int64_t angle1 = tableRow(rotation, row) * rotation.columns() + i,
                    angle2 = angle1 + (rotation.isWhole ? half : 0);
      const double x1 = x[first], x2 = x[second];
      apart = std::max(apart, std::abs(x1 * cosine[angle1] - x2 * sine[angle1] - result[first]));
      apart = std::max(apart, std::abs(x2 * cosine[angle2] + x1 * sine[angle2] - result[second]));
    }
  // Two products of up to 4 and their sum, each rounded: 3 * 8 * 2^-24.
  EXPECT_LE(apart, 1.5e-6);
}

static const int64_t kWidths[] = {2, 6, 14, 34, 62, 64, 130, 1024};

TEST(RotaryKernels, AnyWidth) {
  for (int64_t width : kWidths)
    for (bool isWhole : {false, true}) {
      SCOPED_TRACE(width);
      expectSame({{2, 3, 5, width}, {2}, isWhole});
    }
}

TEST(RotaryKernels, StreamedRowsOfAnyWidth) {
  for (int64_t width : kWidths) {
    SCOPED_TRACE(width);
    Rotation rotation{{7, width}, {}};
    rotation.isStreamed = true;
    expectSame(rotation);
  }
}

TEST(RotaryKernels, AllRowsAlike) {
  for (int64_t width : kWidths)
    for (bool isWhole : {false, true}) {
      SCOPED_TRACE(width);
      expectSame({{7, width}, {}, isWhole});
    }
}

TEST(RotaryKernels, TablesOfAnyDims) {
  for (const Sizes &dims : {Sizes{0}, {1}, {2}, {0, 1}, {0, 2}, {1, 3}, {0, 2, 3}, {0, 1, 2, 3}})
    for (bool isWhole : {false, true}) {
      SCOPED_TRACE(::testing::PrintToString(dims));
      expectSame({{3, 2, 5, 4, 22}, dims, isWhole});
    }
}

TEST(RotaryKernels, OneRow) { expectSame({{10}, {}, /*isWhole=*/true}); }

TEST(RotaryKernels, OtherCpus) {
  for (std::string cpu : {"x86-64", "x86-64-v3"}) {
    if (cpu == "x86-64-v3" && !(__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")))
      continue;
    expectSame({{2, 3, 5, 38}, {0, 2}, /*isWhole=*/true, cpu});
  }
}
