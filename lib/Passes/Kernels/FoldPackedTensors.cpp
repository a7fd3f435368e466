// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// Query, key and value of one matmul: the attention reads its parts where they lie, and writes their gradients there.

#include "LibraryPatterns.h"

#include "ds/Dialect/IndexNotation.h"

using namespace mlir;
using namespace ds;

namespace {

/// One of `count` equal parts of a tensor along a dim.
struct Part {
  Value whole;
  int64_t dim, count, number;
};

} // namespace

/// The part that a slice takes, if it takes one.
static std::optional<Part> partOf(SliceOp slice) {
  ArrayRef<int64_t> whole = slice.getInput().getType().getShape(), part = slice.getType().getShape();
  std::optional<int64_t> cut;
  for (size_t dim = 0; dim < whole.size(); ++dim) {
    if (slice.getStrides()[dim] != 1 || (cut && whole[dim] != part[dim]))
      return std::nullopt;
    if (whole[dim] != part[dim])
      cut = dim;
  }
  if (!cut || part[*cut] == 0 || whole[*cut] % part[*cut] || slice.getOffsets()[*cut] % part[*cut])
    return std::nullopt;
  return Part{slice.getInput(), *cut, whole[*cut] / part[*cut], slice.getOffsets()[*cut] / part[*cut]};
}

/// The type of a tensor `whole` seen as parts that are shaped as `like`; null if the layout does not allow it.
static RankedTensorType packedType(RankedTensorType whole, int64_t dim, int64_t count, RankedTensorType like,
                                   ArrayRef<SmallVector<int64_t>> places, const Mesh &mesh) {
  Layout layout = layoutOf(whole), likeLayout = layoutOf(like), packed = layout;
  packed.dims.clear();
  SmallVector<int64_t> shape;
  for (auto [number, group] : llvm::enumerate(places)) {
    Shape sizes;
    for (int64_t place : group)
      sizes.push_back(like.getDimSize(place));
    if (static_cast<int64_t>(number) == dim)
      sizes.insert(sizes.begin(), count);
    auto dims = splitDim(resolvedDim(layout.dims[number], whole.getDimSize(number)), sizes, mesh);
    if (!dims)
      return {};
    llvm::append_range(shape, sizes);
    packed.dims.insert(packed.dims.end(), dims->begin(), dims->end());
  }
  return withLayout(RankedTensorType::get(shape, whole.getElementType()), packed);
}

/// `letters` with the digit `number` before those of `dim`.
static std::string insertCoordinate(StringRef letters, int64_t dim, int64_t number,
                                    ArrayRef<SmallVector<int64_t>> places) {
  std::string result;
  for (auto [at, group] : llvm::enumerate(places)) {
    if (static_cast<int64_t>(at) == dim)
      result.push_back(static_cast<char>('0' + number));
    for (int64_t place : group)
      result.push_back(letters[place]);
  }
  return result;
}

namespace {

/// An operand that is a slice, or a reshaped one: the operand is the whole, at a coordinate.
template <typename OpT> struct FoldOperandSlice : OpRewritePattern<OpT> {
  using OpRewritePattern<OpT>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpT op, PatternRewriter &rewriter) const override {
    IndexNotation notation = notationOf(op);
    for (unsigned number : {0u, 1u, 2u}) {
      Value operand = op->getOperand(number);
      auto reshape = operand.getDefiningOp<ReshapeOp>();
      auto slice = (reshape ? reshape.getInput() : operand).template getDefiningOp<SliceOp>();
      std::optional<Part> part = slice ? partOf(slice) : std::nullopt;
      if (!part || part->number > 9)
        continue;
      auto type = cast<RankedTensorType>(operand.getType());
      auto places = groupDims(slice.getType().getShape(), type.getShape());
      if (!places)
        continue;
      const Mesh mesh = meshOf(op);
      RankedTensorType packed =
          packedType(cast<RankedTensorType>(part->whole.getType()), part->dim, part->count, type, *places, mesh);
      if (!packed)
        continue;
      Value view = ReshapeOp::create(rewriter, op.getLoc(), packed, part->whole);
      notation.operands[number] = insertCoordinate(notation.operands[number], part->dim, part->number, *places);
      rewriter.modifyOpInPlace(op, [&] {
        op->setOperand(number, view);
        op.setIndices(notation.str());
      });
      return success();
    }
    return failure();
  }
};

