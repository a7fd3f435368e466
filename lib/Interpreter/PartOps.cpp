// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// Slices, concatenations and pads, by the global coordinates of each dim.

#include "Semantics.h"

#include "ds/Dialect/DsDialect.h"

using namespace mlir;
using namespace ds;

namespace {
/// For each place of a dim of the result the place in the input's block that it comes from, or kNothing.
using SourcePlaces = std::vector<int64_t>;
constexpr int64_t kNothing = -1;

/// Copies the elements of one input of an op to their places in the result.
class PartCopier {
public:
  PartCopier(LocalCall &call, unsigned operand)
      : call(call), operand(operand), input(call.operand(operand)), result(call.result()) {}

  /// Says where dim `dim` comes from: `sourceOf` maps a global coordinate of the result to one of the input, or
  /// kNothing.
  template <typename Function> LogicalResult addDim(size_t dim, Function sourceOf) {
    const std::vector<int64_t> held = localPlaces(*call.operandPlacements[operand], call.rank, dim);
    SourcePlaces &places = sources.emplace_back();
    for (int64_t position : call.resultPlacements[0]->positions(call.rank, dim)) {
      const int64_t coordinate = sourceOf(position);
      places.push_back(coordinate == kNothing ? kNothing : held[coordinate]);
      if (coordinate != kNothing && held[coordinate] == kNothing)
        return call.fail("operand " + Twine(operand) + " must hold coordinate " + Twine(coordinate) + " of dim " +
                         Twine(dim));
    }
    return success();
  }

  /// Copies; elements that come from nothing stay as they are.
  void run() { copyFrom(0, 0, 0); }

private:
  void copyFrom(size_t dim, int64_t target, int64_t source) {
    if (dim == sources.size())
      return copyElement(result, target, input, source);
    for (size_t i = 0; i < sources[dim].size(); ++i)
      if (sources[dim][i] != kNothing)
        copyFrom(dim + 1, target * result.shape[dim] + i, source * input.shape[dim] + sources[dim][i]);
  }

  LocalCall &call;
  unsigned operand;
  const DenseTensor &input;
  DenseTensor &result;
  std::vector<SourcePlaces> sources;
};
} // namespace

static LogicalResult slice(LocalCall &call) {
  auto op = cast<SliceOp>(call.op);
  PartCopier copier(call, 0);
  for (size_t dim = 0; dim < op.getOffsets().size(); ++dim)
    if (failed(copier.addDim(dim, [&](int64_t i) { return op.getOffsets()[dim] + i * op.getStrides()[dim]; })))
      return failure();
  copier.run();
  return success();
}

static LogicalResult pad(LocalCall &call) {
  auto op = cast<PadOp>(call.op);
  PartCopier copier(call, 0);
  for (size_t dim = 0; dim < op.getLow().size(); ++dim) {
    const int64_t low = op.getLow()[dim], step = op.getInterior()[dim] + 1,
                  size = call.operandPlacements[0]->shape()[dim];
    auto sourceOf = [=](int64_t i) {
      return i < low || (i - low) % step || (i - low) / step >= size ? kNothing : (i - low) / step;
    };
    if (failed(copier.addDim(dim, sourceOf)))
      return failure();
  }
  copier.run();
  return success();
}

static LogicalResult concat(LocalCall &call) {
  const size_t joined = cast<ConcatOp>(call.op).getDim();
  int64_t begin = 0;
  for (unsigned operand = 0; operand < call.operands.size(); ++operand) {
    const Shape &shape = call.operandPlacements[operand]->shape();
    const int64_t end = begin + shape[joined];
    PartCopier copier(call, operand);
    for (size_t dim = 0; dim < shape.size(); ++dim) {
      auto sourceOf = [=](int64_t i) { return dim != joined ? i : i < begin || i >= end ? kNothing : i - begin; };
      if (failed(copier.addDim(dim, sourceOf)))
        return failure();
    }
    copier.run();
    begin = end;
  }
  return success();
}

static LogicalResult takePart(LocalCall &call) {
  const int64_t parts = cast<TakePartOp>(call.op).getParts(), part = call.operand(1).ints[0];
  if (part < 0 || part >= parts)
    return call.fail("index must be in [0, " + Twine(parts) + "), got " + Twine(part));
  PartCopier copier(call, 0);
  const Shape &shape = call.operandPlacements[0]->shape();
  for (size_t dim = 0; dim < shape.size(); ++dim)
    if (failed(copier.addDim(dim, [&](int64_t i) { return dim == 0 ? part * (shape[0] / parts) + i : i; })))
      return failure();
  copier.run();
  return success();
}

void ds::addPartOps(SemanticsTable &table) {
  table.add<ConcatOp>(concat);
  table.add<PadOp>(pad);
  table.add<SliceOp>(slice);
  table.add<TakePartOp>(takePart);
}
