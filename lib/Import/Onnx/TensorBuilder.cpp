// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// Movement, reductions and contractions. Elementwise primitives: ElementwiseBuilder.cpp.

#include "TensorBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace ds;
using namespace ds::onnx_import;

Tensor::Tensor(Value value, const Variable *weight) : value(value), weight(weight) {
  auto type = cast<RankedTensorType>(value.getType());
  elementType = elementOf(type.getElementType());
  dims.assign(type.getShape().begin(), type.getShape().end());
}

std::optional<onnx_import::Dims> onnx_import::broadcastShapes(DimsRef a, DimsRef b) {
  Dims result(std::max(a.size(), b.size()), 1);
  for (size_t i = 0; i < result.size(); ++i) {
    int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1, y = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (x != y && x != 1 && y != 1)
      return std::nullopt;
    result[result.size() - 1 - i] = x == 1 ? y : x;
  }
  if (!countOf(result))
    return std::nullopt;
  return result;
}

/// Whether a known result, of which `count` elements are kept, is computed at import.
bool TensorBuilder::mayFold(int64_t count) {
  if (count <= kAlwaysFoldedElements)
    return true;
  if (count > kMaxFoldedElements || foldedElements + count > kMaxFoldedInAll)
    return false;
  foldedElements += count;
  return true;
}

/// How many elements a tensor of `shape` keeps that is known from `input`.
static int64_t keptOf(const HostTensor &input, DimsRef shape) { return input.isSplat() ? 1 : *countOf(shape); }

RankedTensorType TensorBuilder::type(Element element, DimsRef shape) {
  Type mlirType = typeOf(element, builder.getContext());
  if (!mlirType) {
    problem = ("cannot compute with elements of type " + nameOf(element)).str();
    mlirType = builder.getI64Type();
  }
  return RankedTensorType::get(shape, mlirType);
}

Value TensorBuilder::materialize(const Tensor &tensor) {
  if (!tensor.isHost())
    return tensor.getValue();
  HostTensor host = tensor.getHost();
  if (!typeOf(host.element, builder.getContext())) {
    (void)type(host.element, {}); // records the problem
    host.element = Element::I64;
  }
  auto sameBits = [&](Number number) { return number.integer == host.data[0].integer; };
  if (host.count() == 0)
    host.data.clear();
  if (host.data.size() > 1 && llvm::all_of(host.data, sameBits))
    host.data.resize(1);
  return arith::ConstantOp::create(builder, loc(), toAttribute(host, builder.getContext()));
}

//===----------------------------------------------------------------------===//
// Movement
//===----------------------------------------------------------------------===//

Tensor TensorBuilder::reshape(const Tensor &input, DimsRef shape) {
  if (input.shape() == shape)
    return input;
  if (input.isHost() && mayFold(keptOf(input.getHost(), shape))) {
    HostTensor result = input.getHost();
    result.shape.assign(shape.begin(), shape.end());
    return result;
  }
  Value source = materialize(input);
  if (auto inner = source.getDefiningOp<ReshapeOp>())
    source = inner.getInput();
  RankedTensorType result = type(input.element(), shape);
  if (source.getType() == result)
    return Tensor(source).as(input.element());
  return emit<ReshapeOp>(result, source).as(input.element());
}

Tensor TensorBuilder::transpose(const Tensor &input, DimsRef permutation) {
  if (llvm::equal(permutation, llvm::seq<int64_t>(input.rank())))
    return input;
  Dims shape, strides, inputStrides = stridesOf(input.shape());
  for (int64_t dim : permutation) {
    shape.push_back(input.shape()[dim]);
    strides.push_back(inputStrides[dim]);
  }
  if (input.isHost() && mayFold(keptOf(input.getHost(), shape)))
    return hostStrided(input.getHost(), shape, 0, strides);
  return emit<TransposeOp>(type(input.element(), shape), materialize(input), permutation).as(input.element());
}

/// The value at full shape: unit dims are dropped, then the rest is broadcast.
Value TensorBuilder::broadcastValue(const Tensor &input, DimsRef shape) {
  if (input.isHost() && input.getHost().isSplat()) {
    HostTensor splat = input.getHost();
    splat.shape.assign(shape.begin(), shape.end());
    return materialize(splat);
  }
  if (input.shape() == shape)
    return materialize(input);
  Dims kept, dims;
  size_t lead = shape.size() - input.shape().size();
  for (auto [dim, size] : llvm::enumerate(input.shape()))
    if (size == shape[lead + dim] && size != 1) {
      kept.push_back(size);
      dims.push_back(lead + dim);
    }
  Value source = materialize(reshape(input, kept));
  if (auto inner = source.getDefiningOp<BroadcastOp>(); inner && !input.isHost()) {
    Dims composed;
    for (int64_t dim : inner.getDims())
      composed.push_back(dims[dim]);
    return emit<BroadcastOp>(type(input.element(), shape), inner.getInput(), composed).getValue();
  }
  if (kept == Dims(shape))
    return source;
  return emit<BroadcastOp>(type(input.element(), shape), source, dims).getValue();
}

