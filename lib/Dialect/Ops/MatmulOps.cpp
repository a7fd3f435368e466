// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// Contractions.

#include "OpChecks.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace ds;

//===----------------------------------------------------------------------===//
// Verifiers
//===----------------------------------------------------------------------===//

static StringRef lhsIndices(StringRef indices) { return indices.split(',').first; }
static StringRef rhsIndices(StringRef indices) { return indices.split(',').second.split("->").first; }
static StringRef resultIndices(StringRef indices) { return indices.split("->").second; }

StringRef MatmulOp::getLhsIndices() { return lhsIndices(getIndices()); }

StringRef MatmulOp::getRhsIndices() { return rhsIndices(getIndices()); }

StringRef MatmulOp::getResultIndices() { return resultIndices(getIndices()); }

StringRef FusedMatmulOp::getLhsIndices() { return lhsIndices(getIndices()); }

StringRef FusedMatmulOp::getRhsIndices() { return rhsIndices(getIndices()); }

StringRef FusedMatmulOp::getResultIndices() { return resultIndices(getIndices()); }

template <typename OpT> static LogicalResult verifyContraction(OpT op) {
  struct Side {
    StringRef letters;
    RankedTensorType type;
    StringRef name;
  };
  const Side sides[] = {{op.getLhsIndices(), op.getLhs().getType(), "left operand"},
                        {op.getRhsIndices(), op.getRhs().getType(), "right operand"},
                        {op.getResultIndices(), op.getType(), "result"}};
  llvm::SmallDenseMap<char, std::pair<int64_t, int>> sizes; // letter -> size, number of tensors
  for (const Side &side : sides) {
    if (failed(
            verifyLength(op, (Twine("indices of the ") + side.name).str(), side.letters.size(), side.type.getRank())))
      return failure();
    for (auto [letter, size] : llvm::zip_equal(side.letters, side.type.getShape())) {
      if (!llvm::isAlpha(letter) || side.letters.count(letter) != 1)
        return op.emitOpError("indices must be letters, each once per tensor, got \"") << op.getIndices() << "\"";
      auto [it, isNew] = sizes.try_emplace(letter, size, 0);
      if (it->second.first != size)
        return op.emitOpError("index '") << letter << "' must have one size, got " << it->second.first << " and "
                                         << size;
      ++it->second.second;
    }
  }
  for (auto [letter, entry] : sizes)
    if (entry.second < 2)
      return op.emitOpError("index '") << letter << "' must be in two tensors at least";
  return success();
}

LogicalResult MatmulOp::verify() { return verifyContraction(*this); }

LogicalResult FusedMatmulOp::verify() {
  if (failed(verifyContraction(*this)))
    return failure();
  if (getAddend() && getAddend().getType() != getType())
    return emitOpError("addend must have the result's type, got ") << getAddend().getType();
  if (!getBias())
    return success();
  SmallVector<int64_t> expected;
  for (char letter : getBiasIndices()) {
    size_t place = getResultIndices().find(letter);
    if (place == StringRef::npos)
      return emitOpError("bias must run over indices of the result, got '") << letter << "'";
    expected.push_back(getType().getDimSize(place));
  }
  return verifyShape(*this, "bias", getBias().getType().getShape(), expected);
}

//===----------------------------------------------------------------------===//
// Layout rules
//===----------------------------------------------------------------------===//

/// The rule of a contraction; `extra` operands run over result indices: their letters, in order.
template <typename OpT> static LayoutRule contractionRule(OpT op, ArrayRef<StringRef> extra) {
  LayoutRule rule;
  llvm::SmallDenseMap<char, unsigned> numbers;
  auto numberOf = [&](StringRef letters, ArrayRef<int64_t> shape) {
    ValueIndices value;
    for (auto [letter, size] : llvm::zip_equal(letters, shape)) {
      auto [it, isNew] = numbers.try_emplace(letter, 0);
      if (isNew)
        it->second = rule.addIndex(size, op.getResultIndices().contains(letter) ? IndexKind::Parallel : IndexKind::Sum);
      value.push_back({it->second});
    }
    return value;
  };
  rule.operands = {numberOf(op.getLhsIndices(), shapeOfTensor(op.getLhs())),
                   numberOf(op.getRhsIndices(), shapeOfTensor(op.getRhs()))};
  rule.results = {numberOf(op.getResultIndices(), shapeOfTensor(op.getResult()))};
  for (StringRef letters : extra)
    rule.operands.push_back(numberOf(letters, shapeOfTensor(op->getOperand(rule.operands.size()))));
  return rule;
}

LayoutRule MatmulOp::getLayoutRule() {
  LayoutRule rule = contractionRule(*this, {});
  rule.setLinear(PartialRule::Multilinear, {0, 1});
  return rule;
}

LayoutRule FusedMatmulOp::getLayoutRule() {
  SmallVector<StringRef, 2> extra;
  if (getBias())
    extra.push_back(getBiasIndices());
  if (getAddend())
    extra.push_back(getResultIndices());
  LayoutRule rule = contractionRule(*this, extra);
  // A bias is added once: the product must be whole. An addend is partial as the product is.
  rule.needsWholeResult = getBias() || getActivation() != Activation::None;
  if (getAddend())
    rule.likeResult = rule.operands.size() - 1;
  rule.linear.assign(rule.operands.size(), false);
  return rule;
}
