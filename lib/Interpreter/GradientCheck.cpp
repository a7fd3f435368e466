// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Interpreter/GradientCheck.h"

#include "ds/Interpreter/RandomInputs.h"

#include <algorithm>
#include <cmath>
#include <random>

using namespace mlir;
using namespace ds;

namespace {
/// The scalar as a function of the variables.
class ScalarFunction {
public:
  ScalarFunction(func::FuncOp function, const RandomInputs &inputs)
      : function(function), interpreter(function->getParentOfType<ModuleOp>()), inputs(inputs) {
    for (const auto &[name, value] : inputs.variables)
      interpreter.setVariable(name, value);
  }

  /// The derivative along `direction` of variable `name`.
  FailureOr<double> derivative(const std::string &name, const std::vector<double> &direction, double step) {
    FailureOr<double> high = valueAt(name, direction, step), low = valueAt(name, direction, -step);
    interpreter.setVariable(name, inputs.variables.at(name));
    if (failed(high) || failed(low))
      return failure();
    return (*high - *low) / (2 * step);
  }

private:
  FailureOr<double> valueAt(const std::string &name, const std::vector<double> &direction, double step) {
    DenseTensor moved = inputs.variables.at(name);
    for (size_t i = 0; i < direction.size(); ++i)
      moved.floats[i] += step * direction[i];
    interpreter.setVariable(name, std::move(moved));
    FailureOr<FunctionRun> run = interpreter.run(function, inputs.inputs);
    if (failed(run))
      return failure();
    for (const FunctionResult &result : run->results)
      if (result.gradientOf.empty() && result.value.isFloat && result.value.shape.empty())
        return result.value.floats[0];
    return function.emitOpError("must have a scalar float result");
  }

  func::FuncOp function;
  Interpreter interpreter;
  const RandomInputs &inputs;
};
} // namespace

/// One random direction, and the unit directions of some entries.
static std::vector<std::vector<double>> directionsOf(size_t size, const GradientCheckOptions &options) {
  std::mt19937_64 random(options.seed);
  std::vector<std::vector<double>> directions(1, std::vector<double>(size));
  for (double &entry : directions.front())
    entry = std::uniform_real_distribution<double>(-1, 1)(random) / std::sqrt(static_cast<double>(size));
  const bool isSmall = size <= options.entries;
  for (size_t i = 0; i < (isSmall ? size : options.entries); ++i) {
    directions.emplace_back(size);
    directions.back()[isSmall ? i : random() % size] = 1;
  }
  return directions;
}

static double largestEntry(const DenseTensor &tensor) {
  double largest = 0;
  for (double entry : tensor.floats)
    largest = std::max(largest, std::fabs(entry));
  return largest;
}

FailureOr<std::vector<GradientError>> ds::checkGradients(func::FuncOp scalar, func::FuncOp gradients,
                                                         const GradientCheckOptions &options) {
  const RandomInputs inputs = randomInputs({scalar, gradients}, options.seed);
  Interpreter interpreter(gradients->getParentOfType<ModuleOp>());
  for (const auto &[name, value] : inputs.variables)
    interpreter.setVariable(name, value);
  FailureOr<FunctionRun> run = interpreter.run(gradients, inputs.inputs);
  if (failed(run))
    return failure();
  double largest = 0;
  for (const FunctionResult &result : run->results)
    if (!result.gradientOf.empty())
      largest = std::max(largest, largestEntry(result.value));
  ScalarFunction function(scalar, inputs);
  std::vector<GradientError> errors;
  for (const FunctionResult &result : run->results) {
    if (result.gradientOf.empty())
      continue;
    double worst = 0;
    for (const std::vector<double> &direction : directionsOf(result.value.floats.size(), options)) {
      FailureOr<double> expected = function.derivative(result.gradientOf, direction, options.step);
      if (failed(expected))
        return failure();
      double found = 0;
      for (size_t i = 0; i < direction.size(); ++i)
        found += direction[i] * result.value.floats[i];
      const double error = std::fabs(found - *expected);
      worst = std::isnan(error) ? error : std::max(worst, error);
    }
    const double scale = std::max({largestEntry(result.value), 1e-3 * largest, 1e-300});
    errors.push_back({result.gradientOf, worst / scale});
  }
  if (errors.empty())
    return gradients.emitOpError("must have a result with ds.gradient");
  return errors;
}