Tensor TensorBuilder::broadcastTo(const Tensor &input, DimsRef shape) {
  if (!input.isHost() || !mayFold(keptOf(input.getHost(), shape)))
    return input.shape() == shape ? input : Tensor(broadcastValue(input, shape)).as(input.element());
  return hostBroadcast(input.getHost(), shape);
}

Tensor TensorBuilder::slice(const Tensor &input, DimsRef offsets, DimsRef steps, DimsRef shape) {
  if (input.isHost() && mayFold(keptOf(input.getHost(), shape))) {
    Dims strides = stridesOf(input.shape());
    int64_t offset = 0;
    for (size_t dim = 0; dim < strides.size(); ++dim) {
      offset += offsets[dim] * strides[dim];
      strides[dim] *= steps[dim];
    }
    return hostStrided(input.getHost(), shape, offset, strides);
  }
  if (input.shape() == shape && llvm::all_of(steps, [](int64_t step) { return step == 1; }))
    return input;
  return emit<SliceOp>(type(input.element(), shape), materialize(input), offsets, steps).as(input.element());
}

Tensor TensorBuilder::concat(ArrayRef<Tensor> inputs, int64_t dim) {
  if (inputs.size() == 1)
    return inputs[0];
  Dims shape(inputs[0].shape());
  shape[dim] = 0;
  for (const Tensor &input : inputs)
    shape[dim] += input.shape()[dim];
  if (llvm::all_of(inputs, [](const Tensor &input) { return input.isHost(); }) && mayFold(*countOf(shape))) {
    SmallVector<const HostTensor *> hosts;
    for (const Tensor &input : inputs)
      hosts.push_back(&input.getHost());
    return hostConcat(hosts, dim, shape);
  }
  SmallVector<Value> values;
  for (const Tensor &input : inputs)
    if (input.shape()[dim] != 0 || shape[dim] == 0)
      values.push_back(materialize(input));
  if (values.size() == 1 || shape[dim] == 0)
    return Tensor(values[0]).as(inputs[0].element());
  return emit<ConcatOp>(type(inputs[0].element(), shape), values, builder.getI64IntegerAttr(dim))
      .as(inputs[0].element());
}

Tensor TensorBuilder::padZeros(const Tensor &input, DimsRef low, DimsRef shape) {
  if (input.shape() == shape)
    return input;
  Dims interior(shape.size(), 0);
  return emit<PadOp>(type(input.element(), shape), materialize(input), low, interior).as(input.element());
}

