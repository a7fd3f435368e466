// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "Semantics.h"

#include "ds/Dialect/DsDialect.h"

#include <cmath>

using namespace mlir;
using namespace ds;

static double geluByErf(double x) { return x / 2 * (1 + std::erf(x * M_SQRT1_2)); }
static double geluByTanh(double x) { return x / 2 * (1 + std::tanh(std::sqrt(M_2_PI) * (x + 0.044715 * x * x * x))); }
static double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
static double silu(double x) { return x / (1 + std::exp(-x)); }
static double softplus(double x) { return std::fmax(x, 0) + std::log1p(std::exp(-std::fabs(x))); }

double ds::activate(Activation activation, double x) {
  switch (activation) {
  case Activation::None:
    return x;
  case Activation::Relu:
    return foldFloats(ReduceKind::Max, x, 0);
  case Activation::GeluTanh:
    return geluByTanh(x);
  case Activation::GeluErf:
    return geluByErf(x);
  case Activation::Silu:
    return silu(x);
  }
  llvm_unreachable("all activations are named");
}

static LogicalResult mapInput(LocalCall &call, double (*function)(double)) {
  if (call.operand(0).size() != call.result().size())
    return call.fail("input must have the local elements of the result");
  for (int64_t i = 0, size = call.result().size(); i < size; ++i)
    call.result().floats[i] = function(call.operand(0).floats[i]);
  return success();
}

static LogicalResult gelu(LocalCall &call) {
  return mapInput(call, cast<GeluOp>(call.op).getKind() == GeluKind::Tanh ? geluByTanh : geluByErf);
}

/// The value itself: only gradients stop there.
static LogicalResult stopGradient(LocalCall &call) {
  call.result() = call.operand(0);
  return success();
}

void ds::addActivationOps(SemanticsTable &table) {
  table.add<GeluOp>(gelu, OnFlat::Allowed);
  table.add<SigmoidOp>([](LocalCall &call) { return mapInput(call, sigmoid); }, OnFlat::Allowed);
  table.add<SiluOp>([](LocalCall &call) { return mapInput(call, silu); }, OnFlat::Allowed);
  table.add<StopGradientOp>(stopGradient, OnFlat::Allowed);
  table.add<SoftplusOp>([](LocalCall &call) { return mapInput(call, softplus); }, OnFlat::Allowed);
}
