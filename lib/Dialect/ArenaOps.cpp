// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Dialect/DsDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace ds;

static LogicalResult verifyBuffer(BufferOp buffer, int64_t number, ArenaOp arena) {
  if (static_cast<int64_t>(buffer.getNumber()) != number)
    return buffer.emitOpError("must have the number of its place, ") << number << ", got " << buffer.getNumber();
  const int64_t offset = buffer.getOffset(), bytes = buffer.getBytes(), arenaBytes = arena.getBytes();
  if (offset < 0 || bytes < 0 || bytes > arenaBytes || offset > arenaBytes - bytes)
    return buffer.emitOpError("must lie in an arena of ")
           << arenaBytes << " bytes, got " << bytes << " bytes at " << offset;
  const int64_t first = buffer.getFirst(), last = buffer.getLast();
  if (first < 0 || first > last)
    return buffer.emitOpError("must live from a time >= 0 to one not before it, got ") << first << " to " << last;
  return success();
}

LogicalResult ArenaOp::verify() {
  int64_t number = 0;
  for (Operation &op : getBody().front()) {
    auto buffer = dyn_cast<BufferOp>(op);
    if (!buffer)
      return op.emitOpError("must be a ds.buffer in a ds.arena");
    if (failed(verifyBuffer(buffer, number++, *this)))
      return failure();
  }
  if (getBytes() < getLowerBound())
    return emitOpError("must have at least the ") << getLowerBound() << " bytes of its bound, got " << getBytes();
  for (int64_t id : getLargest())
    if (id < 0 || id >= number)
      return emitOpError("refers to unknown buffer ") << id << " of " << number;
  return success();
}

LogicalResult ArenaOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (symbols.lookupNearestSymbolFrom<func::FuncOp>(*this, getFunctionAttr()))
    return success();
  return emitOpError("refers to unknown function @") << getFunction();
}
