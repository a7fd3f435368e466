// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// Copies between views: transposes, slices, concatenations, pads, parts of a batch.

#include "InstructionEmitter.h"

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

/// The whole of a value, element by element.
void InstructionEmitter::emitMove(Value from, uint32_t toStorage, Operation *op) {
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

void InstructionEmitter::emitFill(Value target, uint64_t bits, Operation *op) {
  plan::FillT fill;
  fill.buffer = storage.storageOf(target);
  fill.count = countOf(target);
  fill.type = dataTypeOf(cast<RankedTensorType>(target.getType()).getElementType());
  fill.bits = bits;
  add(std::move(fill), op);
}

namespace {
/// Where the elements of one dim's index stand on the side that is seen in part.
struct Part {
  int64_t start = 0, step = 1;
};
} // namespace

/// Copies operand `number` of a movement op into its place of the result. The iteration space is the smaller side: the
/// operand of a pad or concat, else the result. An index of both sides is one loop; what only the bigger side has is
/// seen at `Part`.
void InstructionEmitter::emitView(Operation *op, unsigned number) {
  LayoutRule rule = *findLayoutRule(op);
  IndexSplits splits = splitsOf(op, rule);
  bool growsResult = isa<PadOp, ConcatOp>(op);
  const ValueIndices &input = rule.operands[number], &result = rule.results[0];
  const ValueIndices &small = growsResult ? input : result, &big = growsResult ? result : input;

  plan::CopyT copy;
  copy.type = dataTypeOf(cast<RankedTensorType>(op->getResult(0).getType()).getElementType());
  llvm::SmallDenseMap<unsigned, int16_t> loops;
  auto smallView = std::make_unique<plan::ViewT>(), bigView = std::make_unique<plan::ViewT>();
  for (const auto &indices : small)
    for (unsigned index : indices) {
      int16_t loop = copy.extents.size();
      loops[index] = loop;
      copy.extents.push_back(extents.add({splits[index]}));
      smallView->dims.push_back(viewDim(loop, copy.extents.back()));
    }
  // An index that the small side lacks: the parts of a dim, or a dim seen with a step.
  auto partOf = [&](size_t dim, int64_t inner) -> Part {
    if (auto slice = dyn_cast<SliceOp>(op))
      return {slice.getOffsets()[dim] / inner, slice.getStrides()[dim]};
    if (auto pad = dyn_cast<PadOp>(op))
      return {pad.getLow()[dim] / inner, pad.getInterior()[dim] + 1};
    if (auto concat = dyn_cast<ConcatOp>(op)) {
      int64_t before = 0;
      for (unsigned other = 0; other < number; ++other)
        before += cast<RankedTensorType>(op->getOperand(other).getType()).getDimSize(dim);
      return {before / inner, 1};
    }
    return {};
  };
  for (auto [dim, indices] : llvm::enumerate(big))
    for (auto [place, index] : llvm::enumerate(indices)) {
      uint32_t extent = extents.add({splits[index]});
      auto shared = loops.find(index);
      if (shared != loops.end()) {
        bigView->dims.push_back(viewDim(shared->second, extent));
        continue;
      }
      int64_t inner = place + 1 < indices.size() ? rule.indices[indices.back()].size : 1;
      Part part = partOf(dim, inner);
      // The small side's own leading index of this dim, if it has one, moves within the part.
      bool smallHasParts = !isa<TakePartOp>(op) && dim < small.size() && small[dim].size() == indices.size();
      bigView->dims.push_back(
          viewDim(smallHasParts ? loops.lookup(small[dim][place]) : -1, extent, part.start, part.step));
    }
  bigView->by_loop_index = isa<TakePartOp>(op);
  (growsResult ? smallView : bigView)->buffer = storage.storageOf(op->getOperand(number));
  (growsResult ? bigView : smallView)->buffer = storage.storageOf(op->getResult(0));
  copy.source = std::move(growsResult ? smallView : bigView);
  copy.target = std::move(growsResult ? bigView : smallView);
  add(std::move(copy), op);
}

LogicalResult InstructionEmitter::emitMovement(Operation *op) {
  if (isa<PadOp>(op))
    emitFill(op->getResult(0), 0, op);
  for (unsigned number = 0; number < op->getNumOperands(); ++number)
    if (isa<RankedTensorType>(op->getOperand(number).getType()))
      emitView(op, number);
  return success();
}
