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
  llvm::SmallDenseMap<Value, Value, 64> inside; // what the regions define, which is before it is used
  auto areEqual = [&](Value x, Value y) {
    auto found = inside.find(x);
    return success(found == inside.end() ? x.getType() == y.getType() : found->second == y);
  };
  auto markEqual = [&](Value x, Value y) { inside[x] = y; };
  return OperationEquivalence::isEquivalentTo(a, b, areEqual, markEqual, kIgnored);
}
