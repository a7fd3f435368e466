// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// Ops that repeat, permute and cut tensors: every fold passes.

#include "OpChecks.h"

#include "ds/Layout/CommonFactors.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"

#include <numeric>

using namespace mlir;
using namespace ds;

//===----------------------------------------------------------------------===//
// Verifiers
//===----------------------------------------------------------------------===//

LogicalResult BroadcastOp::verify() {
  RankedTensorType input = getInput().getType();
  if (failed(verifyLength(*this, "dims", getDims().size(), input.getRank())) ||
      failed(verifyAscendingDims(*this, getDims(), getType().getRank())))
    return failure();
  SmallVector<int64_t> placed;
  for (int64_t dim : getDims())
    placed.push_back(getType().getDimSize(dim));
  return verifyShape(*this, "input", input.getShape(), placed);
}

LogicalResult TransposeOp::verify() {
  RankedTensorType input = getInput().getType();
  if (!isPermutationVector(getPermutation()) || static_cast<int64_t>(getPermutation().size()) != input.getRank())
    return emitOpError("permutation must have each of the ") << input.getRank() << " dims once";
  SmallVector<int64_t> permuted;
  for (int64_t dim : getPermutation())
    permuted.push_back(input.getDimSize(dim));
  return verifyShape(*this, "result", getType().getShape(), permuted);
}

LogicalResult ReshapeOp::verify() {
  if (getInput().getType().getNumElements() == getType().getNumElements())
    return success();
  return emitOpError("result must have ")
         << getInput().getType().getNumElements() << " elements, got " << getType().getNumElements();
}

LogicalResult SliceOp::verify() {
  ArrayRef<int64_t> input = getInput().getType().getShape(), result = getType().getShape();
  if (failed(verifyLength(*this, "offsets", getOffsets().size(), input.size())) ||
      failed(verifyLength(*this, "strides", getStrides().size(), input.size())) ||
      failed(verifyLength(*this, "result", result.size(), input.size())))
    return failure();
  for (size_t dim = 0; dim < input.size(); ++dim) {
    int64_t first = getOffsets()[dim], last = first + (result[dim] - 1) * getStrides()[dim];
    if (result[dim] > 0 && (std::min(first, last) < 0 || std::max(first, last) >= input[dim]))
      return emitOpError("dim ") << dim << " must stay in [0, " << input[dim] << "), got " << first << " to " << last;
  }
  return success();
}

LogicalResult ConcatOp::verify() {
  if (failed(verifyDim(*this, getDim(), getType().getRank())))
    return failure();
  SmallVector<int64_t> expected(getType().getShape());
  expected[getDim()] = 0;
  int64_t total = 0;
  for (Value input : getInputs()) {
    SmallVector<int64_t> shape(cast<RankedTensorType>(input.getType()).getShape());
    if (shape.size() != expected.size())
      return emitOpError("inputs must have rank ") << expected.size() << ", got " << shape.size();
    total += std::exchange(shape[getDim()], 0);
    if (failed(verifyShape(*this, "input beside its concatenated dim", shape, expected)))
      return failure();
  }
  if (total != getType().getDimSize(getDim()))
    return emitOpError("dim ") << getDim() << " of the result must be " << total << ", got "
                               << getType().getDimSize(getDim());
  return success();
}

LogicalResult PadOp::verify() {
  ArrayRef<int64_t> input = getInput().getType().getShape(), result = getType().getShape();
  if (failed(verifyLength(*this, "low", getLow().size(), input.size())) ||
      failed(verifyLength(*this, "interior", getInterior().size(), input.size())) ||
      failed(verifyLength(*this, "result", result.size(), input.size())))
    return failure();
  for (size_t dim = 0; dim < input.size(); ++dim) {
    int64_t end = getLow()[dim] + (input[dim] ? (input[dim] - 1) * (getInterior()[dim] + 1) + 1 : 0);
    if (getLow()[dim] < 0 || getInterior()[dim] < 0 || end > result[dim])
      return emitOpError("dim ") << dim << " of the result must hold [" << getLow()[dim] << ", " << end << "), got "
                                 << result[dim];
  }
  return success();
}

LogicalResult IotaOp::verify() { return verifyDim(*this, getDim(), getType().getRank()); }

LogicalResult TakePartOp::verify() {
  SmallVector<int64_t> expected(getInput().getType().getShape());
  if (expected.empty() || getParts() < 1 || expected[0] % getParts())
    return emitOpError("parts must divide dim 0, got ") << getParts();
  expected[0] /= getParts();
  return verifyShape(*this, "result", getType().getShape(), expected);
}

//===----------------------------------------------------------------------===//
// Layout rules
//===----------------------------------------------------------------------===//

static const ReduceKind kAllFolds[] = {ReduceKind::Sum, ReduceKind::Max, ReduceKind::Min};

static LayoutRule movementRule(LayoutRule rule) {
  SmallVector<unsigned> all = llvm::to_vector(llvm::seq<unsigned>(0, rule.operands.size()));
  rule.setLinear(all.size() > 1 ? PartialRule::Additive : PartialRule::Multilinear, all, kAllFolds);
  return rule;
}

LayoutRule BroadcastOp::getLayoutRule() {
  LayoutRule rule;
  ValueIndices result = rule.addDims(shapeOfTensor(getResult())), input;
  for (int64_t dim : getDims())
    input.push_back(result[dim]);
  rule.operands = {input};
  rule.results = {result};
  rule.allowsFlat = input.empty(); // a scalar is the same on every element
  return movementRule(rule);
}

