// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// Activations, partial values by whole ones, and values that have no gradient.

#include "OpChecks.h"

using namespace mlir;
using namespace ds;

LayoutRule ScaleOp::getLayoutRule() {
  LayoutRule rule = elementwiseRule(*this);
  rule.setLinear(PartialRule::Multilinear, {0});
  return rule;
}

LayoutRule DivideOp::getLayoutRule() {
  LayoutRule rule = elementwiseRule(*this);
  rule.setLinear(PartialRule::Multilinear, {0});
  return rule;
}

LayoutRule WhereOp::getLayoutRule() {
  LayoutRule rule = elementwiseRule(*this);
  rule.setLinear(PartialRule::Additive, {1, 2});
  return rule;
}

LayoutRule GeluOp::getLayoutRule() { return elementwiseRule(*this); }

LayoutRule SigmoidOp::getLayoutRule() { return elementwiseRule(*this); }

LayoutRule SiluOp::getLayoutRule() { return elementwiseRule(*this); }

LayoutRule SoftplusOp::getLayoutRule() { return elementwiseRule(*this); }

LayoutRule StopGradientOp::getLayoutRule() {
  LayoutRule rule = elementwiseRule(*this);
  rule.setLinear(PartialRule::Additive, {0});
  return rule;
}
