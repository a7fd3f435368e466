// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Interpreter/RandomInputs.h"

#include "ds/Dialect/DsDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/xxhash.h"

#include <cmath>
#include <random>

using namespace mlir;
using namespace ds;

//===----------------------------------------------------------------------===//
// Ranges of integers, from their uses
//===----------------------------------------------------------------------===//

namespace {
/// Follows the uses of integers to the ops that index with them.
class IdRangeFinder {
public:
  explicit IdRangeFinder(IdRange &range) : range(range) {}

  void visit(Value value) {
    if (!visited.insert(value).second)
      return;
    for (OpOperand &use : value.getUses())
      visitUse(use);
  }

private:
  void meet(int64_t size) { range.size = std::min(range.size.value_or(size), size); }

  static int64_t dimSize(Value value, int64_t dim) { return cast<RankedTensorType>(value.getType()).getDimSize(dim); }

  template <typename OpT> void visitLabels(OpT op, OpOperand &use) {
    if (use.get() != op.getLabels())
      return;
    meet(op.getLogits().getType().getShape().back());
    range.ignored = static_cast<int64_t>(op.getIgnoreIndex());
  }

  void visitUse(OpOperand &use) {
    const unsigned number = use.getOperandNumber();
    llvm::TypeSwitch<Operation *>(use.getOwner())
        .Case([&](GatherRowsOp op) { number == 1 ? meet(dimSize(op.getTable(), 0)) : visit(op.getResult()); })
        .Case([&](ScatterAddRowsOp op) { meet(dimSize(op.getResult(), 0)); })
        .Case([&](GatherElementsOp op) {
          number == 1 ? meet(dimSize(op.getInput(), op.getDim())) : visit(op.getResult());
        })
        .Case([&](ScatterElementsOp op) {
          number == 0 ? meet(dimSize(op.getResult(), op.getDim())) : visit(op.getResult());
        })
        .Case([&](CrossEntropyOp op) { visitLabels(op, use); })
        .Case([&](CrossEntropyGradOp op) { visitLabels(op, use); })
        .Case([&](TakePartOp op) { number == 1 ? meet(op.getParts()) : visit(op.getResult()); })
        .Case([&](WaitOp op) { visit(op.getResults()[number - 1]); })
        .Case([&](KernelOp op) { visit(op.getBody().getArgument(number)); })
        .Case([&](scf::ForOp op) { visitLoop(op, use); })
        .Case([&](scf::YieldOp op) { visitYield(op, number); })
        .Case<arith::SelectOp, WhereOp>([&](auto op) {
          if (number > 0)
            visit(op->getResult(0));
        })
        // Ops that move integers and do not change them.
        .Case<AllGatherOp, AllReduceOp, AllToAllOp, BroadcastOp, ConcatOp, ConstrainOp, CopyOp, FenceOp,
              ReduceScatterOp, RelayoutOp, RemapOp, ReshapeOp, SliceOp, TakeShardOp, ToPartialOp, TransferOp,
              TransposeOp, arith::ExtSIOp, arith::ExtUIOp, arith::IndexCastOp, arith::TruncIOp>(
            [&](auto op) { visit(op->getResult(0)); });
  }

  void visitLoop(scf::ForOp op, OpOperand &use) {
    if (BlockArgument argument = op.getTiedLoopRegionIterArg(&use)) {
      visit(argument);
      visit(op.getTiedLoopResult(&use));
    }
  }

  void visitYield(scf::YieldOp op, unsigned number) {
    if (auto loop = dyn_cast<scf::ForOp>(op->getParentOp())) {
      visit(loop.getRegionIterArg(number));
      visit(loop.getResult(number));
    }
  }

  IdRange &range;
  DenseSet<Value> visited;
};
} // namespace

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

static DenseTensor randomInts(const Shape &shape, const IdRange &range, uint64_t seed) {
  std::mt19937_64 random(seed);
  DenseTensor tensor = DenseTensor::zeros(shape, false);
  for (int64_t &element : tensor.ints) {
    const bool isIgnored = random() % 8 == 0;
    element = static_cast<int64_t>(random() % std::max<int64_t>(1, range.size.value_or(2)));
    if (range.ignored && isIgnored)
      element = *range.ignored;
  }
  return tensor;
}

/// A small count, from 1.
static DenseTensor randomCounts(const Shape &shape, bool isFloat, uint64_t seed) {
  DenseTensor tensor = randomInts(shape, {4, std::nullopt}, seed);
  for (int64_t &element : tensor.ints)
    ++element;
  if (!isFloat)
    return tensor;
  return DenseTensor::ofFloats(shape, std::vector<double>(tensor.ints.begin(), tensor.ints.end()));
}

void ds::findIdRanges(func::FuncOp function, IdRanges &ranges) {
  for (BlockArgument argument : function.getArguments())
    IdRangeFinder(ranges[argumentName(function, argument.getArgNumber())]).visit(argument);
  function.walk([&](ReadOp op) { IdRangeFinder(ranges["@" + op.getVariable().str()]).visit(op.getResult()); });
}

RandomInputs ds::randomInputs(ArrayRef<func::FuncOp> functions, uint64_t seed) {
  IdRanges ranges;
  for (func::FuncOp function : functions)
    findIdRanges(function, ranges);
  return randomInputs(functions, seed, ranges);
}

RandomInputs ds::randomInputs(ArrayRef<func::FuncOp> functions, uint64_t seed, const IdRanges &ranges) {
  auto rangeOf = [&](const std::string &name) {
    auto known = ranges.find(name);
    return known == ranges.end() ? IdRange() : known->second;
  };
  auto seedOf = [seed](StringRef name) { return llvm::xxh3_64bits(name) ^ (seed * 0x9E3779B97F4A7C15); };
  auto isFloat = [](Type type) { return isa<FloatType>(elementTypeOf(type)); };
  RandomInputs result;
  for (func::FuncOp function : functions) {
    for (BlockArgument argument : function.getArguments()) {
      const std::string name = argumentName(function, argument.getArgNumber());
      const Shape shape = shapeOf(argument.getType());
      result.inputs[name] = isFloat(argument.getType()) ? randomFloats(shape, rangeOfInput(shape), seedOf(name))
                                                        : randomInts(shape, rangeOf(name), seedOf(name));
    }
    for (VariableOp op : function->getParentOfType<ModuleOp>().getOps<VariableOp>()) {
      const std::string name = op.getSymName().str();
      const Shape shape = shapeOf(op.getType());
      DenseTensor &value = result.variables[name];
      if (op.getRole() == VariableRole::Counter)
        value = randomCounts(shape, isFloat(op.getType()), seedOf(name));
      else
        value = isFloat(op.getType()) ? randomFloats(shape, rangeOfVariable(op.getRole(), shape), seedOf(name))
                                      : randomInts(shape, rangeOf("@" + name), seedOf(name));
    }
  }
  return result;
}
