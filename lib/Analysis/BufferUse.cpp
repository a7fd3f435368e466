// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Analysis/BufferUse.h"

#include "ds/Analysis/KernelShape.h"
#include "ds/Analysis/OpEffects.h"
#include "ds/Analysis/TensorSizes.h"

using namespace mlir;
using namespace ds;

/// The value that `value` is another name of.
static Value rootOf(Value value) {
  while (Operation *op = value.getDefiningOp<ReshapeOp>() ? value.getDefiningOp() : value.getDefiningOp<FenceOp>())
    value = op->getOperand(0);
  return value;
}

namespace {

class BufferUse {
public:
  BufferUse(func::FuncOp function, const AssignedStorage &storage)
      : function(function), storage(storage), times(function), held(storage.buffers().size()),
        inFlight(storage.buffers().size()) {}

  LogicalResult verify();

private:
  void fillAtStart();
  LogicalResult visitBlock(Block &block);
  LogicalResult visit(Operation *op);
  LogicalResult visitLoop(scf::ForOp loop);
  LogicalResult visitAssign(AssignOp assign);
  LogicalResult visitAlias(Operation *op);
  LogicalResult visitOther(Operation *op);
  LogicalResult writeResult(Operation *op, OpResult result);
  LogicalResult writeWorkspaces(Operation *op);

  LogicalResult read(Operation *op, Value value);
  LogicalResult write(Operation *op, unsigned buffer, Value value);
  LogicalResult checkTime(Operation *op, unsigned buffer);
  std::string nameOf(unsigned buffer);

  func::FuncOp function;
  const AssignedStorage &storage;
  OpTimes times;
  BufferSharing sharing;
  std::vector<Value> held;           ///< per buffer: the root of what it holds; null: not written by this step
  std::vector<Operation *> inFlight; ///< per buffer: the start of the collective that writes it
  std::map<unsigned, Value> atEnd;   ///< what a buffer that lives from step to step must hold at the end
};

} // namespace

std::string BufferUse::nameOf(unsigned buffer) {
  BufferOp piece = storage.buffers()[buffer];
  return "buffer " + std::to_string(buffer) + " (" + piece.getName().str() + ")";
}

LogicalResult BufferUse::checkTime(Operation *op, unsigned buffer) {
  BufferOp piece = storage.buffers()[buffer];
  const int64_t time = times.of(op), first = piece.getFirst(), last = piece.getLast();
  if (first <= time && time <= last)
    return success();
  return op->emitOpError() << "at time " << time << " must not use " << nameOf(buffer) << ", which is live from "
                           << first << " to " << last;
}

LogicalResult BufferUse::read(Operation *op, Value value) {
  const unsigned buffer = storage.storageOf(value);
  if (inFlight[buffer])
    return op->emitOpError("must not read ") << nameOf(buffer) << " before the wait of the collective that writes it";
  if (held[buffer] != rootOf(value)) {
    InFlightDiagnostic diagnostic = op->emitOpError("must not read ")
                                    << nameOf(buffer) << " after its release: it holds another value by then";
    if (held[buffer])
      diagnostic.attachNote(held[buffer].getLoc()) << "written here";
    return diagnostic;
  }
  return checkTime(op, buffer);
}

LogicalResult BufferUse::write(Operation *op, unsigned buffer, Value value) {
  if (inFlight[buffer])
    return op->emitOpError("must not write ") << nameOf(buffer) << " while a collective is writing it";
  held[buffer] = value;
  return checkTime(op, buffer);
}

LogicalResult BufferUse::visitAssign(AssignOp assign) {
  const unsigned buffer = storage.storageOfVariable(assign.getVariable());
  if (failed(read(assign, assign.getValue())))
    return failure();
  atEnd[buffer] = rootOf(assign.getValue());
  return write(assign, buffer, atEnd[buffer]);
}

/// Carried values are copied one after the other where they do not share a buffer.
LogicalResult BufferUse::visitLoop(scf::ForOp loop) {
  auto carry = [&](Operation *op, ValueRange values, ValueRange targets) {
    for (auto [value, target] : llvm::zip_equal(values, targets))
      if (isTensor(value) && (failed(read(op, value)) || failed(write(op, storage.storageOf(target), target))))
        return failure();
    return success();
  };
  if (failed(carry(loop, loop.getInitArgs(), loop.getRegionIterArgs())))
    return failure();
  Operation *yield = loop.getBody()->getTerminator();
  for (ValueRange targets : {ValueRange(loop.getRegionIterArgs()), ValueRange(loop.getResults())})
    if (failed(visitBlock(*loop.getBody())) || failed(carry(yield, yield->getOperands(), targets)))
      return failure();
  return success();
}

