// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// Norms, activations, losses and rotary embeddings in primitive ops. Attention: DecomposeAttention.cpp, updates:
// DecomposeUpdates.cpp.

#include "DecomposePatterns.h"
#include "LaidOutBuilder.h"
#include "LibraryPatterns.h"

#include "ds/Passes/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

#include <cmath>
#include <limits>

namespace ds {
#define GEN_PASS_DEF_DECOMPOSECOMPOSITESPASS
#include "ds/Passes/Passes.h.inc"
} // namespace ds

using namespace mlir;
using namespace ds;

namespace {

using Dims = SmallVector<int64_t>;

Dims lastDims(int64_t rank, int64_t count) { return llvm::to_vector(llvm::seq<int64_t>(rank - count, rank)); }

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

Value buildLogSoftmax(LaidOutBuilder &b, Value input, int64_t dim) {
  RankedTensorType type = LaidOutBuilder::typeOf(input);
  Value max = b.reduce(input, {dim}, Reduction::Max);
  Value centered = b.sub(input, b.unreduce(max, type, {dim}));
  Value logSum = b.make<math::LogOp>(b.reduce(b.boundedExp(centered), {dim}, Reduction::Sum));
  return b.sub(centered, b.unreduce(logSum, type, {dim}));
}

/// A softmax or its logarithm, which `build` writes out along one dim. A dim between others comes to the end first:
/// along the last dim the whole function is one kernel, and no kernel folds a dim between others.
template <typename OpT, Value (*build)(LaidOutBuilder &, Value, int64_t)>
struct DecomposeAlongDim : OpRewritePattern<OpT> {
  using OpRewritePattern<OpT>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpT op, PatternRewriter &rewriter) const override {
    LaidOutBuilder b(rewriter, op.getLoc());
    RankedTensorType type = op.getType();
    const int64_t dim = op.getDim(), last = type.getRank() - 1;
    if (dim == 0 || dim == last) {
      rewriter.replaceOp(op, build(b, op.getInput(), dim));
      return success();
    }
    Dims swap = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
    std::swap(swap[dim], swap[last]);
    Value swapped = b.make<TransposeOp>(permutedType(type, swap), op.getInput(), swap);
    rewriter.replaceOpWithNewOp<TransposeOp>(op, type, build(b, swapped, last), swap);
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Norms
//===----------------------------------------------------------------------===//

/// 1 / sqrt(mean(x^2 over the last dims) + epsilon), repeated.
Value reciprocalRms(LaidOutBuilder &b, Value x, const Dims &dims, double epsilon) {
  RankedTensorType type = LaidOutBuilder::typeOf(x);
  int64_t count = 1;
  for (int64_t dim : dims)
    count *= type.getDimSize(dim);
  Value mean = b.mulScalar(b.reduce(b.mul(x, x), dims, Reduction::Sum), 1.0 / count);
  return b.unreduce(b.make<math::RsqrtOp>(b.addScalar(mean, epsilon)), type, dims);
}

struct DecomposeLayerNorm : OpRewritePattern<LayerNormOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(LayerNormOp op, PatternRewriter &rewriter) const override {
    LaidOutBuilder b(rewriter, op.getLoc());
    RankedTensorType type = op.getType();
    Dims dims = lastDims(type.getRank(), op.getScale().getType().getRank());
    double count = op.getScale().getType().getNumElements();
    // A division, as the rounding of 1 / count would leave something of equal numbers, which the deviation makes large.
    Value sum = b.reduce(op.getInput(), dims, Reduction::Sum);
    Value mean = b.div(sum, b.splat(count, LaidOutBuilder::typeOf(sum)));
    Value centered = b.sub(op.getInput(), b.unreduce(mean, type, dims));
    Value normal = b.mul(centered, reciprocalRms(b, centered, dims, op.getEpsilon().convertToDouble()));
    Value result = b.mul(normal, b.broadcast(op.getScale(), type, dims));
    if (op.getBias())
      result = b.add(result, b.broadcast(op.getBias(), type, dims));
    rewriter.replaceOp(op, result);
    return success();
  }
};

struct DecomposeRmsNorm : OpRewritePattern<RmsNormOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(RmsNormOp op, PatternRewriter &rewriter) const override {
    LaidOutBuilder b(rewriter, op.getLoc());
    Dims dims = lastDims(op.getType().getRank(), op.getScale().getType().getRank());
    Value normal = b.mul(op.getInput(), reciprocalRms(b, op.getInput(), dims, op.getEpsilon().convertToDouble()));
    rewriter.replaceOp(op, b.mul(normal, b.broadcast(op.getScale(), op.getType(), dims)));
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

struct DecomposeGelu : OpRewritePattern<GeluOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(GeluOp op, PatternRewriter &rewriter) const override {
    LaidOutBuilder b(rewriter, op.getLoc());
    Value x = op.getInput(), inner;
    if (op.getKind() == GeluKind::Erf) {
      inner = b.make<math::ErfOp>(b.mulScalar(x, M_SQRT1_2));
    } else {
      Value cubic = b.mulScalar(b.mul(b.mul(x, x), x), 0.044715);
      inner = b.make<math::TanhOp>(b.mulScalar(b.add(x, cubic), std::sqrt(2.0 / M_PI)));
    }
    rewriter.replaceOp(op, b.mul(b.mulScalar(x, 0.5), b.addScalar(inner, 1.0)));
    return success();
  }
};

struct DecomposeSigmoid : OpRewritePattern<SigmoidOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SigmoidOp op, PatternRewriter &rewriter) const override {
    LaidOutBuilder b(rewriter, op.getLoc());
    RankedTensorType type = op.getType();
    Value one = b.splat(1, type), minus = b.make<arith::NegFOp>(op.getInput());
    rewriter.replaceOp(op, b.div(one, b.add(b.exp(minus), one)));
    return success();
  }
};

