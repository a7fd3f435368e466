// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Analysis/OpStructure.h"

#include "mlir/IR/OperationSupport.h"

using namespace mlir;
using namespace ds;

static constexpr OperationEquivalence::Flags kIgnored =
    OperationEquivalence::IgnoreLocations | OperationEquivalence::IgnoreDiscardableAttrs;

unsigned OpStructure::getHashValue(const Operation *op) {
  return OperationEquivalence::computeHash(
      const_cast<Operation *>(op), [](Value operand) { return hash_value(operand.getType()); },
      OperationEquivalence::ignoreHashValue, kIgnored);
}

bool OpStructure::isEqual(const Operation *left, const Operation *right) {
  auto *a = const_cast<Operation *>(left), *b = const_cast<Operation *>(right);
  if (a == b)
    return true;
  for (Operation *special : {getEmptyKey(), getTombstoneKey()})
    if (a == special || b == special)
      return false;
  llvm::SmallDenseMap<Value, Value, 32> inside; // what the regions define
  auto areEqual = [&](Value x, Value y) {
    const bool isInside = a->isAncestor(x.getParentRegion()->getParentOp());
    return success(isInside ? inside.lookup(x) == y : x.getType() == y.getType());
  };
  auto markEqual = [&](Value x, Value y) { inside[x] = y; };
  return OperationEquivalence::isEquivalentTo(a, b, areEqual, markEqual, kIgnored);
}
