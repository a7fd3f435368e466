// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "Match.h"

#include "ds/Import/Recognize.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

#include <cmath>

using namespace mlir;
using namespace ds;
using namespace ds::recognize;

ArrayRef<int64_t> recognize::shapeOfValue(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

bool recognize::isClose(double number, double expected) {
  return std::fabs(number - expected) <= 1e-5 * std::fabs(expected);
}

/// Deeper trees are no spelling of anything known.
static constexpr unsigned kDeepest = 8;

static void addFactors(Value value, unsigned most, ArrayRef<Value> leaves, Product &product, unsigned depth = 0) {
  if (llvm::is_contained(leaves, value) || depth == kDeepest) {
    product.values.push_back(value);
    return;
  }
  if (std::optional<double> splat = findSplat(value)) {
    product.factor *= *splat;
    return;
  }
  if (auto multiply = value.getDefiningOp<arith::MulFOp>(); multiply && product.values.size() < most) {
    addFactors(multiply.getLhs(), most, leaves, product, depth + 1);
    addFactors(multiply.getRhs(), most, leaves, product, depth + 1);
    return;
  }
  if (auto divide = value.getDefiningOp<arith::DivFOp>())
    if (std::optional<double> splat = findSplat(divide.getRhs()); splat && *splat != 0) {
      product.factor /= *splat;
      addFactors(divide.getLhs(), most, leaves, product, depth + 1);
      return;
    }
  product.values.push_back(value);
}

Product recognize::findProduct(Value value, unsigned most, ArrayRef<Value> leaves) {
  Product product;
  addFactors(value, most, leaves, product);
  return product;
}

Value recognize::findRows(Value value, int64_t rank) {
  auto broadcast = value.getDefiningOp<BroadcastOp>();
  if (!broadcast)
    return {};
  ArrayRef<int64_t> dims = broadcast.getDims(), shape = broadcast.getType().getShape();
  if (!dims.empty() && dims.back() >= rank)
    return {};
  for (int64_t dim = 0; dim < rank; ++dim)
    if (!llvm::is_contained(dims, dim) && shape[dim] != 1)
      return {};
  return broadcast.getInput();
}

Value recognize::dropUnitReshapes(Value value) {
  auto withoutUnits = [](ArrayRef<int64_t> shape) {
    SmallVector<int64_t> kept;
    llvm::copy_if(shape, std::back_inserter(kept), [](int64_t size) { return size != 1; });
    return kept;
  };
  while (auto reshape = value.getDefiningOp<ReshapeOp>()) {
    if (withoutUnits(shapeOfValue(value)) != withoutUnits(shapeOfValue(reshape.getInput())))
      break;
    value = reshape.getInput();
  }
  return value;
}

Value recognize::findColumns(Value value, int64_t rank) {
  auto broadcast = value.getDefiningOp<BroadcastOp>();
  if (!broadcast)
    return {};
  int64_t last = broadcast.getType().getRank();
  return llvm::equal(broadcast.getDims(), llvm::seq<int64_t>(rank, last)) ? broadcast.getInput() : Value();
}

void ds::populateRecognizeCompositePatterns(RewritePatternSet &patterns) {
  addNormPatterns(patterns);
  addActivationPatterns(patterns);
  addRotaryPatterns(patterns);
  addAttentionPatterns(patterns);
}
