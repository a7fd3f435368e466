// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Interpreter/CompareRuns.h"

#include <limits>

using namespace mlir;
using namespace ds;

/// All values that a run gives, by what they are.
static TensorMap valuesOf(FunctionRun run) {
  TensorMap values;
  for (FunctionResult &result : run.results) {
    const std::string name =
        result.gradientOf.empty() ? "result \"" + result.name + "\"" : "gradient of @" + result.gradientOf;
    values[name] = std::move(result.value);
  }
  for (auto &[name, value] : run.assigned)
    values["variable @" + name] = std::move(value);
  return values;
}

static FailureOr<TensorMap> runOn(func::FuncOp function, const RandomInputs &inputs, uint64_t seed) {
  InterpreterOptions options;
  options.seed = seed;
  Interpreter interpreter(function->getParentOfType<ModuleOp>(), options);
  for (const auto &[name, value] : inputs.variables)
    interpreter.setVariable(name, value);
  FailureOr<FunctionRun> run = interpreter.run(function, inputs.inputs);
  if (failed(run))
    return failure();
  return valuesOf(std::move(*run));
}

FailureOr<std::optional<ValueChange>> ds::compareRuns(func::FuncOp before, func::FuncOp after,
                                                      const CompareOptions &options) {
  std::optional<ValueChange> worst;
  IntSets sets = options.intSets;
  narrowIntSets(before, sets);
  narrowIntSets(after, sets);
  for (unsigned sample = 0; sample < options.samples; ++sample) {
    const uint64_t seed = options.seed + sample;
    const RandomInputs inputs = randomInputs({before, after}, seed, sets);
    FailureOr<TensorMap> expected = runOn(before, inputs, seed), found = runOn(after, inputs, seed);
    if (failed(expected) || failed(found))
      return failure();
    for (const auto &[name, value] : *expected) {
      auto other = found->find(name);
      const double error =
          other == found->end() ? std::numeric_limits<double>::infinity() : relativeError(value, other->second);
      if (error > options.tolerance && (!worst || error > worst->error))
        worst = ValueChange{name, error};
    }
  }
  return worst;
}
