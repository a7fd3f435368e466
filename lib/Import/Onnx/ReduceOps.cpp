// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// Reductions.

#include "Registry.h"

using namespace mlir;
using namespace ds::onnx_import;

namespace {
/// The dims that a reduction folds, and the shape that it leaves.
struct Reduced {
  Dims dims, shape;
  int64_t count = 1; ///< elements folded into one
};
} // namespace

/// `axes` is an attribute before opset 13 (ReduceSum) or 18 (the others), then input 1.
static FailureOr<Reduced> findDims(NodeContext &context) {
  const Tensor &input = context.input(0);
  Reduced reduced;
  FailureOr<Dims> axes = context.listOf(1, "axes");
  if (failed(axes))
    return failure();
  bool keepsAll = axes->empty() && context.intAttribute("noop_with_empty_axes", 0) != 0;
  if (axes->empty() && !keepsAll)
    axes = dimRange(0, input.rank());
  if (failed(axes = context.normalizeDims(*axes, input.rank())))
    return failure();
  reduced.dims = *axes;
  bool keepsDims = context.intAttribute("keepdims", 1) != 0;
  for (auto [dim, size] : llvm::enumerate(input.shape())) {
    bool isFolded = llvm::is_contained(reduced.dims, static_cast<int64_t>(dim));
    reduced.count *= isFolded ? size : 1;
    if (!isFolded || keepsDims)
      reduced.shape.push_back(isFolded ? 1 : size);
  }
  return reduced;
}

template <Fold kind> static LogicalResult importReduce(NodeContext &context) {
  FailureOr<Reduced> reduced = findDims(context);
  if (failed(reduced))
    return failure();
  if (reduced->count == 0 && (kind == Fold::Max || kind == Fold::Min))
    return context.malformed("must have elements to fold");
  return context.finish(
      context.build.reshape(context.build.reduce(kind, context.input(0), reduced->dims), reduced->shape));
}

static LogicalResult importReduceMean(NodeContext &context) {
  FailureOr<Reduced> reduced = findDims(context);
  if (failed(reduced))
    return failure();
  TensorBuilder &build = context.build;
  Tensor sum = build.reshape(build.reduce(Fold::Sum, context.input(0), reduced->dims), reduced->shape);
  return context.finish(build.binary(Binary::Div, sum, build.scalar(sum, static_cast<double>(reduced->count))));
}

static LogicalResult importReduceSumSquare(NodeContext &context) {
  FailureOr<Reduced> reduced = findDims(context);
  if (failed(reduced))
    return failure();
  TensorBuilder &build = context.build;
  Tensor square = build.binary(Binary::Mul, context.input(0), context.input(0));
  return context.finish(build.reshape(build.reduce(Fold::Sum, square, reduced->dims), reduced->shape));
}

static LogicalResult importReduceL2(NodeContext &context) {
  if (failed(context.expectFloat(0)) || failed(importReduceSumSquare(context)))
    return failure();
  return context.finish(context.build.unary(Unary::Sqrt, context.outputs[0]));
}

/// Sums that run along one dim of a known tensor; of a computed one, by a triangle of ones.
static LogicalResult importCumSum(NodeContext &context) {
  const Tensor &input = context.input(0);
  FailureOr<Dims> axis = context.knownInts(1, "an axis");
  if (failed(axis) || axis->size() != 1)
    return failed(axis) ? failure() : context.malformed("must have one axis");
  FailureOr<int64_t> dim = context.normalizeDim(axis->front(), input.rank());
  if (failed(dim))
    return failure();
  int64_t size = input.shape()[*dim];
  bool isExclusive = context.intAttribute("exclusive", 0) != 0, isReverse = context.intAttribute("reverse", 0) != 0;
  if (input.count() > kMaxFoldedElements / std::max<int64_t>(size, 1))
    return context.unsupported("sums along a dim of " + Twine(size) + " elements");
  // result[.., i, ..] = sum over j of input[.., j, ..] where the triangle has (i, j).
  HostTensor triangle;
  triangle.element = input.element();
  triangle.shape = {size, size};
  for (int64_t i = 0; i < size; ++i)
    for (int64_t j = 0; j < size; ++j) {
      int64_t behind = isReverse ? j - i : i - j;
      triangle.data.push_back(makeSplat(input.element(), {}, behind > 0 || (behind == 0 && !isExclusive)).data[0]);
    }
  TensorBuilder &build = context.build;
  Dims rows(input.shape()), mask(input.rank() + 1, 1);
  rows.insert(rows.begin() + *dim, 1);
  mask[*dim] = mask[*dim + 1] = size;
  Tensor product = build.binary(Binary::Mul, build.reshape(input, rows), build.reshape(triangle, mask));
  return context.finish(build.reduce(Fold::Sum, product, {*dim + 1}));
}

void ds::onnx_import::addReduceOps(Registry &registry) {
  const auto addReduction = [&](StringRef op, Handler handler, int64_t withInput = 18) {
    registry.add(op, 1, 1, 1, handler);
    registry.add(op, withInput, 1, 2, handler); // the axes
  };
  addReduction("ReduceSum", importReduce<Fold::Sum>, 13);
  addReduction("ReduceMax", importReduce<Fold::Max>);
  addReduction("ReduceMin", importReduce<Fold::Min>);
  addReduction("ReduceProd", importReduce<Fold::Product>);
  addReduction("ReduceMean", importReduceMean);
  addReduction("ReduceSumSquare", importReduceSumSquare);
  addReduction("ReduceL2", importReduceL2);
  registry.add("CumSum", 11, 2, 2, importCumSum);
}
