// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// Copies between views: transposes, slices, concatenations, pads, parts of a batch.

#include "Instructions.h"

using namespace mlir;
using namespace ds;

static std::unique_ptr<plan::ViewDimT> viewDim(int16_t loop, uint32_t extent, int64_t start = 0, int64_t step = 1) {
  auto dim = std::make_unique<plan::ViewDimT>();
  dim->loop = loop;
  dim->extent = extent;
  dim->start = start;
  dim->step = step;
  return dim;
}

void InstructionEmitter::addMove(Value from, uint32_t toStorage, Operation *op) {
  plan::CopyT copy;
  uint32_t count = countOf(from);
  copy.extents = {count};
  copy.type = dataTypeOf(cast<RankedTensorType>(from.getType()).getElementType());
  for (auto [view, buffer] : {std::pair(&copy.source, storage.storageOf(from)), std::pair(&copy.target, toStorage)}) {
    *view = std::make_unique<plan::ViewT>();
    (*view)->buffer = buffer;
    (*view)->dims.push_back(viewDim(0, count));
  }
  add(std::move(copy), op);
}

void InstructionEmitter::addFill(Value target, uint64_t bits, Operation *op) {
  plan::FillT fill;
  fill.buffer = storage.storageOf(target);
  fill.count = countOf(target);
  fill.type = dataTypeOf(cast<RankedTensorType>(target.getType()).getElementType());
  fill.bits = bits;
  add(std::move(fill), op);
}

namespace {
/// How a movement op sees its larger side: element i of a dim of the smaller side is element start + step * i of it.
struct LargerSide {
  bool isResult = false;
  SmallVector<int64_t> starts, steps; ///< one per dim
};

/// A movement op with the indices of its rule cut as its types say, and one loop per index of the smaller side.
class ViewBuilder {
public:
  ViewBuilder(Operation *op, unsigned number, const LayoutRule &rule, IndexSplits splits, LayoutExtents &extents)
      : rule(rule), splits(std::move(splits)), extents(extents), larger(largerSideOf(op, number)),
        hasOwnParts(!isa<TakePartOp>(op)) {
    const ValueIndices &input = rule.operands[number], &result = rule.results[0];
    small = larger.isResult ? input : result;
    big = larger.isResult ? result : input;
  }

  bool growsResult() const { return larger.isResult; }
  const std::vector<uint32_t> &loopExtents() const { return loops; }
  std::unique_ptr<plan::ViewT> buildSmall();
  /// After `buildSmall`.
  std::unique_ptr<plan::ViewT> buildBig();

private:
  static LargerSide largerSideOf(Operation *op, unsigned number);
  std::unique_ptr<plan::ViewDimT> bigDim(size_t dim, size_t place);

  const LayoutRule &rule;
  IndexSplits splits;
  LayoutExtents &extents;
  LargerSide larger;
  bool hasOwnParts; ///< whether the smaller side moves within the part that it sees: a taken part is one of many
  ValueIndices small, big;
  std::vector<uint32_t> loops; ///< the extent of each
  llvm::SmallDenseMap<unsigned, int16_t> loopOf;
};
} // namespace

LargerSide ViewBuilder::largerSideOf(Operation *op, unsigned number) {
  const int64_t rank = cast<RankedTensorType>(op->getResult(0).getType()).getRank();
  LargerSide side{false, SmallVector<int64_t>(rank, 0), SmallVector<int64_t>(rank, 1)};
  if (auto slice = dyn_cast<SliceOp>(op)) {
    side.starts.assign(slice.getOffsets());
    side.steps.assign(slice.getStrides());
  } else if (auto pad = dyn_cast<PadOp>(op)) {
    side.isResult = true;
    side.starts.assign(pad.getLow());
    for (auto [step, interior] : llvm::zip_equal(side.steps, pad.getInterior()))
      step = interior + 1;
  } else if (auto concat = dyn_cast<ConcatOp>(op)) {
    side.isResult = true;
    for (Value before : op->getOperands().take_front(number))
      side.starts[concat.getDim()] += cast<RankedTensorType>(before.getType()).getDimSize(concat.getDim());
  }
  return side;
}

std::unique_ptr<plan::ViewT> ViewBuilder::buildSmall() {
  auto view = std::make_unique<plan::ViewT>();
  for (const auto &indices : small)
    for (unsigned index : indices) {
      loopOf[index] = loops.size();
      loops.push_back(extents.add({splits[index]}));
      view->dims.push_back(viewDim(loopOf[index], loops.back()));
    }
  return view;
}

/// Index `place` of dim `dim` of the larger side. One of both sides is one loop. One that the smaller side lacks, the
/// parts of the dim, is seen at the part where the smaller side lies, by the smaller side's own parts if it has some.
std::unique_ptr<plan::ViewDimT> ViewBuilder::bigDim(size_t dim, size_t place) {
  const auto &indices = big[dim];
  const uint32_t extent = extents.add({splits[indices[place]]});
  const auto shared = loopOf.find(indices[place]);
  if (shared != loopOf.end())
    return viewDim(shared->second, extent);
  const bool smallHasParts = hasOwnParts && dim < small.size() && small[dim].size() == indices.size();
  const int64_t partSize = place + 1 < indices.size() ? rule.indices[indices.back()].size : 1;
  return viewDim(smallHasParts ? loopOf.lookup(small[dim][place]) : -1, extent, larger.starts[dim] / partSize,
                 larger.steps[dim]);
}

std::unique_ptr<plan::ViewT> ViewBuilder::buildBig() {
  auto view = std::make_unique<plan::ViewT>();
  for (size_t dim = 0; dim < big.size(); ++dim)
    for (size_t place = 0; place < big[dim].size(); ++place)
      view->dims.push_back(bigDim(dim, place));
  return view;
}

/// Copies operand `number` of a movement op into its place of the result. The iteration space is the smaller side: the
/// operand of a pad or concat, else the result.
static void emitView(Operation *op, unsigned number, InstructionEmitter &emitter) {
  const LayoutRule rule = *findLayoutRule(op);
  ViewBuilder builder(op, number, rule, emitter.splitsOf(op, rule), emitter.extents);
  plan::CopyT copy;
  copy.type = dataTypeOf(op->getResult(0));
  copy.source = builder.buildSmall();
  copy.target = builder.buildBig();
  if (!builder.growsResult())
    std::swap(copy.source, copy.target);
  copy.extents = builder.loopExtents();
  copy.source->buffer = emitter.storage.storageOf(op->getOperand(number));
  copy.target->buffer = emitter.storage.storageOf(op->getResult(0));
  copy.source->by_loop_index = isa<TakePartOp>(op);
  emitter.add(std::move(copy), op);
}

template <typename OpT> static LogicalResult emitViews(OpT op, InstructionEmitter &emitter) {
  for (unsigned number = 0; number < op->getNumOperands(); ++number)
    if (isa<RankedTensorType>(op->getOperand(number).getType()))
      emitView(op, number, emitter);
  return success();
}

/// What the input does not cover is zero.
static LogicalResult emitPad(PadOp op, InstructionEmitter &emitter) {
  emitter.addFill(op.getResult(), 0, op);
  return emitViews(op, emitter);
}

void ds::attachMovementInstructions(MLIRContext *context) {
  attachInstructions<ConcatOp, emitViews<ConcatOp>>(context);
  attachInstructions<PadOp, emitPad>(context);
  attachInstructions<SliceOp, emitViews<SliceOp>>(context);
  attachInstructions<TakePartOp, emitViews<TakePartOp>>(context);
  attachInstructions<TransposeOp, emitViews<TransposeOp>>(context);
}
