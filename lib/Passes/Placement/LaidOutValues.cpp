// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "LaidOutValues.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace ds;

bool ds::isZero(Value value) { return matchPattern(value, m_AnyZeroFloat()) || matchPattern(value, m_Zero()); }

bool ds::isSplat(Value value) {
  auto constant = value.getDefiningOp<arith::ConstantOp>();
  return constant && isa<SplatElementsAttr>(constant.getValue());
}

bool LaidOutValues::isLazy(Value value) const {
  return isSplat(value) || isa_and_nonnull<BroadcastOp, IotaOp>(value.getDefiningOp()) || undecided.contains(value);
}

bool LaidOutValues::isLaidOut(Value value) const {
  auto broadcast = value.getDefiningOp<BroadcastOp>();
  return hasEncoding((broadcast ? broadcast.getInput() : value).getType());
}

ArrayRef<Value> LaidOutValues::madeOf(Value value, Operation *user) const {
  auto found = made.find({user->getBlock(), value});
  return found == made.end() ? ArrayRef<Value>() : ArrayRef<Value>(found->second);
}

Layout LaidOutValues::layoutBefore(Value value, Operation *user) const {
  Layout layout = layoutOf(value);
  if (layout.partial.empty())
    return layout;
  for (Value other : madeOf(value, user))
    if (layoutOf(other).partial.empty())
      return layoutOf(other);
  return layout;
}

Value LaidOutValues::obtain(Value value, const Layout &wanted, Operation *user) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return value;
  RankedTensorType wantedType = withLayout(type, wanted);
  if (undecided.erase(value)) {
    value.setType(wantedType);
    return value;
  }
  const bool isMadeAnew = isLazy(value);
  if (!isMadeAnew && wantedType == type)
    return value;
  for (Value other : madeOf(value, user))
    if (other.getType() == wantedType)
      return other;
  OpBuilder builder(user);
  Value result = isMadeAnew ? materialize(value, wanted, user)
                            : Value(RelayoutOp::create(builder, value.getLoc(), wantedType, value));
  made[{user->getBlock(), value}].push_back(result);
  return result;
}

/// A constant has every layout; but for zeros, partial ones by a relayout.
Value LaidOutValues::materializeConstant(Value value, const Layout &wanted, OpBuilder &builder) {
  RankedTensorType wantedType = withLayout(cast<RankedTensorType>(value.getType()), wanted);
  bool keepsPartial = wanted.partial.empty() || isZero(value);
  Layout layout = wanted;
  if (!keepsPartial)
    layout.partial.clear();
  auto splat = cast<SplatElementsAttr>(value.getDefiningOp<arith::ConstantOp>().getValue());
  Value constant =
      arith::ConstantOp::create(builder, value.getLoc(), splat.resizeSplat(withLayout(wantedType, layout)));
  return keepsPartial ? constant : Value(RelayoutOp::create(builder, value.getLoc(), wantedType, constant));
}

/// An iota numbers an interval; of a dim that is cut otherwise each rank takes its part.
static Value materializeIota(IotaOp iota, RankedTensorType wantedType, OpBuilder &builder) {
  Layout made = layoutOf(wantedType);
  if (!isInterval(made.dims[iota.getDim()]))
    made.dims[iota.getDim()] = DimLayout(1);
  RankedTensorType madeType = withLayout(wantedType, made);
  Value numbers = IotaOp::create(builder, iota.getLoc(), madeType, iota.getDim());
  return madeType == wantedType ? numbers : Value(RelayoutOp::create(builder, iota.getLoc(), wantedType, numbers));
}

/// Makes a lazy value in the layout `wanted`.
Value LaidOutValues::materialize(Value value, const Layout &wanted, Operation *user) {
  RankedTensorType wantedType = withLayout(cast<RankedTensorType>(value.getType()), wanted);
  OpBuilder builder(user);
  if (value.getDefiningOp<arith::ConstantOp>())
    return materializeConstant(value, wanted, builder);
  auto broadcast = value.getDefiningOp<BroadcastOp>();
  bool repeatsScalar = broadcast && broadcast.getInput().getType().getRank() == 0;
  if ((!wanted.flat.empty() && !repeatsScalar) || wanted.memory != MemoryTier::Device) {
    Layout plain = Layout::replicated(wantedType.getRank());
    plain.dims = wanted.dims;
    Value whole = obtain(value, plain, user);
    return whole.getType() == wantedType ? whole
                                         : Value(RelayoutOp::create(builder, value.getLoc(), wantedType, whole));
  }
  if (auto iota = value.getDefiningOp<IotaOp>())
    return materializeIota(iota, wantedType, builder);
  Layout inputLayout = Layout::replicated(0);
  for (int64_t dim : broadcast.getDims())
    inputLayout.dims.push_back(wanted.dims[dim]);
  inputLayout.partial = wanted.partial;
  Value input = obtain(broadcast.getInput(), inputLayout, user);
  return BroadcastOp::create(builder, value.getLoc(), wantedType, input, broadcast.getDims());
}
