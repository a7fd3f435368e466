// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "InstructionEmitter.h"

#include "ds/Analysis/PredictedWork.h"

using namespace mlir;
using namespace ds;

#include "InstructionOpInterface.cpp.inc"

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

InstructionEmitter::InstructionEmitter(const Mesh &mesh, const AssignedStorage &storage, KernelCompiler &kernels,
                                       plan::PlanT &plan)
    : mesh(mesh), storage(storage), kernels(kernels), extents(mesh, plan), plan(plan) {}

//===----------------------------------------------------------------------===//
// Queues
//===----------------------------------------------------------------------===//

size_t InstructionEmitter::findOrAddQueue(plan::QueueKind kind, StringRef name, uint16_t axis) {
  for (size_t number = 0; number < plan.queues.size(); ++number)
    if (plan.queues[number]->kind == kind && plan.queues[number]->axis == axis)
      return number;
  auto queue = std::make_unique<plan::QueueT>();
  queue->name = name.str();
  queue->kind = kind;
  queue->axis = axis;
  plan.queues.push_back(std::move(queue));
  return plan.queues.size() - 1;
}

size_t InstructionEmitter::queueOf(Operation *op) {
  auto start = dyn_cast<StartOp>(op);
  if (!start)
    return findOrAddQueue(plan::QueueKind::Compute, "compute", 0);
  const std::string axis = start.getAxis().str();
  return findOrAddQueue(plan::QueueKind::Collective, "collective." + axis, axisId(mesh, axis));
}

plan::InstructionT &InstructionEmitter::append(size_t queue, plan::OperationUnion operation, Operation *op) {
  auto instruction = std::make_unique<plan::InstructionT>();
  instruction->operation = std::move(operation);
  instruction->order = nextOrder++;
  instruction->name = describe(op);
  plan.queues[queue]->instructions.push_back(std::move(instruction));
  return *plan.queues[queue]->instructions.back();
}

static std::unique_ptr<plan::WorkT> workTableOf(const Work &work) {
  auto table = std::make_unique<plan::WorkT>();
  table->matmul_flops = work.matmulFlops;
  table->attention_flops = work.attentionFlops;
  table->element_operations = work.elementOps;
  table->bytes = work.bytes;
  table->parts = work.parts;
  table->link_rounds = work.linkRounds;
  table->link_bytes = work.linkBytes;
  return table;
}

/// An op that became several instructions spreads its time over them, and leaves its work to the last.
void InstructionEmitter::addPrediction(Operation *op, uint32_t firstOrder) {
  if (!op->hasAttr(kWorkAttr) || firstOrder == nextOrder)
    return;
  auto &instructions = plan.queues[queueOf(op)]->instructions;
  instructions.back()->work = workTableOf(predictedWork(op));
  for (auto it = instructions.rbegin(); it != instructions.rend() && (*it)->order >= firstOrder; ++it)
    (*it)->seconds = predictedSeconds(op) / (nextOrder - firstOrder);
}

//===----------------------------------------------------------------------===//
// What ops ask
//===----------------------------------------------------------------------===//

IndexSplits InstructionEmitter::splitsOf(Operation *op, const LayoutRule &rule) const {
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

uint32_t InstructionEmitter::kernelId(const CompiledKernel &compiled) {
  auto [it, isNew] = kernelIds.try_emplace(compiled.hash, plan.kernels.size());
  if (isNew) {
    auto kernel = std::make_unique<plan::KernelT>();
    kernel->hash = compiled.hash;
    kernel->symbol = kernelSymbol(compiled.hash);
    kernel->has_finish = compiled.shape.hasFinish;
    plan.kernels.push_back(std::move(kernel));
  }
  return it->second;
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

/// One on every queue.
void InstructionEmitter::addMarkers(plan::OperationUnion marker, scf::ForOp loop) {
  for (size_t queue = 0; queue < plan.queues.size(); ++queue)
    append(queue, marker, loop);
}

LogicalResult InstructionEmitter::addLoop(scf::ForOp loop, uint64_t count, function_ref<void()> moveToNext) {
  ranges.back().end = nextOrder;
  plan::LoopBeginT begin;
  begin.count = count;
  plan::OperationUnion marker;
  marker.Set(begin);
  addMarkers(marker, loop);
  if (failed(emitBlock(*loop.getBody())))
    return failure();
  moveToNext();
  marker.Set(plan::LoopEndT());
  addMarkers(marker, loop);
  ranges.back().end = nextOrder;
  return success();
}

LogicalResult InstructionEmitter::emitBlock(Block &block) {
  for (Operation &op : block) {
    auto instruction = dyn_cast<InstructionOpInterface>(&op);
    if (!instruction)
      return op.emitOpError("has no instruction in the plan");
    ranges.push_back({nextOrder, nextOrder});
    if (failed(instruction.emitInstructions(*this)))
      return failure();
    if (isa<scf::ForOp>(op)) // whose own range ends before its body
      continue;
    ranges.back().end = nextOrder;
    addPrediction(&op, ranges.back().begin);
  }
  return success();
}

LogicalResult InstructionEmitter::emitFunction(func::FuncOp function) {
  // Every plan has a compute queue, its first. All queues have the loop, so they must exist before it.
  queueOf(function);
  function.walk([&](StartOp start) { queueOf(start); });
  return emitBlock(function.getBody().front());
}
