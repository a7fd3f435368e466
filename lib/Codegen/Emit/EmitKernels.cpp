// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// Ops that are compiled to machine code.

#include "Instructions.h"

#include "ds/Analysis/AttentionShape.h"

using namespace mlir;
using namespace ds;

/// A call with the buffers of `op`; its extents, rows and chunks are still to be set.
static FailureOr<plan::KernelCallT> makeCall(Operation *op, CompiledKernel &compiled, InstructionEmitter &emitter) {
  FailureOr<CompiledKernel> found = emitter.kernels.add(op, emitter.mesh);
  if (failed(found))
    return failure();
  compiled = *found;
  plan::KernelCallT call;
  call.kernel = emitter.kernelId(compiled);
  for (Value operand : op->getOperands())
    call.buffers.push_back(emitter.storage.storageOf(operand));
  call.first_output = call.buffers.size();
  for (Value result : op->getResults()) {
    call.buffers.push_back(emitter.storage.storageOf(result));
    auto made = std::make_unique<plan::KernelResultT>();
    made->type = dataTypeOf(result);
    made->count = emitter.countOf(result);
    call.results.push_back(std::move(made));
  }
  llvm::append_range(call.buffers, emitter.storage.workspacesOf(op));
  return call;
}

static LogicalResult emitKernel(KernelOp op, InstructionEmitter &emitter) {
  CompiledKernel compiled;
  FailureOr<plan::KernelCallT> call = makeCall(op, compiled, emitter);
  if (failed(call))
    return failure();
  const KernelShape &shape = compiled.shape;
  const Layout layout = layoutOf(shape.space);
  const Shape sizes = shapeOf(shape.space);
  for (auto [begin, end] : shape.groups)
    call->extents.push_back(emitter.extents.addProduct(layout, sizes, begin, end));
  const int64_t rowEnd = shape.numRowGroups ? shape.groups[shape.numRowGroups - 1].second : 0;
  call->rows = emitter.extents.addProduct(layout, sizes, 0, rowEnd);
  call->chunks = shape.chunks;
  emitter.add(std::move(*call), op);
  return success();
}

/// A `ds.fused_attention` or its gradient.
template <typename OpT> static LogicalResult emitAttention(OpT op, InstructionEmitter &emitter) {
  CompiledKernel compiled;
  FailureOr<plan::KernelCallT> call = makeCall(op, compiled, emitter);
  if (failed(call))
    return failure();
  const LayoutRule rule = *findLayoutRule(op);
  const IndexSplits splits = emitter.splitsOf(op, rule);
  auto extentOf = [&](StringRef letters) {
    std::vector<DimLayout> dims;
    for (char letter : letters)
      if (std::optional<unsigned> index = indexOfLetter(op, rule, letter))
        dims.push_back(splits[*index]);
    return emitter.extents.add(dims);
  };
  const AttentionShape shape = analyzeAttention(op, emitter.mesh);
  for (StringRef letter : {"b", "k", "g", "s", "t"})
    call->extents.push_back(extentOf(letter));
  call->rows = extentOf(shape.rowLetters);
  call->chunks = shape.chunks;
  emitter.add(std::move(*call), op);
  return success();
}

static LogicalResult emitRotary(RotaryEmbeddingOp op, InstructionEmitter &emitter) {
  if (!op.getType().getElementType().isF32())
    return op.emitOpError("has no instruction in the plan");
  CompiledKernel compiled;
  FailureOr<plan::KernelCallT> call = makeCall(op, compiled, emitter);
  if (failed(call))
    return failure();
  const Layout layout = layoutOf(op.getInput());
  const Shape shape = shapeOf(op.getInput().getType());
  const int64_t last = op.getType().getRank() - 1;
  int64_t next = last;
  for (auto [begin, end] : op.getTableRuns()) {
    call->extents.push_back(emitter.extents.addProduct(layout, shape, end, next));
    call->extents.push_back(emitter.extents.addProduct(layout, shape, begin, end));
    next = begin;
  }
  call->extents.push_back(emitter.extents.addProduct(layout, shape, last, last + 1));
  call->rows = emitter.extents.addProduct(layout, shape, 0, last);
  const int64_t elements = maxOwnedElements(layout, shape, emitter.mesh);
  call->chunks = std::clamp<int64_t>(elements / kElementsPerKernelChunk, 1, kMaxKernelChunks);
  emitter.add(std::move(*call), op);
  return success();
}

void ds::attachKernelInstructions(MLIRContext *context) {
  attachInstructions<FusedAttentionGradOp, emitAttention<FusedAttentionGradOp>>(context);
  attachInstructions<FusedAttentionOp, emitAttention<FusedAttentionOp>>(context);
  attachInstructions<KernelOp, emitKernel>(context);
  attachInstructions<RotaryEmbeddingOp, emitRotary>(context);
}
