// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Interpreter/RandomInputs.h"

#include "ds/Dialect/DsDialect.h"

#include "llvm/Support/xxhash.h"

#include <cmath>
#include <random>

using namespace mlir;
using namespace ds;

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

namespace {
/// Where the floats of a value lie.
struct FloatRange {
  double low = -1, high = 1;
};
} // namespace

static FloatRange rangeOfInput(const Shape &shape) { return shape.empty() ? FloatRange{0.5, 1.5} : FloatRange{-1, 1}; }

static FloatRange rangeOfVariable(VariableRole role, const Shape &shape) {
  switch (role) {
  case VariableRole::OptimizerState:
    return {0.01, 0.1};
  case VariableRole::Buffer:
  case VariableRole::Counter:
    return {0.5, 1.5};
  case VariableRole::Parameter:
  case VariableRole::Gradient:
  case VariableRole::Cache:
    break;
  }
  if (shape.size() < 2)
    return {0.5, 1.5};
  const int64_t fan = elementCount(shape) / std::max<int64_t>(1, std::min(shape.front(), shape.back()));
  const double bound = std::sqrt(3.0 / static_cast<double>(std::max<int64_t>(1, fan)));
  return {-bound, bound};
}

static DenseTensor randomFloats(const Shape &shape, FloatRange range, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> distribution(range.low, range.high);
  DenseTensor tensor = DenseTensor::zeros(shape, true);
  for (double &element : tensor.floats)
    element = distribution(random);
  return tensor;
}

/// Elements of `set` from 0, sometimes one of its others.
static DenseTensor randomInts(const Shape &shape, const IntSet &set, uint64_t seed) {
  std::mt19937_64 random(seed);
  DenseTensor tensor = DenseTensor::zeros(shape, false);
  const int64_t low = std::max<int64_t>(0, set.low), size = std::max<int64_t>(1, set.high - low);
  for (int64_t &element : tensor.ints) {
    const bool isOther = random() % 8 == 0;
    element = low + static_cast<int64_t>(random() % size);
    if (isOther && !set.others.empty())
      element = set.others.front();
  }
  return tensor;
}

/// A small count, from 1.
static DenseTensor randomCounts(const Shape &shape, bool isFloat, uint64_t seed) {
  DenseTensor tensor = randomInts(shape, {0, 4, {}}, seed);
  for (int64_t &element : tensor.ints)
    ++element;
  if (!isFloat)
    return tensor;
  return DenseTensor::ofFloats(shape, std::vector<double>(tensor.ints.begin(), tensor.ints.end()));
}

static void narrow(IntSets &sets, const std::string &name, Value value) {
  const std::optional<IntSet> allowed = findAllowedInts(value, IntUses::Likely);
  if (!allowed)
    return;
  auto [known, isNew] = sets.try_emplace(name, *allowed);
  if (!isNew)
    known->second.intersect(*allowed);
}

void ds::narrowIntSets(func::FuncOp function, IntSets &sets) {
  for (BlockArgument argument : function.getArguments())
    narrow(sets, argumentName(function, argument.getArgNumber()), argument);
  function.walk([&](ReadOp op) { narrow(sets, "@" + op.getVariable().str(), op.getResult()); });
}

RandomInputs ds::randomInputs(ArrayRef<func::FuncOp> functions, uint64_t seed) {
  IntSets sets;
  for (func::FuncOp function : functions)
    narrowIntSets(function, sets);
  return randomInputs(functions, seed, sets);
}

RandomInputs ds::randomInputs(ArrayRef<func::FuncOp> functions, uint64_t seed, const IntSets &sets) {
  auto setOf = [&](const std::string &name) {
    auto known = sets.find(name);
    return known == sets.end() ? IntSet{0, 2, {}} : known->second;
  };
  auto seedOf = [seed](StringRef name) { return llvm::xxh3_64bits(name) ^ (seed * 0x9E3779B97F4A7C15); };
  auto isFloat = [](Type type) { return isa<FloatType>(elementTypeOf(type)); };
  RandomInputs result;
  for (func::FuncOp function : functions) {
    for (BlockArgument argument : function.getArguments()) {
      const std::string name = argumentName(function, argument.getArgNumber());
      const Shape shape = shapeOf(argument.getType());
      result.inputs[name] = isFloat(argument.getType()) ? randomFloats(shape, rangeOfInput(shape), seedOf(name))
                                                        : randomInts(shape, setOf(name), seedOf(name));
    }
    for (VariableOp op : function->getParentOfType<ModuleOp>().getOps<VariableOp>()) {
      const std::string name = op.getSymName().str();
      const Shape shape = shapeOf(op.getType());
      DenseTensor &value = result.variables[name];
      if (op.getRole() == VariableRole::Counter)
        value = randomCounts(shape, isFloat(op.getType()), seedOf(name));
      else
        value = isFloat(op.getType()) ? randomFloats(shape, rangeOfVariable(op.getRole(), shape), seedOf(name))
                                      : randomInts(shape, setOf("@" + name), seedOf(name));
    }
  }
  return result;
}