/// max(x, 0) + log(1 + exp(-|x|)).
struct DecomposeSoftplus : OpRewritePattern<SoftplusOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SoftplusOp op, PatternRewriter &rewriter) const override {
    LaidOutBuilder b(rewriter, op.getLoc());
    Value x = op.getInput(), size = b.make<math::AbsFOp>(x);
    Value rest = b.make<math::Log1pOp>(b.boundedExp(b.make<arith::NegFOp>(size)));
    rewriter.replaceOp(op, b.add(b.make<arith::MaximumFOp>(x, b.splat(0, op.getType())), rest));
    return success();
  }
};

struct DecomposeSilu : OpRewritePattern<SiluOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SiluOp op, PatternRewriter &rewriter) const override {
    LaidOutBuilder b(rewriter, op.getLoc());
    Value x = op.getInput();
    rewriter.replaceOp(op, b.div(x, b.addScalar(b.exp(b.make<arith::NegFOp>(x)), 1.0)));
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Cross entropy
//===----------------------------------------------------------------------===//

/// What the loss and its gradient share, for logits [dims..., V] and labels [dims...].
struct CrossEntropyParts {
  CrossEntropyParts(LaidOutBuilder &b, Value logits, Value labels, int64_t ignoreIndex) {
    RankedTensorType type = LaidOutBuilder::typeOf(logits);
    dims = {type.getRank() - 1};
    Value max = b.reduce(logits, dims, Reduction::Max);
    centered = b.sub(logits, b.unreduce(max, type, dims));
    exponential = b.boundedExp(centered);
    sum = b.reduce(exponential, dims, Reduction::Sum);
    addLabels(b, labels, type, ignoreIndex);
  }

  /// `value` [dims...] where the label is a class, 0 where it is ignored, else NaN: a label outside of the range must
  /// not train silently. Labels that are inputs are refused before, when they are loaded.
  Value keepCounted(LaidOutBuilder &b, Value value) const {
    RankedTensorType type = LaidOutBuilder::typeOf(value);
    Value nan = b.splat(std::numeric_limits<double>::quiet_NaN(), type);
    Value counted = b.make<arith::SelectOp>(isClass, value, nan);
    return b.make<arith::SelectOp>(isValid, counted, b.splat(0, type));
  }

  /// The parts that labels of any width tell, for logits of `type`.
  void addLabels(LaidOutBuilder &b, Value labels, RankedTensorType type, int64_t ignoreIndex) {
    RankedTensorType labelType = LaidOutBuilder::typeOf(labels);
    const unsigned width = labelType.getElementType().getIntOrFloatBitWidth();
    isValid = llvm::isIntN(width, ignoreIndex)
                  ? b.make<arith::CmpIOp>(arith::CmpIPredicate::ne, labels, b.splat(ignoreIndex, labelType))
                  : b.splat(1, LaidOutBuilder::withElement(labelType, b.builder.getI1Type()));
    const RankedTensorType i32 = LaidOutBuilder::withElement(labelType, b.builder.getI32Type());
    if (width < 32) // the number of classes may need more bits
      labels = b.make<arith::ExtSIOp>(i32, labels);
    // Unsigned: negative labels are too large.
    isClass = b.make<arith::CmpIOp>(arith::CmpIPredicate::ult, labels,
                                    b.splat(type.getShape().back(), LaidOutBuilder::typeOf(labels)));
    if (width > 32) // loses bits only where it is no class
      labels = b.make<arith::TruncIOp>(i32, labels);
    isLabel = b.make<arith::CmpIOp>(arith::CmpIPredicate::eq, b.iota(type, dims[0]), b.unreduce(labels, type, dims));
  }

