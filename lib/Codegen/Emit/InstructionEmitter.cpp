// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "InstructionEmitter.h"

#include "ds/Analysis/AttentionShape.h"
#include "ds/Analysis/PredictedTime.h"
#include "ds/Plan/LayoutTables.h"

using namespace mlir;
using namespace ds;

plan::DataType ds::dataTypeOf(Type element) {
  if (element.isF32())
    return plan::DataType::F32;
  if (element.isF64())
    return plan::DataType::F64;
  if (element.isF16())
    return plan::DataType::F16;
  if (element.isBF16())
    return plan::DataType::BF16;
  if (element.isInteger(1))
    return plan::DataType::Bool;
  if (element.isInteger(8))
    return plan::DataType::I8;
  return element.isInteger(32) ? plan::DataType::I32 : plan::DataType::I64;
}

InstructionEmitter::InstructionEmitter(const Mesh &mesh, const AssignedStorage &storage, CpuCompiler &kernels,
                                       plan::PlanT &plan)
    : mesh(mesh), storage(storage), kernels(kernels), plan(plan), extents(mesh, plan) {
  auto queue = std::make_unique<plan::QueueT>();
  queue->name = "compute";
  queue->kind = plan::QueueKind::Compute;
  plan.queues.push_back(std::move(queue));
}

//===----------------------------------------------------------------------===//
// Instructions and queues
//===----------------------------------------------------------------------===//

void InstructionEmitter::append(size_t queue, plan::OperationUnion operation, Operation *op) {
  auto instruction = std::make_unique<plan::InstructionT>();
  instruction->operation = std::move(operation);
  instruction->order = nextOrder++;
  if (op)
    instruction->name = describe(op);
  plan.queues[queue]->instructions.push_back(std::move(instruction));
}

size_t InstructionEmitter::queueOfAxis(StringRef axis) {
  uint16_t id = axisId(mesh, std::string_view(axis.data(), axis.size()));
  for (size_t number = 0; number < plan.queues.size(); ++number)
    if (plan.queues[number]->kind == plan::QueueKind::Collective && plan.queues[number]->axis == id)
      return number;
  auto queue = std::make_unique<plan::QueueT>();
  queue->name = "collective." + axis.str();
  queue->kind = plan::QueueKind::Collective;
  queue->axis = id;
  plan.queues.push_back(std::move(queue));
  return plan.queues.size() - 1;
}

//===----------------------------------------------------------------------===//
// Extents
//===----------------------------------------------------------------------===//

IndexSplits InstructionEmitter::splitsOf(Operation *op, const LayoutRule &rule) {
  IndexSplits splits;
  for (const RuleIndex &index : rule.indices)
    splits.push_back({Factor{index.size, {}}});
  auto addValue = [&](Value value, const ValueIndices &indices) {
    if (!isa<RankedTensorType>(value.getType()))
      return;
    auto found = splitsOfValue(layoutOf(value), indices, rule, shapeOf(value.getType()), mesh);
    assert(found && "ds-verify-layouts has checked the op's rule");
    for (auto [dim, list] : llvm::enumerate(indices))
      for (auto [place, index] : llvm::enumerate(list))
        splits[index] = resolvedDim((*found)[dim][place], rule.indices[index].size);
  };
  for (auto [number, operand] : llvm::enumerate(op->getOperands()))
    addValue(operand, rule.operands[number]);
  for (auto [number, result] : llvm::enumerate(op->getResults()))
    addValue(result, rule.results[number]);
  return splits;
}

//===----------------------------------------------------------------------===//
// Structure
//===----------------------------------------------------------------------===//

void InstructionEmitter::emitAssign(AssignOp op) {
  unsigned target = storage.storageOfVariable(op.getVariable());
  if (storage.storageOf(op.getValue()) != target)
    emitMove(op.getValue(), target, op);
}

/// The bits of a splat's element, in the low bytes.
static uint64_t bitsOf(SplatElementsAttr splat) {
  Attribute value = splat.getSplatValue<Attribute>();
  if (auto number = dyn_cast<FloatAttr>(value))
    return number.getValue().bitcastToAPInt().getZExtValue();
  auto integer = cast<IntegerAttr>(value);
  return integer.getValue().getZExtValue();
}

std::vector<uint8_t> ds::bytesOf(DenseElementsAttr elements) {
  std::vector<uint8_t> bytes;
  if (elements.getElementType().isInteger(1)) {
    for (bool value : elements.getValues<bool>())
      bytes.push_back(value);
    return bytes;
  }
  ArrayRef<char> raw = elements.getRawData();
  int64_t repeats = elements.isSplat() ? elements.getNumElements() : 1;
  for (int64_t i = 0; i < repeats; ++i)
    bytes.insert(bytes.end(), raw.begin(), raw.end());
  return bytes;
}