LogicalResult BufferUse::writeResult(Operation *op, OpResult result) {
  const unsigned buffer = storage.storageOf(result);
  for (OpOperand &operand : op->getOpOperands())
    if (isTensor(operand.get()) && storage.storageOf(operand.get()) == buffer &&
        !sharing.isAllowed(op, result.getResultNumber(), operand.getOperandNumber()))
      return op->emitOpError("must not write over operand ") << operand.getOperandNumber() << " in " << nameOf(buffer);
  return write(op, buffer, result);
}

LogicalResult BufferUse::writeWorkspaces(Operation *op) {
  for (unsigned workspace : storage.workspacesOf(op)) {
    auto isHere = [&](Value value) { return isTensor(value) && storage.storageOf(value) == workspace; };
    if (llvm::any_of(op->getOperands(), isHere) || llvm::any_of(op->getResults(), isHere))
      return op->emitOpError("must have a workspace of its own, got ") << nameOf(workspace);
    if (failed(write(op, workspace, nullptr)))
      return failure();
  }
  return success();
}

/// That the sources of a collective are there to the last is what the reads of its wait prove.
LogicalResult BufferUse::visitOther(Operation *op) {
  const OpEffects effects = effectsOf(op);
  for (Value value : effects.finishes)
    inFlight[storage.storageOf(value)] = nullptr;
  for (Value value : effects.reads)
    if (failed(read(op, value)))
      return failure();
  if (failed(writeWorkspaces(op)))
    return failure();
  for (Value value : effects.writes)
    if (failed(writeResult(op, cast<OpResult>(value))))
      return failure();
  for (Value value : effects.begins) {
    const unsigned buffer = storage.storageOf(value);
    if (failed(write(op, buffer, value)))
      return failure();
    inFlight[buffer] = op;
  }
  return success();
}

LogicalResult BufferUse::visitAlias(Operation *op) {
  auto readOp = dyn_cast<ReadOp>(op);
  const unsigned expected =
      readOp ? storage.storageOfVariable(readOp.getVariable()) : storage.storageOf(op->getOperand(0));
  if (storage.storageOf(op->getResult(0)) != expected)
    return op->emitOpError("must share ") << nameOf(expected) << ", as it copies nothing";
  return success();
}

LogicalResult BufferUse::visit(Operation *op) {
  if (auto assign = dyn_cast<AssignOp>(op))
    return visitAssign(assign);
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return visitLoop(loop);
  if (isa<scf::YieldOp>(op)) // part of the loop
    return success();
  return isAlias(op) ? visitAlias(op) : visitOther(op);
}

LogicalResult BufferUse::visitBlock(Block &block) {
  for (Operation &op : block)
    if (failed(visit(&op)))
      return failure();
  return success();
}

/// Arguments, variables, and constants that are no splat are there before the step.
void BufferUse::fillAtStart() {
  for (Value argument : function.getArguments())
    if (isTensor(argument))
      held[storage.storageOf(argument)] = argument;
  for (auto variable : function->getParentOfType<ModuleOp>().getOps<VariableOp>())
    atEnd[storage.storageOfVariable(variable.getSymName())] = nullptr;
  for (Operation *op : times.ops())
    if (isLoadedBefore(op) || isa<ReadOp>(op))
      atEnd[storage.storageOf(op->getResult(0))] = held[storage.storageOf(op->getResult(0))] = op->getResult(0);
}

LogicalResult BufferUse::verify() {
  fillAtStart();
  Block &block = function.getBody().front();
  if (failed(visitBlock(block)))
    return failure();
  for (auto [buffer, value] : atEnd)
    if (held[buffer] != value)
      return block.getTerminator()->emitOpError("must leave the next step's value in ")
             << nameOf(buffer) << ", which holds another";
  return success();
}

LogicalResult ds::verifyBufferUse(func::FuncOp function, const AssignedStorage &storage) {
  return BufferUse(function, storage).verify();
}