  Dims dims;         ///< the last dim
  Value centered;    ///< logits - max, [dims..., V]
  Value exponential; ///< exp of it
  Value sum;         ///< its sum, [dims...]
  Value isValid;     ///< label != ignore_index, [dims...]
  Value isClass;     ///< label in [0, V), [dims...]
  Value isLabel;     ///< column == label, [dims..., V]
};

struct DecomposeCrossEntropy : OpRewritePattern<CrossEntropyOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(CrossEntropyOp op, PatternRewriter &rewriter) const override {
    LaidOutBuilder b(rewriter, op.getLoc());
    CrossEntropyParts parts(b, op.getLogits(), op.getLabels(), op.getIgnoreIndex());
    Value zeros = b.splat(0, LaidOutBuilder::typeOf(parts.centered));
    Value target = b.reduce(b.make<arith::SelectOp>(parts.isLabel, parts.centered, zeros), parts.dims, Reduction::Sum);
    Value loss = b.sub(b.make<math::LogOp>(parts.sum), target);
    rewriter.replaceOp(op, parts.keepCounted(b, loss));
    return success();
  }
};

struct DecomposeCrossEntropyGrad : OpRewritePattern<CrossEntropyGradOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(CrossEntropyGradOp op, PatternRewriter &rewriter) const override {
    LaidOutBuilder b(rewriter, op.getLoc());
    CrossEntropyParts parts(b, op.getLogits(), op.getLabels(), op.getIgnoreIndex());
    RankedTensorType type = op.getType();
    Value gradient = parts.keepCounted(b, op.getGradient());
    Value probability = b.mul(parts.exponential, b.unreduce(b.div(gradient, parts.sum), type, parts.dims));
    Value target = b.make<arith::SelectOp>(parts.isLabel, b.unreduce(gradient, type, parts.dims), b.splat(0, type));
    rewriter.replaceOp(op, b.sub(probability, target));
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Rotary embedding
//===----------------------------------------------------------------------===//

struct DecomposeRotaryEmbedding : OpRewritePattern<RotaryEmbeddingOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(RotaryEmbeddingOp op, PatternRewriter &rewriter) const override {
    if (op.getType().getElementType().isF32())
      return rewriter.notifyMatchFailure(op, "has a kernel of its own");
    LaidOutBuilder b(rewriter, op.getLoc());
    auto [x1, x2] = halvesOf(b, op.getInput());
    auto [cosine1, cosine2] = anglesOf(b, op, op.getCosine(), x1);
    auto [sine1, sine2] = anglesOf(b, op, op.getSine(), x1);
    Value halves[] = {b.sub(b.mul(x1, cosine1), b.mul(x2, sine1)), b.add(b.mul(x2, cosine2), b.mul(x1, sine2))};
    rewriter.replaceOpWithNewOp<ConcatOp>(op, op.getType(), halves, op.getType().getRank() - 1);
    return success();
  }

  /// The two halves of the last dim.
  static std::pair<Value, Value> halvesOf(LaidOutBuilder &b, Value value) {
    RankedTensorType type = LaidOutBuilder::typeOf(value);
    Dims shape(type.getShape()), offsets(type.getRank(), 0), strides(type.getRank(), 1);
    shape.back() /= 2;
    auto halfType = RankedTensorType::get(shape, type.getElementType(), type.getEncoding());
    Value first = b.make<SliceOp>(halfType, value, offsets, strides);
    offsets.back() = shape.back();
    return {first, b.make<SliceOp>(halfType, value, offsets, strides)};
  }

  /// What each half of the input is multiplied with, repeated as `half` is.
  static std::pair<Value, Value> anglesOf(LaidOutBuilder &b, RotaryEmbeddingOp op, Value table, Value half) {
    Dims dims = op.getTableDims();
    dims.push_back(op.getType().getRank() - 1);
    auto repeat = [&](Value angles) { return b.broadcast(angles, LaidOutBuilder::typeOf(half), dims); };
    if (!op.hasWholeTables()) {
      Value angles = repeat(table);
      return {angles, angles};
    }
    auto [first, second] = halvesOf(b, table);
    return {repeat(first), repeat(second)};
  }
};

//===----------------------------------------------------------------------===//
// Reductions over middle dims
//===----------------------------------------------------------------------===//

