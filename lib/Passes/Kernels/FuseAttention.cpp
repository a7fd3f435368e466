// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "LaidOutBuilder.h"

#include "ds/Dialect/IndexNotation.h"
#include "ds/Passes/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ds {
#define GEN_PASS_DEF_FUSEATTENTIONPASS
#include "ds/Passes/Passes.h.inc"
} // namespace ds

using namespace mlir;
using namespace ds;

/// Whether the kernels can do it: f32, as many keys as queries where that matters, and a bias per key.
template <typename OpT> static bool canFuse(OpT op) {
  ArrayRef<int64_t> query = op.getQuery().getType().getShape(), key = op.getKey().getType().getShape();
  if (!op.getQuery().getType().getElementType().isF32() || (op.getCausal() && key[2] < query[2]))
    return false;
  return !op.getBias() || op.getBias().getType().getDimSize(2) == 1;
}

namespace {

/// The operands of an attention as a fused one takes them: query heads as [K, G], no dims of size 1 in the bias.
struct FusedOperands {
  Value query, key, value, bias;
  bool isGrouped;

  template <typename OpT>
  FusedOperands(OpT op, LaidOutBuilder &b, const Mesh &mesh)
      : key(op.getKey()), value(op.getValue()), mesh(mesh), heads(op.getKey().getType().getDimSize(1)),
        group(op.getQuery().getType().getDimSize(1) / heads) {
    isGrouped = group > 1;
    query = splitHeads(b, op.getQuery());
    if (op.getBias())
      squeezeBias(b, op.getBias());
  }

  /// [B, H, x, y] -> [B, K, G, x, y] if G > 1.
  Value splitHeads(LaidOutBuilder &b, Value tensor) const {
    if (!isGrouped)
      return tensor;
    Value split = b.splitDim(tensor, 1, {heads, group}, mesh);
    assert(split && "attention's layout rule keeps heads splittable");
    return split;
  }

  /// The notation of an op whose first operands and results have these letters; the bias comes last.
  StringAttr indices(LaidOutBuilder &b, ArrayRef<StringRef> operands, ArrayRef<StringRef> results) const {
    IndexNotation notation;
    for (StringRef text : operands)
      notation.operands.push_back(letters(text));
    if (bias)
      notation.operands.push_back(biasIndices);
    for (StringRef text : results)
      notation.results.push_back(letters(text));
    return b.builder.getStringAttr(notation.str());
  }

private:
  /// `text` with g only if there are groups.
  std::string letters(StringRef text) const {
    std::string result = text.str();
    if (!isGrouped)
      llvm::erase(result, 'g');
    return result;
  }

  void squeezeBias(LaidOutBuilder &b, Value full) {
    RankedTensorType type = LaidOutBuilder::typeOf(full);
    Layout layout = layoutOf(full), kept = Layout::replicated(0);
    SmallVector<int64_t> shape;
    std::optional<int64_t> headDim;
    for (int64_t dim : {0, 1, 3}) {
      if (type.getDimSize(dim) == 1 && dim != 3)
        continue;
      if (dim == 1)
        headDim = shape.size();
      shape.push_back(type.getDimSize(dim));
      kept.dims.push_back(layout.dims[dim]);
      biasIndices += letters(dim == 0 ? "b" : dim == 1 ? "kg" : "t");
    }
    bias = b.make<ReshapeOp>(withLayout(RankedTensorType::get(shape, type.getElementType()), kept), full);
    if (headDim && isGrouped)
      bias = b.splitDim(bias, *headDim, {heads, group}, mesh);
  }

  const Mesh &mesh;
  int64_t heads, group;
  std::string biasIndices;
};

class AttentionFuser {
public:
  explicit AttentionFuser(func::FuncOp function) : mesh(meshOf(function)) {}

  void fuse(AttentionOp op) {
    OpBuilder builder(op);
    LaidOutBuilder b(builder, op.getLoc());
    FusedOperands operands(op, b, mesh);
    FusedAttentionOp fused = build(op, b, operands);
    known[keyOf(op)] = fused;
    Value result = fused.getResult();
    op.replaceAllUsesWith(operands.isGrouped ? b.make<ReshapeOp>(op.getType(), result) : result);
    op.erase();
  }

  void fuse(AttentionGradOp op) {
    OpBuilder builder(op);
    LaidOutBuilder b(builder, op.getLoc());
    FusedOperands operands(op, b, mesh);
    FusedAttentionOp forward = known.lookup(keyOf(op));
    // The block of the gradient may be another's: a loop does not see into one that ended.
    if (!forward || forward->getBlock() != op->getBlock())
      forward = build(op, b, operands);
    Value gradient = operands.splitHeads(b, op.getGradient());
    StringAttr indices =
        operands.indices(b, {"bkgsd", "bktd", "bkte", "bkgse", "bkgs", "bkgs", "bkgse"}, {"bkgsd", "bktd", "bkte"});
    auto fused = FusedAttentionGradOp::create(
        builder, op.getLoc(), TypeRange{operands.query.getType(), operands.key.getType(), operands.value.getType()},
        operands.query, operands.key, operands.value, forward.getResult(), forward.getRowMax(), forward.getRowSum(),
        gradient, operands.bias, indices, op.getScaleAttr(), op.getCausalAttr());
    Value query = fused.getResult(0);
    if (operands.isGrouped)
      query = b.make<ReshapeOp>(op.getQuery().getType(), query);
    op->replaceAllUsesWith(ValueRange{query, fused.getResult(1), fused.getResult(2)});
    op.erase();
  }

private:
  using Key = std::tuple<Value, Value, Value, Value, Attribute, Attribute>;
  template <typename OpT> static Key keyOf(OpT op) {
    return {op.getQuery(), op.getKey(), op.getValue(), op.getBias(), op.getScaleAttr(), op.getCausalAttr()};
  }

  /// The attention of `op`, which may be a gradient.
  template <typename OpT> FusedAttentionOp build(OpT op, LaidOutBuilder &b, const FusedOperands &operands) {
    StringAttr indices = operands.indices(b, {"bkgsd", "bktd", "bkte"}, {"bkgse", "bkgs", "bkgs"});
    RankedTensorType query = LaidOutBuilder::typeOf(operands.query);
    Layout layout = layoutOf(query), rows = layout;
    rows.dims.pop_back();
    SmallVector<int64_t> shape(query.getShape());
    RankedTensorType statistic =
        withLayout(RankedTensorType::get(ArrayRef(shape).drop_back(), query.getElementType()), rows);
    shape.back() = op.getValue().getType().getShape().back();
    RankedTensorType result = withLayout(RankedTensorType::get(shape, query.getElementType()), layout);
    return FusedAttentionOp::create(b.builder, b.loc, result, statistic, statistic, operands.query, operands.key,
                                    operands.value, operands.bias, indices, op.getScaleAttr(), op.getCausalAttr());
  }

  const Mesh mesh;
  llvm::DenseMap<Key, FusedAttentionOp> known; ///< by all that the rows' statistics depend on
};

struct FuseAttention : ds::impl::FuseAttentionPassBase<FuseAttention> {
  void runOnOperation() override {
    AttentionFuser fuser(getOperation());
    getOperation().walk([&](Operation *op) {
      if (auto attention = dyn_cast<AttentionOp>(op); attention && canFuse(attention))
        fuser.fuse(attention);
      else if (auto gradient = dyn_cast<AttentionGradOp>(op); gradient && canFuse(gradient))
        fuser.fuse(gradient);
    });
  }
};

} // namespace
