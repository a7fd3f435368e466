// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// Attention, of which batch and heads are parallel, and rotary embeddings.

#include "OpChecks.h"

using namespace mlir;
using namespace ds;

LogicalResult AttentionOp::verify() {
  ArrayRef<int64_t> q = getQuery().getType().getShape(), k = getKey().getType().getShape(),
                    v = getValue().getType().getShape();
  if (q.size() != 4 || k.size() != 4 || v.size() != 4)
    return emitOpError("query, key and value must have 4 dims");
  if (k[0] != q[0] || k[3] != q[3] || k[1] < 1 || q[1] % k[1])
    return emitOpError("key must have the batch and the width of the query and divide its heads");
  if (failed(verifyShape(*this, "value", v, {q[0], k[1], k[2], v[3]})) ||
      failed(verifyShape(*this, "result", getType().getShape(), {q[0], q[1], q[2], v[3]})))
    return failure();
  if (!getBias())
    return success();
  ArrayRef<int64_t> bias = getBias().getType().getShape();
  const int64_t full[] = {q[0], q[1], q[2], k[2]};
  bool fits = bias.size() == 4 && bias[3] == full[3];
  for (size_t dim = 0; fits && dim < 3; ++dim)
    fits = bias[dim] == full[dim] || bias[dim] == 1;
  return fits ? success() : emitOpError("bias must have shape [B or 1, H or 1, S or 1, T]");
}

LogicalResult AttentionGradOp::verify() {
  ArrayRef<int64_t> q = getQuery().getType().getShape(), k = getKey().getType().getShape(),
                    v = getValue().getType().getShape();
  if (q.size() != 4 || k.size() != 4 || v.size() != 4 || k[1] < 1 || q[1] % k[1])
    return emitOpError("query, key and value must have 4 dims, and the key's heads divide the query's");
  if (failed(verifyShape(*this, "gradient", getGradient().getType().getShape(), {q[0], q[1], q[2], v[3]})) ||
      failed(verifyShape(*this, "gradient of the query", getQueryGradient().getType().getShape(), q)) ||
      failed(verifyShape(*this, "gradient of the key", getKeyGradient().getType().getShape(), k)))
    return failure();
  return verifyShape(*this, "gradient of the value", getValueGradient().getType().getShape(), v);
}

SmallVector<int64_t> RotaryEmbeddingOp::getTableDims() {
  if (std::optional<ArrayRef<int64_t>> dims = getDims())
    return SmallVector<int64_t>(*dims);
  int64_t last = getType().getRank() - 1;
  return llvm::to_vector(llvm::seq(last - getCosine().getType().getRank() + 1, last));
}

SmallVector<std::pair<int64_t, int64_t>> RotaryEmbeddingOp::getTableRuns() {
  const SmallVector<int64_t> dims = getTableDims(); // Named, as llvm::reverse does not keep a temporary alive.
  SmallVector<std::pair<int64_t, int64_t>> runs;
  for (int64_t dim : llvm::reverse(dims)) {
    if (!runs.empty() && runs.back().first == dim + 1)
      runs.back().first = dim;
    else
      runs.emplace_back(dim, dim + 1);
  }
  return runs;
}

LogicalResult RotaryEmbeddingOp::verify() {
  ArrayRef<int64_t> input = getInput().getType().getShape(), cosine = getCosine().getType().getShape();
  if (input.empty() || input.back() % 2)
    return emitOpError("input must have an even last dim");
  if (cosine.empty() || cosine.size() > input.size())
    return emitOpError("cosine must have a rank in [1, ") << input.size() << "], got " << cosine.size();
  SmallVector<int64_t> dims = getTableDims(), expected;
  if (failed(verifyLength(*this, "dims", dims.size(), cosine.size() - 1)) ||
      failed(verifyAscendingDims(*this, dims, static_cast<int64_t>(input.size()) - 1)))
    return failure();
  for (int64_t dim : dims)
    expected.push_back(input[dim]);
  expected.push_back(hasWholeTables() ? input.back() : input.back() / 2);
  if (failed(verifyShape(*this, "cosine", cosine, expected)) ||
      failed(verifyShape(*this, "sine", getSine().getType().getShape(), expected)))
    return failure();
  return verifyShape(*this, "result", getType().getShape(), input);
}

namespace {
struct AttentionIndices {
  ValueIndices query, key, value, result, bias;
};
} // namespace

static AttentionIndices addAttention(LayoutRule &rule, ArrayRef<int64_t> query, ArrayRef<int64_t> key,
                                     ArrayRef<int64_t> value, Value bias, IndexKind groupKind) {
  unsigned batch = rule.addIndex(query[0]), keyHeads = rule.addIndex(key[1]);
  unsigned group = rule.addIndex(query[1] / key[1], groupKind);
  unsigned rows = rule.addIndex(query[2], IndexKind::Whole), columns = rule.addIndex(key[2], IndexKind::Whole);
  unsigned width = rule.addIndex(query[3], IndexKind::Whole), valueWidth = rule.addIndex(value[3], IndexKind::Whole);
  AttentionIndices indices;
  indices.query = {{batch}, {keyHeads, group}, {rows}, {width}};
  indices.key = {{batch}, {keyHeads}, {columns}, {width}};
  indices.value = {{batch}, {keyHeads}, {columns}, {valueWidth}};
  indices.result = {{batch}, {keyHeads, group}, {rows}, {valueWidth}};
  indices.bias = {{batch}, {keyHeads, group}, {rows}, {columns}};
  if (bias)
    for (auto [dim, size] : llvm::enumerate(shapeOfTensor(bias)))
      if (size == 1)
        indices.bias[dim].clear();
  return indices;
}

LayoutRule AttentionOp::getLayoutRule() {
  LayoutRule rule;
  AttentionIndices a = addAttention(rule, shapeOfTensor(getQuery()), shapeOfTensor(getKey()), shapeOfTensor(getValue()),
                                    getBias(), IndexKind::Parallel);
  rule.operands = {a.query, a.key, a.value};
  if (getBias())
    rule.operands.push_back(a.bias);
  rule.results = {a.result};
  return rule;
}

LayoutRule AttentionGradOp::getLayoutRule() {
  LayoutRule rule;
  // The gradients of key and value are sums over the group.
  AttentionIndices a = addAttention(rule, shapeOfTensor(getQuery()), shapeOfTensor(getKey()), shapeOfTensor(getValue()),
                                    getBias(), IndexKind::Whole);
  rule.operands = {a.query, a.key, a.value, a.result};
  if (getBias())
    rule.operands.push_back(a.bias);
  rule.results = {a.query, a.key, a.value};
  return rule;
}

LayoutRule RotaryEmbeddingOp::getLayoutRule() {
  LayoutRule rule;
  ValueIndices value = rule.addDims(shapeOfTensor(getInput())), angles;
  rule.indices[value.back()[0]].kind = IndexKind::Whole;
  for (int64_t dim : getTableDims())
    angles.push_back(value[dim]);
  if (hasWholeTables())
    angles.push_back(value.back());
  else
    angles.push_back({rule.addIndex(shapeOfTensor(getCosine()).back(), IndexKind::Whole)});
  rule.operands = {value, angles, angles};
  rule.results = {value};
  rule.setLinear(PartialRule::Multilinear, {0});
  return rule;
}
