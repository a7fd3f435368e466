// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// Operators that change a shape and keep the elements, or repeat them.

#include "Registry.h"

using namespace mlir;
using namespace ds::onnx_import;

/// Fills in a 0 (the input's dim) and the one -1 of a Reshape's shape.
static FailureOr<Dims> resolveShape(NodeContext &context, Dims shape, bool keepsZero) {
  const Tensor &input = context.input(0);
  std::optional<size_t> open;
  for (auto [dim, size] : llvm::enumerate(shape)) {
    if (size == 0 && !keepsZero) {
      if (static_cast<int64_t>(dim) >= input.rank())
        return context.malformed("copies dim " + Twine(dim) + " of an input of shape " + textOf(input.shape()));
      size = input.shape()[dim];
    }
    if (size == -1 && std::exchange(open, dim))
      return context.malformed("must have at most one -1 in its shape, got " + textOf(shape));
  }
  if (open)
    shape[*open] = 1;
  std::optional<int64_t> known = countOf(shape);
  if (!known)
    return context.malformed("has a shape that overflows or is negative: " + textOf(shape));
  if (open && *known != 0)
    shape[*open] = input.count() / *known;
  if (countOf(shape) != input.count())
    return context.malformed("must keep the number of elements, got shape " + textOf(shape) + " for " +
                             textOf(input.shape()));
  return shape;
}

static LogicalResult importReshape(NodeContext &context) {
  FailureOr<Dims> shape = context.knownInts(1, "a shape");
  if (failed(shape))
    return failure();
  shape = resolveShape(context, *shape, context.intAttribute("allowzero", 0) != 0);
  if (failed(shape))
    return failure();
  return context.finish(context.build.reshape(context.input(0), *shape));
}

static LogicalResult importFlatten(NodeContext &context) {
  const Tensor &input = context.input(0);
  int64_t axis = context.intAttribute("axis", 1), rank = input.rank();
  if (axis < -rank || axis > rank)
    return context.malformed("must have an axis in [" + Twine(-rank) + ", " + Twine(rank) + "], got " + Twine(axis));
  axis += axis < 0 ? rank : 0;
  Dims shape = {*countOf(input.shape().take_front(axis)), *countOf(input.shape().drop_front(axis))};
  return context.finish(context.build.reshape(input, shape));
}

static LogicalResult importSqueeze(NodeContext &context) {
  const Tensor &input = context.input(0);
  Dims dims;
  if (context.hasList(1, "axes")) {
    FailureOr<Dims> axes = context.listOf(1, "axes");
    if (failed(axes) || failed(axes = context.normalizeDims(*axes, input.rank())))
      return failure();
    dims = *axes;
  } else {
    for (auto [dim, size] : llvm::enumerate(input.shape()))
      if (size == 1)
        dims.push_back(dim);
  }
  Dims shape;
  for (auto [dim, size] : llvm::enumerate(input.shape())) {
    bool isDropped = llvm::is_contained(dims, static_cast<int64_t>(dim));
    if (isDropped && size != 1)
      return context.malformed("must drop dims of size 1, got dim " + Twine(dim) + " of " + textOf(input.shape()));
    if (!isDropped)
      shape.push_back(size);
  }
  return context.finish(context.build.reshape(input, shape));
}

static LogicalResult importUnsqueeze(NodeContext &context) {
  const Tensor &input = context.input(0);
  FailureOr<Dims> axes = context.listOf(1, "axes");
  if (failed(axes) || failed(axes = context.normalizeDims(*axes, input.rank() + static_cast<int64_t>(axes->size()))))
    return failure();
  Dims shape(input.shape());
  for (int64_t dim : *axes)
    shape.insert(shape.begin() + dim, 1);
  return context.finish(context.build.reshape(input, shape));
}

static LogicalResult importTranspose(NodeContext &context) {
  int64_t rank = context.input(0).rank();
  Dims reversed(llvm::reverse(llvm::seq<int64_t>(rank)));
  Dims permutation = context.intsAttribute("perm", reversed);
  Dims sorted = permutation;
  llvm::sort(sorted);
  if (!llvm::equal(sorted, llvm::seq<int64_t>(rank)))
    return context.malformed("must permute the " + Twine(rank) + " dims of its input, got " + textOf(permutation));
  return context.finish(context.build.transpose(context.input(0), permutation));
}

static LogicalResult importExpand(NodeContext &context) {
  FailureOr<Dims> shape = context.knownInts(1, "a shape");
  if (failed(shape) || failed(context.expectShape(*shape)) ||
      failed(shape = context.broadcast(context.input(0).shape(), *shape)))
    return failure();
  return context.finish(context.build.broadcastTo(context.input(0), *shape));
}

/// Each repeated dim gets a broadcast dim before it, and is joined with it.
static LogicalResult importTile(NodeContext &context) {
  const Tensor &input = context.input(0);
  FailureOr<Dims> repeats = context.knownInts(1, "repeats");
  if (failed(repeats))
    return failure();
  if (static_cast<int64_t>(repeats->size()) != input.rank() || !countOf(*repeats))
    return context.malformed("must have one number of repeats per dim, got " + textOf(*repeats) + " for " +
                             textOf(input.shape()));
  Dims spread, repeated, result;
  for (auto [size, times] : llvm::zip_equal(input.shape(), *repeats)) {
    int64_t product = 0;
    if (llvm::MulOverflow(size, times, product))
      return context.expectShape({-1});
    spread.append({1, size});
    repeated.append({times, size});
    result.push_back(product);
  }
  if (failed(context.expectShape(result)))
    return failure();
  return context.finish(
      context.build.reshape(context.build.broadcastTo(context.build.reshape(input, spread), repeated), result));
}

void ds::onnx_import::addShapeOps(Registry &registry) {
  registry.add("Reshape", 5, 2, 2, importReshape);
  registry.add("Flatten", 1, 1, 1, importFlatten);
  registry.add("Squeeze", 1, 1, 1, importSqueeze);
  registry.add("Squeeze", 13, 1, 2, importSqueeze);
  registry.add("Unsqueeze", 1, 1, 1, importUnsqueeze);
  registry.add("Unsqueeze", 13, 2, 2, importUnsqueeze);
  registry.add("Transpose", 1, 1, 1, importTranspose);
  registry.add("Expand", 8, 2, 2, importExpand);
  registry.add("Tile", 6, 2, 2, importTile);
}
