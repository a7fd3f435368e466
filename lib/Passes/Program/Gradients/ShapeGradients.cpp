// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "Gradients.h"

#include "ds/Dialect/Refusal.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;
using namespace ds;

static void differentiateBroadcast(BroadcastOp op, Gradients &g) {
  SmallVector<int64_t> added = dimRange(0, op.getType().getRank());
  llvm::erase_if(added, [&](int64_t dim) { return llvm::is_contained(op.getDims(), dim); });
  g.operands[0] = g.build.reduce(g.result(), added);
}

static void differentiateTranspose(TransposeOp op, Gradients &g) {
  g.operands[0] =
      g.build.value<TransposeOp>(op.getInput().getType(), g.result(), invertPermutationVector(op.getPermutation()));
}

static void differentiateReshape(ReshapeOp op, Gradients &g) {
  g.operands[0] = g.build.value<ReshapeOp>(op.getInput().getType(), g.result());
}

/// A slice with positive strides is undone by a pad; a dim taken backwards is turned round before.
static void differentiateSlice(SliceOp op, Gradients &g) {
  ArrayRef<int64_t> shape = op.getType().getShape();
  if (llvm::is_contained(shape, 0))
    return;
  SmallVector<int64_t> low(op.getOffsets()), interior, turnOffsets(low.size(), 0), turnStrides(low.size(), 1);
  for (auto [dim, stride] : llvm::enumerate(op.getStrides())) {
    if (stride == 0 && shape[dim] > 1) {
      g.status = refuse(op, Refusal::Unsupported) << "with a stride of 0 has no gradient";
      return;
    }
    interior.push_back(shape[dim] > 1 ? std::abs(stride) - 1 : 0);
    if (stride >= 0 || shape[dim] == 1)
      continue;
    turnOffsets[dim] = shape[dim] - 1;
    turnStrides[dim] = -1;
    low[dim] += (shape[dim] - 1) * stride;
  }
  Value gradient = g.result();
  if (llvm::is_contained(turnStrides, -1))
    gradient = g.build.value<SliceOp>(op.getType(), gradient, turnOffsets, turnStrides);
  g.operands[0] = g.build.value<PadOp>(op.getInput().getType(), gradient, low, interior);
}

static void differentiateConcat(ConcatOp op, Gradients &g) {
  int64_t offset = 0;
  for (auto [number, input] : llvm::enumerate(op.getInputs())) {
    int64_t size = tensorTypeOf(input).getDimSize(op.getDim());
    if (g.needed[number])
      g.operands[number] = g.build.slice(g.result(), op.getDim(), offset, size);
    offset += size;
  }
}

static void differentiatePad(PadOp op, Gradients &g) {
  SmallVector<int64_t> strides;
  for (int64_t interior : op.getInterior())
    strides.push_back(interior + 1);
  g.operands[0] = g.build.value<SliceOp>(op.getInput().getType(), g.result(), op.getLow(), strides);
}

/// The gradient lies as the value.
static void differentiateConstrain(ConstrainOp op, Gradients &g) {
  g.operands[0] = g.build.value<ConstrainOp>(g.result(), op.getLayoutAttr());
}

void ds::attachShapeGradients(MLIRContext *context) {
  attachRule<BroadcastOp, differentiateBroadcast>(context);
  attachRule<ConcatOp, differentiateConcat>(context);
  attachRule<ConstrainOp, differentiateConstrain>(context);
  attachRule<PadOp, differentiatePad>(context);
  attachRule<ReshapeOp, differentiateReshape>(context);
  attachRule<SliceOp, differentiateSlice>(context);
  attachRule<TransposeOp, differentiateTranspose>(context);
}