LayoutRule TransposeOp::getLayoutRule() {
  LayoutRule rule;
  ValueIndices input = rule.addDims(shapeOfTensor(getInput())), result;
  for (int64_t dim : getPermutation())
    result.push_back(input[dim]);
  rule.operands = {input};
  rule.results = {result};
  return movementRule(rule);
}

LayoutRule ReshapeOp::getLayoutRule() {
  LayoutRule rule;
  const CommonFactors common = commonFactors(shapeOf(getInput().getType()), shapeOf(getType()));
  for (const CommonFactors::Factor &factor : common.factors)
    rule.addIndex(factor.size, factor.isShared ? IndexKind::Parallel : IndexKind::Whole);
  auto indicesOf = [](const std::vector<std::vector<size_t>> &dims) {
    ValueIndices indices;
    for (const std::vector<size_t> &factors : dims)
      indices.emplace_back(factors.begin(), factors.end());
    return indices;
  };
  rule.operands = {indicesOf(common.a)};
  rule.results = {indicesOf(common.b)};
  return movementRule(rule);
}

/// A dim of `size` as whole leading parts and a shared index of `shared` elements; just the shared one if they are
/// equal.
static SmallVector<unsigned, 2> partsOf(LayoutRule &rule, int64_t size, unsigned shared) {
  int64_t inner = rule.indices[shared].size;
  if (inner == size)
    return {shared};
  return {rule.addIndex(inner ? size / inner : size, IndexKind::Whole), shared};
}

/// A dim of which a part [offset, offset + part) is taken or filled: both sides see it as parts of the common divisor.
static void addPart(LayoutRule &rule, ValueIndices &whole, ValueIndices &part, int64_t size, int64_t partSize,
                    int64_t offset) {
  int64_t common = std::gcd(std::gcd(size, partSize), offset);
  if (common <= 1 || partSize == 0) {
    whole.push_back({rule.addIndex(size, IndexKind::Whole)});
    part.push_back({rule.addIndex(partSize, IndexKind::Whole)});
    return;
  }
  unsigned shared = rule.addIndex(common);
  whole.push_back(partsOf(rule, size, shared));
  part.push_back(partsOf(rule, partSize, shared));
}

LayoutRule SliceOp::getLayoutRule() {
  LayoutRule rule;
  ValueIndices inputDims, resultDims;
  for (auto [size, part, offset, stride] :
       llvm::zip_equal(shapeOfTensor(getInput()), shapeOfTensor(getResult()), getOffsets(), getStrides())) {
    if (size == part && offset == 0 && stride == 1) {
      inputDims.push_back({rule.addIndex(size)});
      resultDims.push_back(inputDims.back());
    } else if (stride == 1) {
      addPart(rule, inputDims, resultDims, size, part, offset);
    } else {
      inputDims.push_back({rule.addIndex(size, IndexKind::Whole)});
      resultDims.push_back({rule.addIndex(part, IndexKind::Whole)});
    }
  }
  rule.operands = {inputDims};
  rule.results = {resultDims};
  return movementRule(rule);
}

LayoutRule PadOp::getLayoutRule() {
  LayoutRule rule;
  ValueIndices inputDims, resultDims;
  for (auto [part, size, low, interior] :
       llvm::zip_equal(shapeOfTensor(getInput()), shapeOfTensor(getResult()), getLow(), getInterior())) {
    if (size == part && low == 0 && interior == 0) {
      inputDims.push_back({rule.addIndex(size)});
      resultDims.push_back(inputDims.back());
    } else if (interior == 0) {
      addPart(rule, resultDims, inputDims, size, part, low);
    } else {
      inputDims.push_back({rule.addIndex(part, IndexKind::Whole)});
      resultDims.push_back({rule.addIndex(size, IndexKind::Whole)});
    }
  }
  rule.operands = {inputDims};
  rule.results = {resultDims};
  // Zeros are neutral for sums alone.
  rule.setLinear(PartialRule::Multilinear, {0});
  return rule;
}

LayoutRule ConcatOp::getLayoutRule() {
  LayoutRule rule;
  ValueIndices result = rule.addDims(shapeOfTensor(getResult()));
  size_t dim = getDim();
  int64_t common = 0;
  for (Value input : getInputs())
    common = std::gcd(common, shapeOfTensor(input)[dim]);
  int64_t total = shapeOfTensor(getResult())[dim];
  rule.indices[result[dim][0]] = {common ? common : 1, common > 1 ? IndexKind::Parallel : IndexKind::Whole,
                                  /*needsInterval=*/false};
  unsigned shared = result[dim][0];
  for (Value input : getInputs()) {
    ValueIndices value = result;
    value[dim] = partsOf(rule, shapeOfTensor(input)[dim], shared);
    rule.operands.push_back(value);
  }
  result[dim] = partsOf(rule, total, shared);
  rule.results = {result};
  return movementRule(rule);
}

LayoutRule IotaOp::getLayoutRule() {
  LayoutRule rule;
  rule.results = {rule.addDims(shapeOfTensor(getResult()))};
  rule.indices[getDim()].needsInterval = true;
  return rule;
}

LayoutRule TakePartOp::getLayoutRule() {
  LayoutRule rule;
  ValueIndices result = rule.addDims(shapeOfTensor(getResult()));
  ValueIndices input = result;
  input[0].insert(input[0].begin(), rule.addIndex(getParts(), IndexKind::Whole));
  rule.operands = {input, {}};
  rule.results = {result};
  rule.setLinear(PartialRule::Multilinear, {0}, kAllFolds);
  return rule;
}
