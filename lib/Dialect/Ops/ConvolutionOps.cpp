// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// Convolutions, pools and their gradients.

#include "OpChecks.h"

using namespace mlir;
using namespace ds;

//===----------------------------------------------------------------------===//
// Verifiers
//===----------------------------------------------------------------------===//

template <typename OpT>
static LogicalResult verifyWindow(OpT op, ArrayRef<int64_t> input, ArrayRef<int64_t> kernel, ArrayRef<int64_t> result) {
  size_t spatial = input.size() - 2;
  if (failed(verifyLength(op, "strides", op.getStrides().size(), spatial)) ||
      failed(verifyLength(op, "dilations", op.getDilations().size(), spatial)) ||
      failed(verifyLength(op, "pads", op.getPads().size(), 2 * spatial)))
    return failure();
  for (size_t i = 0; i < spatial; ++i) {
    if (op.getStrides()[i] < 1 || op.getDilations()[i] < 1 || op.getPads()[i] < 0 || op.getPads()[spatial + i] < 0)
      return op.emitOpError("strides and dilations must be >= 1 and pads >= 0");
    int64_t window = (kernel[i] - 1) * op.getDilations()[i] + 1;
    int64_t padded = input[2 + i] + op.getPads()[i] + op.getPads()[spatial + i];
    int64_t room = padded - window;
    // A pool may round up: its last window then reaches past the padding.
    int64_t low = room < 0 ? 0 : room / op.getStrides()[i] + 1,
            high = low + (isa<MaxPoolOp>(op) && room % op.getStrides()[i] ? 1 : 0);
    if (result[2 + i] < low || result[2 + i] > high)
      return op.emitOpError("spatial dim ") << i << " of the result must be " << low << ", got " << result[2 + i];
  }
  return success();
}

LogicalResult ConvolutionOp::verify() {
  ArrayRef<int64_t> input = getInput().getType().getShape(), weight = getWeight().getType().getShape();
  ArrayRef<int64_t> result = getType().getShape();
  if (input.size() < 3 || weight.size() != input.size() || result.size() != input.size())
    return emitOpError("must have tensors of one rank >= 3");
  if (getGroups() < 1 || weight[1] * static_cast<int64_t>(getGroups()) != input[1] || weight[0] % getGroups())
    return emitOpError("weight must have ")
           << input[1] << " / groups input channels and a multiple of groups output channels, got " << weight[1]
           << " and " << weight[0] << " for " << getGroups() << " groups";
  if (result[0] != input[0] || result[1] != weight[0])
    return emitOpError("result must start with [")
           << input[0] << ", " << weight[0] << "], got [" << result[0] << ", " << result[1] << "]";
  return verifyWindow(*this, input, weight.drop_front(2), result);
}

LogicalResult MaxPoolOp::verify() {
  ArrayRef<int64_t> input = getInput().getType().getShape(), result = getType().getShape();
  if (input.size() < 3 || result.size() != input.size() || result.take_front(2) != input.take_front(2))
    return emitOpError("result must have the batch and channels of the input");
  if (failed(verifyLength(*this, "kernel", getKernel().size(), input.size() - 2)))
    return failure();
  return verifyWindow(*this, input, getKernel(), result);
}

/// Checks that image, weight and result of a convolution's gradient have one rank >= 3 and fit in batch and channels.
static LogicalResult verifyConvolutionGradient(Operation *op, std::array<RankedTensorType, 3> types, uint64_t groups) {
  auto [image, weight, result] = types;
  if (image.getRank() < 3 || weight.getRank() != image.getRank() || result.getRank() != image.getRank())
    return op->emitOpError("must have tensors of one rank >= 3");
  if (image.getDimSize(0) != result.getDimSize(0) || weight.getDimSize(0) != result.getDimSize(1) ||
      weight.getDimSize(1) * static_cast<int64_t>(groups) != image.getDimSize(1))
    return op->emitOpError("must have one batch, and the weight's channels, got ")
           << image << ", " << weight << " and " << result;
  return success();
}

LogicalResult ConvolutionGradInputOp::verify() {
  return verifyConvolutionGradient(*this, {getType(), getWeight().getType(), getGradient().getType()}, getGroups());
}