/// A reduction of neither the leading nor the trailing dims becomes one of the trailing and then one of the leading
/// dims, or has its dims brought to the end.
struct SplitReduction : OpRewritePattern<ReduceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReduceOp op, PatternRewriter &rewriter) const override {
    ArrayRef<int64_t> dims = op.getDims();
    int64_t rank = op.getInput().getType().getRank(), count = dims.size();
    bool leads = count == 0 || dims.back() == count - 1, trails = count == 0 || dims.front() == rank - count;
    if (leads || trails)
      return failure();
    size_t runStart = dims.size() - 1;
    while (runStart > 0 && dims[runStart - 1] == dims[runStart] - 1)
      --runStart;
    bool isOfBothEnds =
        dims.back() == rank - 1 && runStart > 0 && dims[runStart - 1] == static_cast<int64_t>(runStart) - 1;
    if (!isOfBothEnds)
      return transposeFirst(op, rewriter);
    LaidOutBuilder b(rewriter, op.getLoc());
    Value folded = b.reduce(op.getInput(), dims.drop_front(runStart), op.getKind());
    rewriter.replaceOp(op, b.reduce(folded, dims.take_front(runStart), op.getKind()));
    return success();
  }

  /// Brings the dims to the end.
  LogicalResult transposeFirst(ReduceOp op, PatternRewriter &rewriter) const {
    LaidOutBuilder b(rewriter, op.getLoc());
    RankedTensorType type = op.getInput().getType();
    Dims permutation = otherDims(type.getRank(), op.getDims());
    llvm::append_range(permutation, op.getDims());
    Value transposed = b.make<TransposeOp>(permutedType(type, permutation), op.getInput(), permutation);
    rewriter.replaceOp(op, b.reduce(transposed, lastDims(type.getRank(), op.getDims().size()), op.getKind()));
    return success();
  }
};

/// A reduction over the leading (or trailing) dims of a reshape that joins dims folds all that were joined: the reshape
/// need not stand between a producer and its reduction.
struct FoldReshapeIntoReduction : OpRewritePattern<ReduceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReduceOp op, PatternRewriter &rewriter) const override {
    auto join = op.getInput().getDefiningOp<ReshapeOp>();
    if (!join)
      return failure();
    auto groups = groupDims(join.getType().getShape(), join.getInput().getType().getShape());
    if (!groups)
      return rewriter.notifyMatchFailure(op, "reshape does more than join dims");
    Dims folded;
    for (auto [dim, group] : llvm::enumerate(*groups)) {
      bool isFolded = llvm::is_contained(op.getDims(), static_cast<int64_t>(dim));
      if (isFolded)
        llvm::append_range(folded, group);
      else if (group.size() != 1)
        return rewriter.notifyMatchFailure(op, "a dim that stays was joined, or put in with one element");
    }
    rewriter.replaceOpWithNewOp<ReduceOp>(op, op.getType(), join.getInput(), folded, op.getKind());
    return success();
  }
};

struct DecomposeComposites : ds::impl::DecomposeCompositesPassBase<DecomposeComposites> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns
        .add<DecomposeAlongDim<SoftmaxOp, buildSoftmax>, DecomposeAlongDim<LogSoftmaxOp, buildLogSoftmax>,
             DecomposeLayerNorm, DecomposeRmsNorm, DecomposeGelu, DecomposeSigmoid, DecomposeSilu, DecomposeSoftplus,
             DecomposeCrossEntropy, DecomposeCrossEntropyGrad, DecomposeRotaryEmbedding, FoldReshapeIntoReduction>(
            &getContext());
    populateDecomposeAttentionPatterns(patterns);
    walkAndApplyPatterns(getOperation(), std::move(patterns));
    // A walk of its own, as one walk does not visit the reductions that it makes.
    RewritePatternSet reductions(&getContext());
    reductions.add<SplitReduction>(&getContext());
    walkAndApplyPatterns(getOperation(), std::move(reductions));
  }
};

} // namespace

Value ds::buildSoftmax(LaidOutBuilder &b, Value input, int64_t dim) {
  RankedTensorType type = LaidOutBuilder::typeOf(input);
  Value max = b.reduce(input, {dim}, Reduction::Max);
  Value exponential = b.boundedExp(b.sub(input, b.unreduce(max, type, {dim})));
  Value sum = b.reduce(exponential, {dim}, Reduction::Sum);
  Value inverse = b.div(b.splat(1.0, LaidOutBuilder::typeOf(sum)), sum);
  return b.mul(exponential, b.unreduce(inverse, type, {dim}));
}
