// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Passes/Passes.h"

#include "ds/Layout/Cast.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Remarks.h"

namespace ds {
#define GEN_PASS_DEF_EXPANDRELAYOUTSPASS
#include "ds/Passes/Passes.h.inc"
} // namespace ds

using namespace mlir;
using namespace ds;

namespace {

RankedTensorType castType(Value input, const Cast &cast) {
  return withLayout(mlir::cast<RankedTensorType>(input.getType()), cast.result);
}

Value buildCast(OpBuilder &builder, Location loc, Value input, const Cast &cast) {
  RankedTensorType type = castType(input, cast);
  StringAttr axis = builder.getStringAttr(cast.axis);
  switch (cast.kind) {
  case CastKind::TakeShard:
    return TakeShardOp::create(builder, loc, type, input, axis);
  case CastKind::ToPartial:
    return ToPartialOp::create(builder, loc, type, input, axis);
  case CastKind::AllGather:
    return AllGatherOp::create(builder, loc, type, input, axis);
  case CastKind::ReduceScatter:
    return ReduceScatterOp::create(builder, loc, type, input, axis);
  case CastKind::AllReduce:
    return AllReduceOp::create(builder, loc, type, input, axis);
  case CastKind::AllToAll:
    return AllToAllOp::create(builder, loc, type, input, axis);
  case CastKind::Remap:
    return RemapOp::create(builder, loc, type, input);
  case CastKind::Copy:
    return CopyOp::create(builder, loc, type, input);
  case CastKind::Transfer:
    return TransferOp::create(builder, loc, type, input);
  }
  llvm_unreachable("every kind of cast has an op");
}

struct ExpandRelayouts : ds::impl::ExpandRelayoutsPassBase<ExpandRelayouts> {
  void runOnOperation() override {
    const Mesh mesh = meshOf(getOperation());
    made.clear();
    WalkResult result = getOperation().walk([&](RelayoutOp op) {
      Layout from = layoutOf(op.getInput()), to = layoutOf(op.getResult());
      std::optional<std::vector<Cast>> casts = cheapestCasts(from, to, shapeOf(op.getType()), mesh);
      if (!casts) {
        op.emitOpError("has no chain of casts from [") << from.str() << "] to [" << to.str() << "]";
        return WalkResult::interrupt();
      }
      OpBuilder builder(op);
      Value value = op.getInput();
      for (const Cast &cast : *casts)
        value = obtainCast(builder, op.getLoc(), value, cast);
      remark::passed(op.getLoc(), remark::RemarkOpts::name("expanded").category(getArgument()))
          << "[" << from.str() << "] -> [" << to.str() << "] in " << std::to_string(casts->size()) << " casts";
      op.replaceAllUsesWith(value);
      op.erase();
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }

private:
  /// The cast of `input` that an earlier chain of this block has, or a new one.
  Value obtainCast(OpBuilder &builder, Location loc, Value input, const Cast &cast) {
    Value &value = made[{builder.getBlock(), input, castType(input, cast)}];
    if (!value)
      value = buildCast(builder, loc, input, cast);
    return value;
  }

  DenseMap<std::tuple<Block *, Value, Type>, Value> made; ///< by block, input and type
};

} // namespace