LogicalResult ConvolutionGradWeightOp::verify() {
  return verifyConvolutionGradient(*this, {getInput().getType(), getType(), getGradient().getType()}, getGroups());
}

LogicalResult MaxPoolGradOp::verify() {
  RankedTensorType input = getInput().getType(), gradient = getGradient().getType();
  if (input.getRank() < 3 || gradient.getRank() != input.getRank() ||
      gradient.getShape().take_front(2) != input.getShape().take_front(2))
    return emitOpError("gradient must have the batch and channels of the input");
  return verifyShape(*this, "result", getType().getShape(), input.getShape());
}

//===----------------------------------------------------------------------===//
// Layout rules
//===----------------------------------------------------------------------===//

/// The dims of an image or kernel: two given indices, then whole spatial dims of its own.
static ValueIndices windowDims(LayoutRule &rule, unsigned first, unsigned second, ArrayRef<int64_t> shape) {
  ValueIndices value = {{first}, {second}};
  for (int64_t size : shape.drop_front(2))
    value.push_back({rule.addIndex(size, IndexKind::Whole)});
  return value;
}

/// The rule of a convolution and its gradients: batch n, input channels c, output channels m; `summed` is contracted.
/// With groups the channels stay whole.
static LayoutRule convolutionRule(char summed, uint64_t groups, Value input, Value weight, Value result,
                                  StringRef order) {
  LayoutRule rule;
  auto kindOf = [&](char index) {
    if (index != 'n' && groups != 1)
      return IndexKind::Whole;
    return index == summed ? IndexKind::Sum : IndexKind::Parallel;
  };
  unsigned n = rule.addIndex(shapeOfTensor(input)[0], kindOf('n'));
  unsigned c = rule.addIndex(shapeOfTensor(input)[1], kindOf('c'));
  unsigned m = rule.addIndex(shapeOfTensor(weight)[0], kindOf('m'));
  // With groups the weight's second dim is c / groups.
  unsigned weightC = groups == 1 ? c : rule.addIndex(shapeOfTensor(weight)[1], IndexKind::Whole);
  for (char tensor : order) {
    ValueIndices value = tensor == 'i'   ? windowDims(rule, n, c, shapeOfTensor(input))
                         : tensor == 'w' ? windowDims(rule, m, weightC, shapeOfTensor(weight))
                                         : windowDims(rule, n, m, shapeOfTensor(result));
    if (rule.operands.size() < 2)
      rule.operands.push_back(value);
    else
      rule.results.push_back(value);
  }
  rule.setLinear(PartialRule::Multilinear, {0, 1});
  return rule;
}

LayoutRule ConvolutionOp::getLayoutRule() {
  return convolutionRule('c', getGroups(), getInput(), getWeight(), getResult(), "iwo");
}
LayoutRule ConvolutionGradInputOp::getLayoutRule() {
  return convolutionRule('m', getGroups(), getResult(), getWeight(), getGradient(), "woi");
}
LayoutRule ConvolutionGradWeightOp::getLayoutRule() {
  return convolutionRule('n', getGroups(), getInput(), getResult(), getGradient(), "iow");
}

LayoutRule MaxPoolOp::getLayoutRule() {
  LayoutRule rule;
  unsigned n = rule.addIndex(shapeOfTensor(getInput())[0]), c = rule.addIndex(shapeOfTensor(getInput())[1]);
  rule.operands = {windowDims(rule, n, c, shapeOfTensor(getInput()))};
  rule.results = {windowDims(rule, n, c, shapeOfTensor(getResult()))};
  return rule;
}

LayoutRule MaxPoolGradOp::getLayoutRule() {
  LayoutRule rule;
  unsigned n = rule.addIndex(shapeOfTensor(getInput())[0]), c = rule.addIndex(shapeOfTensor(getInput())[1]);
  ValueIndices image = windowDims(rule, n, c, shapeOfTensor(getInput()));
  rule.operands = {image, windowDims(rule, n, c, shapeOfTensor(getGradient()))};
  rule.results = {image};
  return rule;
}
