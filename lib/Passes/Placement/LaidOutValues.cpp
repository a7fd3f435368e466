// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "LaidOutValues.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace ds;

bool ds::isZero(Value value) { return matchPattern(value, m_AnyZeroFloat()) || matchPattern(value, m_Zero()); }

bool ds::isSplat(Value value) {
  return matchPattern(value, m_Constant()) &&
         isa<SplatElementsAttr>(value.getDefiningOp<arith::ConstantOp>().getValue());
}

bool LaidOutValues::isLazy(Value value) const {
  return isSplat(value) || isa_and_nonnull<BroadcastOp, IotaOp>(value.getDefiningOp()) || undecided.contains(value);
}

Layout LaidOutValues::layoutBefore(Value value, Operation *user) const {
  Layout layout = layoutOf(value);
  if (layout.partial.empty())
    return layout;
  auto found = relayouts.find({user->getBlock(), value});
  if (found != relayouts.end())
    for (Value other : found->second)
      if (layoutOf(other).partial.empty())
        return layoutOf(other);
  return layout;
}

Value LaidOutValues::obtain(Value value, const Layout &wanted, Operation *user) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return value;
  if (isLazy(value))
    return materialize(value, wanted, user);
  RankedTensorType wantedType = withLayout(type, wanted);
  if (wantedType == type)
    return value;
  SmallVector<Value> &made = relayouts[{user->getBlock(), value}];
  for (Value other : made)
    if (other.getType() == wantedType)
      return other;
  OpBuilder builder(user);
  made.push_back(RelayoutOp::create(builder, value.getLoc(), wantedType, value));
  return made.back();
}

/// A constant has every layout; but for zeros, partial ones by a relayout.
Value LaidOutValues::materializeConstant(Value value, const Layout &wanted, OpBuilder &builder) {
  RankedTensorType wantedType = withLayout(cast<RankedTensorType>(value.getType()), wanted);
  bool keepsPartial = wanted.partial.empty() || isZero(value);
  Layout layout = wanted;
  if (!keepsPartial)
    layout.partial.clear();
  auto splat = cast<SplatElementsAttr>(value.getDefiningOp<arith::ConstantOp>().getValue());
  Value made = arith::ConstantOp::create(builder, value.getLoc(), splat.resizeSplat(withLayout(wantedType, layout)));
  return keepsPartial ? made : Value(RelayoutOp::create(builder, value.getLoc(), wantedType, made));
}

/// Makes a lazy value in the layout `wanted`.
Value LaidOutValues::materialize(Value value, const Layout &wanted, Operation *user) {
  RankedTensorType wantedType = withLayout(cast<RankedTensorType>(value.getType()), wanted);
  if (undecided.erase(value)) {
    value.setType(wantedType);
    return value;
  }
  OpBuilder builder(user);
  if (value.getDefiningOp<arith::ConstantOp>())
    return materializeConstant(value, wanted, builder);
  auto broadcast = value.getDefiningOp<BroadcastOp>();
  bool repeatsScalar = broadcast && broadcast.getInput().getType().getRank() == 0;
  if ((!wanted.flat.empty() && !repeatsScalar) || wanted.memory != MemoryTier::Device) {
    Layout plain = Layout::replicated(wantedType.getRank());
    plain.dims = wanted.dims;
    Value made = materialize(value, plain, user);
    return made.getType() == wantedType ? made : Value(RelayoutOp::create(builder, value.getLoc(), wantedType, made));
  }
  if (auto iota = value.getDefiningOp<IotaOp>())
    return IotaOp::create(builder, value.getLoc(), wantedType, iota.getDim());
  Layout inputLayout = Layout::replicated(0);
  for (int64_t dim : broadcast.getDims())
    inputLayout.dims.push_back(wanted.dims[dim]);
  inputLayout.partial = wanted.partial;
  Value input = obtain(broadcast.getInput(), inputLayout, user);
  return BroadcastOp::create(builder, value.getLoc(), wantedType, input, broadcast.getDims());
}
