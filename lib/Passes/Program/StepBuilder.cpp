// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "StepBuilder.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace ds;

SmallVector<int64_t> ds::dimRange(int64_t first, int64_t last) {
  return llvm::to_vector(llvm::seq<int64_t>(first, last));
}

Value StepBuilder::splat(Type type, double number) {
  auto tensor = cast<RankedTensorType>(type);
  Attribute element = isa<FloatType>(tensor.getElementType())
                          ? Attribute(builder.getFloatAttr(tensor.getElementType(), number))
                          : Attribute(builder.getIntegerAttr(tensor.getElementType(), static_cast<int64_t>(number)));
  return value<arith::ConstantOp>(DenseElementsAttr::get(tensor, element));
}

Value StepBuilder::add(Value a, Value b) { return value<arith::AddFOp>(a, b); }
Value StepBuilder::sub(Value a, Value b) { return value<arith::SubFOp>(a, b); }
Value StepBuilder::mul(Value a, Value b) { return value<arith::MulFOp>(a, b); }
Value StepBuilder::mul(Value a, double factor) { return mul(a, splat(a.getType(), factor)); }
Value StepBuilder::div(Value a, Value b) { return value<arith::DivFOp>(a, b); }
Value StepBuilder::neg(Value a) { return value<arith::NegFOp>(a); }

Value StepBuilder::compare(arith::CmpFPredicate predicate, Value a, Value b) {
  return value<arith::CmpFOp>(predicate, a, b);
}

Value StepBuilder::keepWhere(Value condition, Value a) { return select(condition, a, zeros(a.getType())); }

Value StepBuilder::select(Value condition, Value a, Value b) { return value<arith::SelectOp>(condition, a, b); }

static RankedTensorType withShape(Value value, ArrayRef<int64_t> shape) {
  return RankedTensorType::get(shape, tensorTypeOf(value).getElementType());
}

Value StepBuilder::reduce(Value input, ArrayRef<int64_t> dims, Reduction kind) {
  if (dims.empty())
    return input;
  SmallVector<int64_t> kept;
  for (auto [dim, size] : llvm::enumerate(tensorTypeOf(input).getShape()))
    if (!llvm::is_contained(dims, static_cast<int64_t>(dim)))
      kept.push_back(size);
  return value<ReduceOp>(withShape(input, kept), input, dims, kind);
}

Value StepBuilder::broadcast(Value input, ArrayRef<int64_t> dims, ArrayRef<int64_t> shape) {
  if (dims.size() == shape.size())
    return input;
  return value<BroadcastOp>(withShape(input, shape), input, dims);
}

Value StepBuilder::expand(Value input, ArrayRef<int64_t> shape) {
  SmallVector<int64_t> dims, sizes;
  for (auto [dim, size] : llvm::enumerate(tensorTypeOf(input).getShape())) {
    if (size != shape[dim])
      continue;
    dims.push_back(dim);
    sizes.push_back(size);
  }
  return broadcast(reshape(input, sizes), dims, shape);
}

Value StepBuilder::reshape(Value input, ArrayRef<int64_t> shape) {
  if (tensorTypeOf(input).getShape() == shape)
    return input;
  return value<ReshapeOp>(withShape(input, shape), input);
}

Value StepBuilder::slice(Value input, int64_t dim, int64_t offset, int64_t size) {
  SmallVector<int64_t> shape(tensorTypeOf(input).getShape());
  SmallVector<int64_t> offsets(shape.size(), 0), strides(shape.size(), 1);
  shape[dim] = size;
  offsets[dim] = offset;
  return value<SliceOp>(withShape(input, shape), input, offsets, strides);
}

Value StepBuilder::concat(ValueRange inputs, int64_t dim) {
  SmallVector<int64_t> shape(tensorTypeOf(inputs.front()).getShape());
  shape[dim] = 0;
  for (Value input : inputs)
    shape[dim] += tensorTypeOf(input).getDimSize(dim);
  return value<ConcatOp>(withShape(inputs.front(), shape), inputs, dim);
}

Value StepBuilder::matmul(Value lhs, Value rhs, StringRef indices) {
  auto [operands, result] = indices.split("->");
  auto [left, right] = operands.split(',');
  SmallVector<int64_t> shape;
  for (char letter : result) {
    size_t place = left.find(letter);
    shape.push_back(place != StringRef::npos ? tensorTypeOf(lhs).getDimSize(place)
                                             : tensorTypeOf(rhs).getDimSize(right.find(letter)));
  }
  return value<MatmulOp>(withShape(lhs, shape), lhs, rhs, indices);
}

Value StepBuilder::widen(Value input) {
  RankedTensorType type = tensorTypeOf(input);
  if (type.getElementType().getIntOrFloatBitWidth() >= 32)
    return input;
  return convert(input, builder.getF32Type());
}

Value StepBuilder::convert(Value input, Type type) {
  Type from = tensorTypeOf(input).getElementType(), to = getElementTypeOrSelf(type);
  RankedTensorType converted = tensorTypeOf(input).clone(to);
  if (from == to)
    return input;
  if (to.getIntOrFloatBitWidth() > from.getIntOrFloatBitWidth())
    return value<arith::ExtFOp>(converted, input);
  // bf16 and f16 have one width: neither holds the other.
  if (to.getIntOrFloatBitWidth() == from.getIntOrFloatBitWidth())
    return convert(widen(input), to);
  return value<arith::TruncFOp>(converted, input);
}
