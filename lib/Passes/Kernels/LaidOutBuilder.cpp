// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "LaidOutBuilder.h"

#include "ds/Dialect/MathAttributes.h"

using namespace mlir;
using namespace ds;

SmallVector<int64_t> ds::otherDims(int64_t rank, ArrayRef<int64_t> dims) {
  SmallVector<int64_t> others;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (!llvm::is_contained(dims, dim))
      others.push_back(dim);
  return others;
}

RankedTensorType ds::permutedType(RankedTensorType type, ArrayRef<int64_t> order) {
  Layout layout = layoutOf(type), permuted = layout;
  SmallVector<int64_t> shape;
  for (auto [place, dim] : llvm::enumerate(order)) {
    shape.push_back(type.getDimSize(dim));
    permuted.dims[place] = layout.dims[dim];
  }
  return withLayout(RankedTensorType::get(shape, type.getElementType()), permuted);
}

Value LaidOutBuilder::boundedExp(Value a) {
  auto power = math::ExpOp::create(builder, loc, a);
  power->setAttr(kBoundedExpAttr, builder.getUnitAttr());
  return power;
}

Value LaidOutBuilder::splat(double value, RankedTensorType like) {
  Attribute element;
  if (isa<FloatType>(like.getElementType()))
    element = FloatAttr::get(like.getElementType(), value);
  else
    element = IntegerAttr::get(like.getElementType(), static_cast<int64_t>(value));
  auto elements = SplatElementsAttr::get(like, element);
  if (!splats)
    return make<arith::ConstantOp>(elements);
  Value &known = (*splats)[elements];
  if (!known)
    known = make<arith::ConstantOp>(elements);
  return known;
}

Value LaidOutBuilder::reduce(Value value, ArrayRef<int64_t> dims, Reduction kind) {
  RankedTensorType type = typeOf(value);
  Layout input = layoutOf(value), layout = input;
  SmallVector<int64_t> shape;
  layout.dims.clear();
  for (int64_t dim : otherDims(type.getRank(), dims)) {
    shape.push_back(type.getDimSize(dim));
    layout.dims.push_back(input.dims[dim]);
  }
  for (int64_t dim : dims)
    for (const Factor &factor : input.dims[dim])
      for (const std::string &axis : factor.axes)
        layout.partial[axis] = static_cast<ReduceKind>(kind);
  RankedTensorType result = withLayout(RankedTensorType::get(shape, type.getElementType()), layout);
  return make<ReduceOp>(result, value, dims, kind);
}

Value LaidOutBuilder::broadcast(Value value, RankedTensorType like, ArrayRef<int64_t> dims) {
  return make<BroadcastOp>(withElement(like, typeOf(value).getElementType()), value, dims);
}

Value LaidOutBuilder::unreduce(Value value, RankedTensorType like, ArrayRef<int64_t> folded) {
  return broadcast(value, like, otherDims(like.getRank(), folded));
}

Value LaidOutBuilder::splitDim(Value value, int64_t dim, ArrayRef<int64_t> sizes, const Mesh &mesh) {
  RankedTensorType type = typeOf(value);
  Layout layout = layoutOf(value);
  auto parts = ds::splitDim(resolvedDim(layout.dims[dim], type.getDimSize(dim)), Shape(sizes), mesh);
  if (!parts)
    return {};
  layout.dims.erase(layout.dims.begin() + dim);
  layout.dims.insert(layout.dims.begin() + dim, parts->begin(), parts->end());
  SmallVector<int64_t> shape(type.getShape());
  shape.erase(shape.begin() + dim);
  shape.insert(shape.begin() + dim, sizes.begin(), sizes.end());
  return make<ReshapeOp>(withLayout(RankedTensorType::get(shape, type.getElementType()), layout), value);
}

Value LaidOutBuilder::iota(RankedTensorType like, int64_t dim) {
  return make<IotaOp>(withElement(like, builder.getI32Type()), dim);
}
