// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "Semantics.h"

#include "ds/Dialect/DsDialect.h"

#include <cmath>

using namespace mlir;
using namespace ds;

/// Checks that the first `tensors` operands and the results have the same local elements, and the other operands one
/// each.
static LogicalResult requireUpdate(const LocalCall &call, unsigned tensors) {
  const int64_t size = call.operand(0).size();
  for (unsigned number = 0; number < call.operands.size(); ++number)
    if (call.operand(number).size() != (number < tensors ? size : 1))
      return call.fail("operand " + Twine(number) + " must have " + Twine(number < tensors ? size : 1) +
                       " local elements, got " + Twine(call.operand(number).size()));
  for (const DenseTensor &result : call.results)
    if (result.size() != size)
      return call.fail("results must have the local elements of the parameter");
  return success();
}

static LogicalResult adamUpdate(LocalCall &call) {
  auto op = cast<AdamUpdateOp>(call.op);
  if (failed(requireUpdate(call, 4)))
    return failure();
  const double rate = call.operand(4).floats[0], step = call.operand(5).floats[0];
  const double beta1 = op.getBeta1().convertToDouble(), beta2 = op.getBeta2().convertToDouble();
  const double epsilon = op.getEpsilon().convertToDouble(), decay = op.getDecay().convertToDouble();
  const double correction1 = 1 - std::pow(beta1, step), correction2 = 1 - std::pow(beta2, step);
  for (int64_t i = 0; i < call.operand(0).size(); ++i) {
    const double p = call.operand(0).floats[i];
    const double g = call.operand(1).floats[i] + (op.getDecoupled() ? 0 : decay * p);
    const double m = beta1 * call.operand(2).floats[i] + (1 - beta1) * g;
    const double v = beta2 * call.operand(3).floats[i] + (1 - beta2) * g * g;
    const double decayed = op.getDecoupled() ? p * (1 - rate * decay) : p;
    call.result(0).floats[i] = decayed - rate * (m / correction1) / (std::sqrt(v / correction2) + epsilon);
    call.result(1).floats[i] = m;
    call.result(2).floats[i] = v;
  }
  return success();
}

static LogicalResult sgdUpdate(LocalCall &call) {
  auto op = cast<SgdUpdateOp>(call.op);
  if (failed(requireUpdate(call, 3)))
    return failure();
  const double rate = call.operand(3).floats[0], step = call.operand(4).floats[0];
  const double momentum = op.getMomentum().convertToDouble(), dampening = op.getDampening().convertToDouble();
  const double decay = op.getDecay().convertToDouble();
  for (int64_t i = 0; i < call.operand(0).size(); ++i) {
    const double p = call.operand(0).floats[i];
    const double d = call.operand(1).floats[i] + decay * p;
    const double b = step == 1 ? d : momentum * call.operand(2).floats[i] + (1 - dampening) * d;
    call.result(0).floats[i] = p - rate * (op.getNesterov() ? d + momentum * b : b);
    call.result(1).floats[i] = b;
  }
  return success();
}

void ds::addOptimizerOps(SemanticsTable &table) {
  table.add<AdamUpdateOp>(adamUpdate, OnFlat::Allowed);
  table.add<SgdUpdateOp>(sgdUpdate, OnFlat::Allowed);
}