/// A splat is filled in where it stands; other elements are a variable that nobody assigns.
void InstructionEmitter::emitConstant(arith::ConstantOp op) {
  if (!isa<RankedTensorType>(op.getType()))
    return;
  if (auto splat = dyn_cast<SplatElementsAttr>(op.getValue()))
    return emitFill(op, bitsOf(splat), op);
  unsigned id = storage.storageOf(op);
  auto variable = std::make_unique<plan::VariableT>();
  variable->name = "constant." + std::to_string(id);
  variable->role = plan::VariableRole::Cache;
  variable->type = dataTypeOf(cast<RankedTensorType>(op.getType()).getElementType());
  variable->shape = shapeOf(op.getType());
  variable->layout = layoutTableOf(op.getType(), mesh);
  variable->buffer = id;
  variable->inline_data = bytesOf(cast<DenseElementsAttr>(op.getValue()));
  plan.variables.push_back(std::move(variable));
}

/// One on every queue.
void InstructionEmitter::emitMarkers(plan::OperationUnion marker, scf::ForOp loop) {
  for (size_t queue = 0; queue < plan.queues.size(); ++queue)
    append(queue, marker, loop);
}

LogicalResult InstructionEmitter::emitLoop(scf::ForOp loop) {
  std::optional<APInt> trips = loop.getStaticTripCount();
  if (!trips)
    return loop.emitOpError("must have a constant number of iterations");
  for (auto [init, arg] : llvm::zip_equal(loop.getInitArgs(), loop.getRegionIterArgs()))
    if (isa<RankedTensorType>(arg.getType()) && storage.storageOf(init) != storage.storageOf(arg))
      emitMove(init, storage.storageOf(arg), loop);
  ranges.back().end = nextOrder;
  plan::LoopBeginT begin;
  begin.count = trips->getZExtValue();
  plan::OperationUnion marker;
  marker.Set(begin);
  emitMarkers(marker, loop);
  if (failed(emitBlock(*loop.getBody())))
    return failure();
  Operation *yield = loop.getBody()->getTerminator();
  for (auto [value, arg] : llvm::zip_equal(yield->getOperands(), loop.getRegionIterArgs()))
    if (isa<RankedTensorType>(arg.getType()) && storage.storageOf(value) != storage.storageOf(arg))
      emitMove(value, storage.storageOf(arg), yield);
  marker.Set(plan::LoopEndT());
  emitMarkers(marker, loop);
  ranges.back().end = nextOrder;
  return success();
}

uint32_t InstructionEmitter::kernelId(StringRef hash, bool hasFinish) {
  auto [it, isNew] = kernelIds.try_emplace(hash, plan.kernels.size());
  if (isNew) {
    auto kernel = std::make_unique<plan::KernelT>();
    kernel->hash = hash;
    kernel->symbol = kernelSymbol(hash);
    kernel->has_finish = hasFinish;
    plan.kernels.push_back(std::move(kernel));
  }
  return it->second;
}

plan::KernelCallT InstructionEmitter::kernelCall(Operation *op, StringRef hash, bool hasFinish) {
  plan::KernelCallT call;
  call.kernel = kernelId(hash, hasFinish);
  for (Value operand : op->getOperands())
    call.buffers.push_back(storage.storageOf(operand));
  call.first_output = call.buffers.size();
  for (Value result : op->getResults()) {
    call.buffers.push_back(storage.storageOf(result));
    auto made = std::make_unique<plan::KernelResultT>();
    made->type = dataTypeOf(cast<RankedTensorType>(result.getType()).getElementType());
    made->count = extents.addCount(layoutOf(result), shapeOf(result.getType()));
    call.results.push_back(std::move(made));
  }
  llvm::append_range(call.buffers, storage.workspacesOf(op));
  return call;
}

LogicalResult InstructionEmitter::emitKernel(KernelOp op) {
  FailureOr<CompiledKernel> compiled = kernels.add(op, mesh);
  if (failed(compiled))
    return failure();
  const KernelShape &shape = compiled->shape;
  plan::KernelCallT call = kernelCall(op, compiled->hash, shape.hasFinish);
  Layout layout = layoutOf(shape.space);
  Shape sizes = shapeOf(shape.space);
  for (auto [begin, end] : shape.groups)
    call.extents.push_back(extents.addProduct(layout, sizes, begin, end));
  int64_t rowEnd = shape.numRowGroups ? shape.groups[shape.numRowGroups - 1].second : 0;
  call.rows = extents.addProduct(layout, sizes, 0, rowEnd);
  call.chunks = shape.chunks;
  add(std::move(call), op);
  return success();
}

