// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// Attention and its gradient as matmuls and softmax. Letters of the indices: b batch, k key heads, g query heads per
// key head, s rows, t columns, d width of query and key, e width of the value. With one query head per key head there
// is no g.

#include "DecomposePatterns.h"

#include <limits>

using namespace mlir;
using namespace ds;

namespace {

/// The query side of an attention has its heads as [K, G], or [K] if G is 1.
class AttentionBuilder {
public:
  AttentionBuilder(LaidOutBuilder &b, RankedTensorType query, RankedTensorType key, const Mesh &mesh)
      : b(b), mesh(mesh), keyHeads(key.getDimSize(1)), group(query.getDimSize(1) / key.getDimSize(1)) {}

  /// [B, H, x, y] -> [B, K, G, x, y].
  Value splitHeads(Value value) {
    if (group == 1)
      return value;
    Value split = b.splitDim(value, 1, {keyHeads, group}, mesh);
    assert(split && "attention's layout rule keeps heads splittable");
    return split;
  }

  /// [B, K, G, x, y] -> `type`, which is [B, H, x, y].
  Value joinHeads(Value value, RankedTensorType type) { return group == 1 ? value : b.make<ReshapeOp>(type, value); }

  /// The dim of the scores' columns.
  int64_t columnDim() const { return group == 1 ? 3 : 4; }

  /// A contraction whose result lies as its letters do in the operands.
  Value contract(Value left, Value right, std::string indices) {
    if (group == 1)
      llvm::erase(indices, 'g');
    auto [leftLetters, rest] = StringRef(indices).split(',');
    auto [rightLetters, resultLetters] = rest.split("->");
    Layout layout = Layout::replicated(0);
    SmallVector<int64_t> shape;
    for (char letter : resultLetters) {
      bool inLeft = leftLetters.contains(letter);
      Value source = inLeft ? left : right;
      size_t place = (inLeft ? leftLetters : rightLetters).find(letter);
      shape.push_back(LaidOutBuilder::typeOf(source).getDimSize(place));
      layout.dims.push_back(layoutOf(source).dims[place]);
    }
    Type element = LaidOutBuilder::typeOf(left).getElementType();
    return b.make<MatmulOp>(withLayout(RankedTensorType::get(shape, element), layout), left, right,
                            b.builder.getStringAttr(indices));
  }

  /// The probabilities [B, K, G, S, T].
  Value probabilities(Value query, Value key, Value bias, double scale, bool isCausal) {
    Value scores = b.mulScalar(contract(query, key, "bkgsd,bktd->bkgst"), scale);
    RankedTensorType type = LaidOutBuilder::typeOf(scores);
    if (bias)
      scores = b.add(scores, spreadBias(bias, type));
    if (isCausal)
      scores = maskFuture(scores);
    return buildSoftmax(b, scores, columnDim());
  }

private:
  /// Position s sees t <= s + T - S. What it does not see is below any bias, as exporters write padding as about the
  /// least float.
  Value maskFuture(Value scores) {
    RankedTensorType type = LaidOutBuilder::typeOf(scores);
    int64_t columns = columnDim(), rows = columns - 1;
    Value row = b.iota(type, rows), column = b.iota(type, columns);
    Value last = b.make<arith::AddIOp>(
        row, b.splat(type.getDimSize(columns) - type.getDimSize(rows), LaidOutBuilder::typeOf(row)));
    Value isVisible = b.make<arith::CmpIOp>(arith::CmpIPredicate::sle, column, last);
    return b.make<arith::SelectOp>(isVisible, scores, b.splat(-std::numeric_limits<double>::infinity(), type));
  }

  /// [B or 1, 1 or H, 1 or S, T] -> the type of the scores.
  Value spreadBias(Value bias, RankedTensorType scores) {
    RankedTensorType type = LaidOutBuilder::typeOf(bias);
    bool hasHeads = type.getDimSize(1) > 1;
    if (hasHeads)
      bias = splitHeads(bias);
    SmallVector<int64_t> shape, dims;
    Layout layout = layoutOf(bias), kept = Layout::replicated(0);
    ArrayRef<int64_t> biasShape = LaidOutBuilder::typeOf(bias).getShape();
    for (auto [place, size] : llvm::enumerate(biasShape)) {
      int64_t dim = hasHeads || group == 1 || place == 0 ? place : place + 1;
      if (size == 1 || size != scores.getDimSize(dim))
        continue;
      shape.push_back(size);
      dims.push_back(dim);
      kept.dims.push_back(layout.dims[place]);
    }
    Value squeezed = b.make<ReshapeOp>(withLayout(RankedTensorType::get(shape, type.getElementType()), kept), bias);
    return b.broadcast(squeezed, scores, dims);
  }

  LaidOutBuilder &b;
  const Mesh &mesh;
  int64_t keyHeads, group;
};

struct DecomposeAttention : OpRewritePattern<AttentionOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AttentionOp op, PatternRewriter &rewriter) const override {
    LaidOutBuilder b(rewriter, op.getLoc());
    const Mesh mesh = meshOf(op);
    AttentionBuilder attention(b, op.getQuery().getType(), op.getKey().getType(), mesh);
    Value query = attention.splitHeads(op.getQuery());
    Value p =
        attention.probabilities(query, op.getKey(), op.getBias(), op.getScale().convertToDouble(), op.getCausal());
    Value result = attention.contract(p, op.getValue(), "bkgst,bkte->bkgse");
    rewriter.replaceOp(op, attention.joinHeads(result, op.getType()));
    return success();
  }
};

struct DecomposeAttentionGrad : OpRewritePattern<AttentionGradOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AttentionGradOp op, PatternRewriter &rewriter) const override {
    LaidOutBuilder b(rewriter, op.getLoc());
    const Mesh mesh = meshOf(op);
    AttentionBuilder attention(b, op.getQuery().getType(), op.getKey().getType(), mesh);
    double scale = op.getScale().convertToDouble();
    Value query = attention.splitHeads(op.getQuery()), gradient = attention.splitHeads(op.getGradient());
    Value p = attention.probabilities(query, op.getKey(), op.getBias(), scale, op.getCausal());
    Value valueGradient = attention.contract(p, gradient, "bkgst,bkgse->bkte");
    Value pGradient = attention.contract(gradient, op.getValue(), "bkgse,bkte->bkgst");
    RankedTensorType type = LaidOutBuilder::typeOf(p);
    int64_t columns = attention.columnDim();
    Value mean = b.unreduce(b.reduce(b.mul(pGradient, p), {columns}, Reduction::Sum), type, {columns});
    Value scoreGradient = b.mulScalar(b.mul(p, b.sub(pGradient, mean)), scale);
    Value queryGradient = attention.contract(scoreGradient, op.getKey(), "bkgst,bktd->bkgsd");
    Value keyGradient = attention.contract(scoreGradient, query, "bkgst,bkgsd->bktd");
    rewriter.replaceOp(op, {attention.joinHeads(queryGradient, op.getQuery().getType()), keyGradient, valueGradient});
    return success();
  }
};

} // namespace

void ds::populateDecomposeAttentionPatterns(RewritePatternSet &patterns) {
  patterns.add<DecomposeAttention, DecomposeAttentionGrad>(patterns.getContext());
}
