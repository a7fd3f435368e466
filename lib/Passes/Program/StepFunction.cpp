// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "StepFunction.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/BitVector.h"

using namespace mlir;
using namespace ds;

FailureOr<func::FuncOp> ds::findFunction(ModuleOp module, StringRef name) {
  auto function = module.lookupSymbol<func::FuncOp>(name);
  if (!function)
    return module.emitError("has no function @") << name;
  if (!llvm::hasSingleElement(function.getBody()))
    return function.emitOpError("must have one block, got ") << function.getBody().getBlocks().size();
  return function;
}

std::optional<unsigned> ds::findArgument(func::FuncOp function, StringRef name) {
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (auto attribute = function.getArgAttrOfType<StringAttr>(i, kNameAttr); attribute && attribute == name)
      return i;
  return std::nullopt;
}

std::optional<unsigned> ds::findResult(func::FuncOp function, StringRef name) {
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (auto attribute = function.getResultAttrOfType<StringAttr>(i, kNameAttr); attribute && attribute == name)
      return i;
  return std::nullopt;
}

FlatSymbolRefAttr ds::gradientVariableOf(func::FuncOp function, unsigned number) {
  return function.getResultAttrOfType<FlatSymbolRefAttr>(number, kGradientAttr);
}

func::ReturnOp ds::returnOf(func::FuncOp function) { return cast<func::ReturnOp>(function.front().getTerminator()); }

Value ds::appendArgument(func::FuncOp function, Type type, StringRef name) {
  Builder builder(function.getContext());
  unsigned number = function.getNumArguments();
  auto attributes = builder.getDictionaryAttr(builder.getNamedAttr(kNameAttr, builder.getStringAttr(name)));
  [[maybe_unused]] LogicalResult inserted = function.insertArgument(number, type, attributes, function.getLoc());
  assert(succeeded(inserted) && "a function takes any argument");
  return function.getArgument(number);
}

void ds::appendResults(func::FuncOp function, ArrayRef<NamedResult> results) {
  MLIRContext *context = function.getContext();
  SmallVector<Value> values = llvm::map_to_vector(results, [](const NamedResult &result) { return result.value; });
  SmallVector<DictionaryAttr> attributes = llvm::map_to_vector(
      results, [&](const NamedResult &result) { return DictionaryAttr::get(context, result.attribute); });
  SmallVector<unsigned> places(results.size(), function.getNumResults());
  [[maybe_unused]] LogicalResult inserted = function.insertResults(places, TypeRange(ValueRange(values)), attributes);
  assert(succeeded(inserted) && "a function takes any result");
  returnOf(function).getOperandsMutable().append(values);
}

void ds::dropResults(func::FuncOp function, const llvm::BitVector &isDropped) {
  [[maybe_unused]] LogicalResult erased = function.eraseResults(isDropped);
  assert(succeeded(erased) && "a function may lose any result");
  returnOf(function)->eraseOperands(isDropped);
}

Operation *ds::endOfComputation(func::FuncOp function) {
  Operation *end = returnOf(function);
  while (isa_and_nonnull<AssignOp>(end->getPrevNode()))
    end = end->getPrevNode();
  return end;
}

void ds::eraseDeadOps(func::FuncOp function) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(function.front())))
    if (isOpTriviallyDead(&op))
      op.erase();
}

StepReads::StepReads(func::FuncOp function) : function(function) {
  Block &block = function.front();
  for (ReadOp read : llvm::make_early_inc_range(block.getOps<ReadOp>())) {
    if (lastRead)
      read->moveAfter(lastRead);
    else
      read->moveBefore(&block, block.begin());
    lastRead = read;
    reads.try_emplace(read.getVariableAttr().getAttr(), read);
  }
}

Value StepReads::get(VariableOp variable) {
  ReadOp &read = reads[variable.getSymNameAttr()];
  if (!read) {
    OpBuilder builder = OpBuilder::atBlockBegin(&function.front());
    if (lastRead)
      builder.setInsertionPointAfter(lastRead);
    read = ReadOp::create(builder, variable.getLoc(), variable.getTensorType(), variable.getSymName());
    lastRead = read;
  }
  return read.getResult();
}