/// concat of the three gradients: they are written where they are wanted.
struct FoldConcatOfGradients : OpRewritePattern<ConcatOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ConcatOp op, PatternRewriter &rewriter) const override {
    if (op.getInputs().size() != 3)
      return failure();
    FusedAttentionGradOp attention;
    std::array<int64_t, 3> numbers; // of the parts, by gradient
    RankedTensorType part = cast<RankedTensorType>(op.getInputs()[0].getType()), like;
    for (auto [number, input] : llvm::enumerate(op.getInputs())) {
      auto reshape = input.getDefiningOp<ReshapeOp>();
      auto gradient = dyn_cast<OpResult>(reshape ? reshape.getInput() : input);
      auto owner = gradient ? dyn_cast<FusedAttentionGradOp>(gradient.getOwner()) : FusedAttentionGradOp();
      bool isFirst = number == 0;
      if (!owner || owner.getNumResults() != 3 || (!isFirst && owner != attention) || input.getType() != part ||
          !input.hasOneUse() || !gradient.hasOneUse())
        return rewriter.notifyMatchFailure(op, "does not join the gradients of one attention");
      attention = owner;
      numbers[gradient.getResultNumber()] = number;
      if (isFirst)
        like = cast<RankedTensorType>(gradient.getType());
      if (gradient.getType() != like)
        return rewriter.notifyMatchFailure(op, "gradients have different shapes");
    }
    auto places = groupDims(part.getShape(), like.getShape());
    if (!places)
      return rewriter.notifyMatchFailure(op, "gradients are reshaped by more than joining dims");
    RankedTensorType packed = packedType(op.getType(), op.getDim(), 3, like, *places, meshOf(op));
    if (!packed)
      return rewriter.notifyMatchFailure(op, "layout does not keep the parts whole");
    IndexNotation notation = notationOf(attention);
    for (auto [number, letters] : llvm::zip_equal(numbers, notation.results))
      letters = insertCoordinate(letters, op.getDim(), number, *places);
    rewriter.setInsertionPoint(attention);
    auto fused = FusedAttentionGradOp::create(rewriter, attention.getLoc(), TypeRange(packed), attention.getOperands(),
                                              attention->getAttrs());
    fused.setIndices(notation.str());
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), fused.getResult(0));
    return success();
  }
};

/// A sum of pads that fill a dim without overlap is a concatenation.
struct ConcatOfPads : OpRewritePattern<arith::AddFOp> {
  using OpRewritePattern::OpRewritePattern;

  /// The pads of a tree of sums, each used once; none if there is anything else, or more than `limit` sums.
  static SmallVector<PadOp> padsOf(arith::AddFOp root, int64_t limit) {
    SmallVector<PadOp> pads;
    SmallVector<Value> stack = {root.getRhs(), root.getLhs()};
    while (!stack.empty()) {
      Value value = stack.pop_back_val();
      if (!value.hasOneUse())
        return {};
      if (auto pad = value.getDefiningOp<PadOp>()) {
        pads.push_back(pad);
        continue;
      }
      auto sum = value.getDefiningOp<arith::AddFOp>();
      if (!sum || --limit <= 0)
        return {};
      stack.append({sum.getRhs(), sum.getLhs()});
    }
    return pads;
  }

  LogicalResult matchAndRewrite(arith::AddFOp op, PatternRewriter &rewriter) const override {
    // No more pads than elements along the longest dim: a long chain of other sums is left at once.
    RankedTensorType whole = cast<RankedTensorType>(op.getType());
    ArrayRef<int64_t> shape = whole.getShape();
    SmallVector<PadOp> pads = shape.empty() ? SmallVector<PadOp>() : padsOf(op, *llvm::max_element(shape));
    if (pads.empty())
      return failure();
    ArrayRef<int64_t> first = pads.front().getInput().getType().getShape();
    const auto *cut = std::mismatch(shape.begin(), shape.end(), first.begin()).first;
    int64_t dim = cut - shape.begin();
    if (dim == whole.getRank())
      return failure();
    llvm::stable_sort(pads, [&](PadOp a, PadOp b) { return a.getLow()[dim] < b.getLow()[dim]; });
    int64_t next = 0;
    SmallVector<Value> parts;
    for (PadOp pad : pads) {
      SmallVector<int64_t> expected(shape);
      expected[dim] = pad.getInput().getType().getDimSize(dim);
      if (pad.getInput().getType().getShape() != ArrayRef(expected) || pad.getLow()[dim] != next ||
          llvm::any_of(pad.getInterior(), [](int64_t gap) { return gap != 0; }))
        return rewriter.notifyMatchFailure(op, "pads do not fill one dim");
      next += expected[dim];
      parts.push_back(pad.getInput());
    }
    if (next != shape[dim])
      return rewriter.notifyMatchFailure(op, "pads leave a gap");
    rewriter.replaceOpWithNewOp<ConcatOp>(op, whole, parts, dim);
    return success();
  }
};

} // namespace

void ds::populateFoldPackedTensorPatterns(RewritePatternSet &patterns) {
  patterns.add<FoldOperandSlice<FusedAttentionOp>, FoldOperandSlice<FusedAttentionGradOp>, FoldConcatOfGradients,
               ConcatOfPads>(patterns.getContext());
}