/// A `ds.fused_attention` or its gradient.
void InstructionEmitter::emitAttention(Operation *op) {
  LayoutRule rule = *findLayoutRule(op);
  IndexSplits splits = splitsOf(op, rule);
  auto extentOf = [&](StringRef letters) {
    std::vector<DimLayout> dims;
    for (char letter : letters)
      if (std::optional<unsigned> index = indexOfLetter(op, rule, letter))
        dims.push_back(splits[*index]);
    return extents.add(dims);
  };
  AttentionShape shape = analyzeAttention(op, mesh);
  plan::KernelCallT call = kernelCall(op, kernels.addAttention(op), /*hasFinish=*/false);
  for (StringRef letter : {"b", "k", "g", "s", "t"})
    call.extents.push_back(extentOf(letter));
  call.rows = extentOf(shape.rowLetters);
  call.chunks = shape.chunks;
  add(std::move(call), op);
}

void InstructionEmitter::emitRotary(RotaryEmbeddingOp op) {
  plan::KernelCallT call = kernelCall(op, kernels.addRotary(op), /*hasFinish=*/false);
  Layout layout = layoutOf(op.getInput());
  Shape shape = shapeOf(op.getInput().getType());
  const int64_t last = op.getType().getRank() - 1;
  int64_t next = last;
  for (auto [begin, end] : op.getTableRuns()) {
    call.extents.push_back(extents.addProduct(layout, shape, end, next));
    call.extents.push_back(extents.addProduct(layout, shape, begin, end));
    next = begin;
  }
  call.extents.push_back(extents.addProduct(layout, shape, last, last + 1));
  call.rows = extents.addProduct(layout, shape, 0, last);
  int64_t elements = maxOwnedElements(layout, shape, mesh);
  call.chunks = std::clamp<int64_t>(elements / kElementsPerKernelChunk, 1, kMaxKernelChunks);
  add(std::move(call), op);
}

LogicalResult InstructionEmitter::emit(Operation *op) {
  if (isa<ReadOp, ReshapeOp, FenceOp, WaitOp, scf::YieldOp, func::ReturnOp>(op))
    return success();
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return emitConstant(constant), success();
  if (auto assign = dyn_cast<AssignOp>(op))
    return emitAssign(assign), success();
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return emitLoop(loop);
  if (auto kernel = dyn_cast<KernelOp>(op))
    return emitKernel(kernel);
  if (isa<FusedAttentionOp, FusedAttentionGradOp>(op))
    return emitAttention(op), success();
  if (auto rotary = dyn_cast<RotaryEmbeddingOp>(op); rotary && rotary.getType().getElementType().isF32())
    return emitRotary(rotary), success();
  if (isa<MatmulOp, FusedMatmulOp>(op))
    return emitMatmul(op), success();
  if (auto start = dyn_cast<StartOp>(op))
    return emitStart(start);
  if (isa<TransposeOp, SliceOp, ConcatOp, PadOp, TakePartOp>(op))
    return emitMovement(op);
  if (isa<TakeShardOp, ToPartialOp, RemapOp>(op))
    return emitLocalCast(op);
  return emitLibrary(op);
}

/// An op that became several instructions spreads its time over them.
void InstructionEmitter::addPredictedTime(Operation *op, uint32_t firstOrder) {
  auto queue = isa<StartOp>(op) ? plan.queues.begin() + queueOfAxis(cast<StartOp>(op).getAxis()) : plan.queues.begin();
  for (auto it = (*queue)->instructions.rbegin(); it != (*queue)->instructions.rend() && (*it)->order >= firstOrder;
       ++it)
    (*it)->seconds = predictedSeconds(op) / (nextOrder - firstOrder);
}

LogicalResult InstructionEmitter::emitBlock(Block &block) {
  for (Operation &op : block) {
    ranges.push_back({nextOrder, nextOrder});
    if (failed(emit(&op)))
      return failure();
    if (isa<scf::ForOp>(op))
      continue;
    ranges.back().end = nextOrder;
    addPredictedTime(&op, ranges.back().begin);
  }
  return success();
}

LogicalResult InstructionEmitter::emitFunction(func::FuncOp function) {
  // Every queue has the loop, so all queues must exist before it.
  function.walk([&](StartOp start) { queueOfAxis(start.getAxis()); });
  return emitBlock(function.getBody().front());
}
