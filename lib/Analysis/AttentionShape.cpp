// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Analysis/AttentionShape.h"

#include "ds/Dialect/IndexNotation.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace ds;

static constexpr int64_t kMaxChunks = 32;
/// Rows of scratch begin on this boundary.
static constexpr int64_t kAlignment = 16;

std::optional<unsigned> ds::indexOfLetter(Operation *op, const LayoutRule &rule, char letter) {
  IndexNotation notation = notationOf(op);
  for (auto [number, letters] : llvm::enumerate(notation.operands))
    if (size_t place = letters.find(letter); place != std::string::npos)
      return rule.operands[number][place].front();
  return std::nullopt;
}

/// The largest extent of a letter of the query on any rank.
static int64_t maxExtent(Operation *op, StringRef letters, const Mesh &mesh) {
  auto query = cast<RankedTensorType>(op->getOperand(0).getType());
  Shape block = maxBlockShape(layoutOf(query), shapeOf(query), mesh);
  const std::string own = notationOf(op).operands.front();
  int64_t product = 1;
  for (char letter : letters)
    if (size_t place = own.find(letter); place != std::string::npos)
      product *= block[place];
  return product;
}

int64_t ds::attentionWorkspace(Operation *op) {
  constexpr int64_t kQueries = AttentionShape::kQueryBlock, kKeys = AttentionShape::kKeyBlock;
  auto widthOf = [&](unsigned operand) {
    int64_t width = cast<RankedTensorType>(op->getOperand(operand).getType()).getShape().back();
    return static_cast<int64_t>(llvm::alignTo(width, kAlignment));
  };
  if (isa<FusedAttentionOp>(op)) // queries, scores, results; maxima, sums, factors
    return kQueries * (widthOf(0) + kKeys + widthOf(2) + 3);
  // Queries and incoming gradients, probabilities and their gradients, gradients of queries; maxima, sums, means.
  return kQueries * (2 * widthOf(0) + widthOf(2) + 2 * kKeys + 3);
}

AttentionShape ds::analyzeAttention(Operation *op, const Mesh &mesh) {
  AttentionShape shape;
  bool isForward = isa<FusedAttentionOp>(op);
  shape.rowLetters = isForward ? "bkgs" : "bk";
  int64_t rows = maxExtent(op, shape.rowLetters, mesh);
  int64_t tasks = isForward ? llvm::divideCeil(rows, AttentionShape::kQueryBlock) : rows;
  shape.chunks = std::clamp<int64_t>(tasks, 1, kMaxChunks);
  if (op->hasAttr("causal")) {
    const auto blocks = static_cast<double>(llvm::divideCeil(maxExtent(op, "s", mesh), AttentionShape::kQueryBlock));
    shape.visited = (blocks + 1) / (2 * blocks);
  }
  return shape;
}