Tensor TensorBuilder::padWith(const Tensor &value, const Tensor &input, DimsRef low, DimsRef shape) {
  Tensor result = input;
  for (int64_t dim = 0; dim < input.rank(); ++dim) {
    int64_t added[] = {low[dim], shape[dim] - low[dim] - input.shape()[dim]};
    SmallVector<Tensor> parts = {result};
    for (int64_t end : {0, 1}) {
      Dims side(result.shape());
      side[dim] = added[end];
      if (added[end] > 0)
        parts.insert(end ? parts.end() : parts.begin(), broadcastTo(value, side));
    }
    result = concat(parts, dim);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Picking
//===----------------------------------------------------------------------===//

/// Ids in arithmetic progression, such as positions or one index, are a slice. Null if they are not.
Tensor TensorBuilder::sliceByIds(const Tensor &input, const HostTensor &ids, int64_t dim) {
  int64_t count = ids.count(), size = input.shape()[dim];
  if (count == 0)
    return {};
  auto idAt = [&](int64_t i) { return ids.integer(i) < 0 ? ids.integer(i) + size : ids.integer(i); };
  int64_t step = count > 1 ? idAt(1) - idAt(0) : 1;
  for (int64_t i = 1; i < count; ++i)
    if (idAt(i) - idAt(i - 1) != step)
      return {};
  if (step == 0)
    return {};
  Dims offsets(input.rank(), 0), steps(input.rank(), 1), shape(input.shape()), result(input.shape().take_front(dim));
  offsets[dim] = idAt(0);
  steps[dim] = step;
  shape[dim] = count;
  llvm::append_range(result, ids.shape);
  llvm::append_range(result, input.shape().drop_front(dim + 1));
  return reshape(slice(input, offsets, steps, shape), result);
}

Tensor TensorBuilder::gather(const Tensor &input, const Tensor &ids, int64_t dim) {
  if (ids.isHost())
    if (Tensor sliced = sliceByIds(input, ids.getHost(), dim))
      return sliced;
  Dims toFront, back;
  toFront.push_back(dim);
  for (int64_t other = 0; other < input.rank(); ++other)
    if (other != dim)
      toFront.push_back(other);
  Tensor table = transpose(input, toFront);
  Dims shape(ids.shape());
  llvm::append_range(shape, table.shape().drop_front());
  Tensor rows =
      table.isHost() && ids.isHost() && mayFold(*countOf(shape))
          ? Tensor(hostGatherRows(table.getHost(), ids.getHost(), shape))
          : emit<GatherRowsOp>(type(input.element(), shape), materialize(table), materialize(cast(ids, Element::I64)));
  for (int64_t other = 0; other < dim; ++other)
    back.push_back(ids.rank() + other);
  for (int64_t other = 0; other < ids.rank(); ++other)
    back.push_back(other);
  for (int64_t other = dim; other < input.rank() - 1; ++other)
    back.push_back(ids.rank() + other);
  return transpose(rows.as(input.element()), back);
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

Tensor TensorBuilder::reduce(Fold kind, const Tensor &input, DimsRef dims) {
  if (dims.empty())
    return input;
  Dims shape;
  for (int64_t dim = 0; dim < input.rank(); ++dim)
    if (!llvm::is_contained(dims, dim))
      shape.push_back(input.shape()[dim]);
  if (input.isHost() && mayFold(input.count()))
    return hostReduce(kind, input.getHost(), dims, shape);
  if (kind == Fold::Product)
    problem = "cannot compute products over dims of a computed value";
  static constexpr Reduction kinds[] = {Reduction::Sum, Reduction::Max, Reduction::Min, Reduction::Sum};
  Tensor folded =
      emit<ReduceOp>(type(input.element(), shape), materialize(input), dims, kinds[static_cast<unsigned>(kind)]);
  return kind == Fold::Sum ? wrap(folded, input.element()) : folded.as(input.element());
}

/// Sees through transposes and broadcasts: drops or permutes the letters instead. A letter may go only if `other` has
/// it.
static Value foldIntoIndices(Value value, std::string &letters, StringRef other) {
  while (Operation *op = value.getDefiningOp()) {
    std::string folded;
    if (auto transpose = dyn_cast<TransposeOp>(op)) {
      folded.resize(letters.size());
      for (auto [dim, source] : llvm::enumerate(transpose.getPermutation()))
        folded[source] = letters[dim];
    } else if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
      for (int64_t dim : broadcast.getDims())
        folded.push_back(letters[dim]);
      if (llvm::any_of(letters,
                       [&](char letter) { return !StringRef(folded).contains(letter) && !other.contains(letter); }))
        return value;
    } else {
      return value;
    }
    letters = folded;
    value = op->getOperand(0);
  }
  return value;
}

Tensor TensorBuilder::matmul(const Tensor &lhs, const Tensor &rhs, std::string lhsIndices, std::string rhsIndices,
                             StringRef result) {
  std::map<char, int64_t> sizes;
  for (const auto &[tensor, letters] : {std::pair(&lhs, lhsIndices), std::pair(&rhs, rhsIndices)})
    for (auto [letter, size] : llvm::zip_equal(letters, tensor->shape()))
      sizes[letter] = size;
  // A contracted letter must stay in both, and any other in one operand: broadcast batch letters may go.
  Value left = materialize(lhs), right = materialize(rhs);
  auto batch = [&](StringRef letters) {
    std::string kept;
    for (char letter : letters)
      if (result.contains(letter))
        kept.push_back(letter);
    return kept;
  };
  left = foldIntoIndices(left, lhsIndices, batch(rhsIndices));
  right = foldIntoIndices(right, rhsIndices, batch(lhsIndices));
  Dims shape;
  for (char letter : result)
    shape.push_back(sizes[letter]);
  return emit<MatmulOp>(type(lhs.element(), shape), left, right,
                        builder.getStringAttr(lhsIndices + "," + rhsIndices + "->" + result.str()));
}
