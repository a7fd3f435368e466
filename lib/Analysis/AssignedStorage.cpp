// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Analysis/AssignedStorage.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace ds;

ArenaOp ds::findArena(func::FuncOp function) {
  for (ArenaOp arena : function->getParentOfType<ModuleOp>().getOps<ArenaOp>())
    if (arena.getFunction() == function.getSymName())
      return arena;
  return nullptr;
}

static ArrayRef<int64_t> numbersOn(Operation *op) {
  auto numbers = op->getAttrOfType<DenseI64ArrayAttr>(kBuffersAttr);
  return numbers ? numbers.asArrayRef() : ArrayRef<int64_t>();
}

static std::optional<int64_t> numberIn(Attribute attribute) {
  auto number = dyn_cast_or_null<IntegerAttr>(attribute);
  return number ? std::optional(number.getInt()) : std::nullopt;
}

unsigned AssignedStorage::storageOf(Value value) const {
  if (auto result = dyn_cast<OpResult>(value))
    return numbersOn(result.getOwner())[result.getResultNumber()];
  auto argument = cast<BlockArgument>(value);
  Operation *parent = argument.getOwner()->getParentOp();
  if (auto loop = dyn_cast<scf::ForOp>(parent))
    return storageOf(loop.getTiedLoopResult(argument));
  return *numberIn(cast<func::FuncOp>(parent).getArgAttr(argument.getArgNumber(), kBufferAttr));
}

ArrayRef<int64_t> AssignedStorage::workspacesOf(Operation *op) const {
  ArrayRef<int64_t> numbers = numbersOn(op);
  return numbers.drop_front(std::min<size_t>(numbers.size(), op->getNumResults()));
}

LogicalResult AssignedStorage::check(Operation *op, ArrayRef<int64_t> numbers, ValueRange values) const {
  auto isBuffer = [&](int64_t number) { return 0 <= number && number < static_cast<int64_t>(bufferOps.size()); };
  bool hasTensor = llvm::any_of(values.getTypes(), llvm::IsaPred<RankedTensorType>);
  bool fits = hasTensor ? numbers.size() >= values.size() : numbers.empty();
  for (size_t i = 0; fits && i < numbers.size(); ++i)
    fits = isBuffer(numbers[i]) || (i < values.size() && !isa<RankedTensorType>(values[i].getType()));
  if (fits)
    return success();
  return op->emitOpError("must have a buffer of the arena for each tensor");
}

LogicalResult AssignedStorage::readVariables(Operation *module) {
  for (VariableOp variable : cast<ModuleOp>(module).getOps<VariableOp>()) {
    std::optional<int64_t> number = numberIn(variable->getAttr(kBufferAttr));
    if (!number || *number < 0 || *number >= static_cast<int64_t>(bufferOps.size()))
      return variable.emitOpError("must have a buffer of the arena");
    variables[variable.getSymName()] = *number;
  }
  return success();
}

LogicalResult AssignedStorage::checkFunction(func::FuncOp function) const {
  SmallVector<int64_t> arguments;
  for (unsigned number = 0; number < function.getNumArguments(); ++number)
    arguments.push_back(numberIn(function.getArgAttr(number, kBufferAttr)).value_or(-1));
  if (failed(check(function, arguments, function.getArguments())))
    return failure();
  WalkResult result = function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op != function && failed(check(op, numbersOn(op), op->getResults())))
      return WalkResult::interrupt();
    return isa<KernelOp>(op) ? WalkResult::skip() : WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

FailureOr<AssignedStorage> AssignedStorage::read(func::FuncOp function) {
  AssignedStorage assigned;
  assigned.arenaOp = findArena(function);
  if (!assigned.arenaOp)
    return function.emitOpError("must have a ds.arena; ds-assign-arena makes it");
  assigned.bufferOps = llvm::to_vector(assigned.arenaOp.getOps<BufferOp>());
  if (failed(assigned.readVariables(function->getParentOp())) || failed(assigned.checkFunction(function)))
    return failure();
  return assigned;
}
