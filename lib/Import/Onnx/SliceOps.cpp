// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// Operators that take parts of tensors and put parts together.

#include "Registry.h"

#include <numeric>

using namespace mlir;
using namespace ds::onnx_import;

namespace {
/// Along one dim: elements offset + i * step for i < size.
struct Extent {
  int64_t offset, size;
};
} // namespace

/// ONNX clamps ends into the dim or to before it, by the sign of the step, but starts always into it: unlike in numpy a
/// backward step from before the first element begins with that element.
static Extent clampExtent(int64_t start, int64_t end, int64_t step, int64_t size) {
  if (size == 0)
    return {0, 0};
  auto fromEnd = [&](int64_t position) {
    return position < 0 ? std::max(position, -size - 1) + size : std::min(position, size);
  };
  int64_t low = step > 0 ? 0 : -1, high = step > 0 ? size : size - 1;
  int64_t first = std::clamp<int64_t>(fromEnd(start), 0, high), last = std::clamp(fromEnd(end), low, high);
  // A negative step with an end of "before the first element" is spelt by a large negative number.
  int64_t distance = step > 0 ? last - first : first - last;
  int64_t stride = step == std::numeric_limits<int64_t>::min() ? std::numeric_limits<int64_t>::max() : std::abs(step);
  return {first, distance <= 0 ? 0 : (distance - 1) / stride + 1};
}

static LogicalResult importSlice(NodeContext &context) {
  const Tensor &input = context.input(0);
  FailureOr<Dims> starts = context.listOf(1, "starts"), ends = context.listOf(2, "ends");
  if (failed(starts) || failed(ends))
    return failure();
  FailureOr<Dims> axes = dimRange(0, starts->size()), steps = Dims(starts->size(), 1);
  if (context.hasList(3, "axes") && failed(axes = context.listOf(3, "axes")))
    return failure();
  if (context.hasInput(4) && failed(steps = context.knownInts(4, "steps")))
    return failure();
  if (ends->size() != starts->size() || axes->size() != starts->size() || steps->size() != starts->size())
    return context.malformed("must have as many ends, axes and steps as starts");
  Dims offsets(input.rank(), 0), strides(input.rank(), 1), shape(input.shape());
  Dims seen;
  for (auto [start, end, axis, step] : llvm::zip_equal(*starts, *ends, *axes, *steps)) {
    FailureOr<int64_t> dim = context.normalizeDim(axis, input.rank());
    if (failed(dim))
      return failure();
    if (step == 0 || llvm::is_contained(seen, *dim))
      return context.malformed("must have steps that are not 0 and each axis once");
    seen.push_back(*dim);
    Extent extent = clampExtent(start, end, step, input.shape()[*dim]);
    offsets[*dim] = extent.offset;
    shape[*dim] = extent.size;
    strides[*dim] = extent.size > 1 ? step : 1;
  }
  return context.finish(context.build.slice(input, offsets, strides, shape));
}

/// Equal parts of `size`, one per output. Since opset 18 the last part may be smaller.
static FailureOr<Dims> equalParts(NodeContext &context, int64_t size) {
  const int64_t parts = context.node.output_size();
  if (parts == 0)
    return Dims();
  if (!context.hasAttribute("num_outputs"))
    return Dims(parts, size / parts);
  if (const int64_t given = context.intAttribute("num_outputs", 0); given != parts)
    return context.malformed("must have as many outputs as 'num_outputs' says, " + Twine(given) + ", got " +
                             Twine(parts));
  Dims sizes(parts, llvm::divideCeil(size, parts));
  sizes.back() = size - sizes.front() * (parts - 1);
  return sizes;
}

static LogicalResult importSplit(NodeContext &context) {
  const Tensor &input = context.input(0);
  FailureOr<int64_t> dim = context.dimAttribute("axis", 0, input.rank());
  if (failed(dim))
    return failure();
  int64_t size = input.shape()[*dim], parts = context.node.output_size();
  if (context.hasInput(1) && context.hasAttribute("num_outputs"))
    return context.malformed("must have sizes or 'num_outputs', got both");
  FailureOr<Dims> sizes = context.hasList(1, "split") ? context.listOf(1, "split") : equalParts(context, size);
  if (failed(sizes))
    return failure();
  std::optional<int64_t> fits = countOf(*sizes);
  if (!fits || static_cast<int64_t>(sizes->size()) != parts ||
      std::accumulate(sizes->begin(), sizes->end(), int64_t(0)) != size)
    return context.malformed("must split dim " + Twine(*dim) + " of size " + Twine(size) + " into its " + Twine(parts) +
                             " outputs, got sizes " + textOf(*sizes));
  Dims offsets(input.rank(), 0), steps(input.rank(), 1), shape(input.shape());
  for (int64_t part : *sizes) {
    shape[*dim] = part;
    context.outputs.push_back(context.build.slice(input, offsets, steps, shape));
    offsets[*dim] += part;
  }
  return success();
}

static LogicalResult importConcat(NodeContext &context) {
  const Tensor &first = context.input(0);
  FailureOr<int64_t> dim = context.dimAttribute("axis", 0, first.rank());
  if (failed(dim))
    return failure();
  Dims total(first.shape());
  for (unsigned i = 1; i < context.inputs.size(); ++i) {
    if (!context.hasInput(i) || failed(context.expectSameElement(0, i)))
      return context.malformed("must have all inputs, of one element type");
    Dims shape(context.input(i).shape());
    bool fits = context.input(i).rank() == first.rank();
    if (fits) {
      total[*dim] += std::exchange(shape[*dim], first.shape()[*dim]);
      fits = shape == Dims(first.shape());
    }
    if (!fits)
      return context.malformed("must join shapes that differ in dim " + Twine(*dim) + " alone, got " +
                               textOf(first.shape()) + " and " + textOf(context.input(i).shape()));
  }
  if (failed(context.expectShape(total)))
    return failure();
  return context.finish(context.build.concat(context.inputs, *dim));
}

/// What a Pad surrounds its input with: a scalar of the input's type.
static FailureOr<Tensor> findPadding(NodeContext &context) {
  if (!context.hasInput(2)) // an attribute before opset 11
    return context.build.scalar(context.input(0), context.floatAttribute("value", 0));
  if (failed(context.expectSameElement(0, 2)))
    return failure();
  if (context.input(2).count() != 1)
    return context.malformed("must have one value, got shape " + textOf(context.input(2).shape()));
  return context.build.reshape(context.input(2), {});
}

/// The pads before all dims, then those after: of the axes that input 3 lists, since opset 18, or of all.
static FailureOr<Dims> findPads(NodeContext &context) {
  const int64_t rank = context.input(0).rank();
  FailureOr<Dims> pads = context.listOf(1, "pads");
  FailureOr<Dims> axes = context.hasInput(3) ? context.knownInts(3, "axes") : FailureOr(dimRange(0, rank));
  if (failed(pads) || failed(axes))
    return failure();
  const size_t count = axes->size();
  if (pads->size() != 2 * count)
    return context.malformed("must have " + Twine(2 * count) + " pads, got " + textOf(*pads));
  Dims all(2 * rank, 0), seen;
  for (size_t i = 0; i < count; ++i) {
    FailureOr<int64_t> dim = context.normalizeDim((*axes)[i], rank);
    if (failed(dim))
      return failure();
    if (llvm::is_contained(seen, *dim))
      return context.malformed("must have each of the axes once, got " + textOf(*axes));
    seen.push_back(*dim);
    all[*dim] = (*pads)[i];
    all[rank + *dim] = (*pads)[count + i];
  }
  return all;
}

/// Crops where pads are negative, then surrounds with a value.
static LogicalResult importPad(NodeContext &context) {
  const Tensor &input = context.input(0);
  FailureOr<Dims> pads = findPads(context);
  FailureOr<Tensor> value = findPadding(context);
  if (failed(pads) || failed(value))
    return failure();
  if (std::string mode = context.stringAttribute("mode", "constant"); mode != "constant")
    return context.unsupported("pads in mode '" + mode + "'");
  int64_t rank = input.rank();
  Dims offsets(rank, 0), steps(rank, 1), cropped(input.shape()), low(rank, 0), shape(input.shape());
  for (int64_t dim = 0; dim < rank; ++dim) {
    int64_t before = (*pads)[dim], after = (*pads)[rank + dim];
    constexpr int64_t limit = int64_t(1) << 56;
    if (std::abs(before) > limit || std::abs(after) > limit)
      return context.expectShape({-1});
    offsets[dim] = std::max<int64_t>(-before, 0);
    cropped[dim] += std::min<int64_t>(before, 0) + std::min<int64_t>(after, 0);
    low[dim] = std::max<int64_t>(before, 0);
    shape[dim] += before + after;
  }
  if (failed(context.expectShape(cropped)) || failed(context.expectShape(shape)))
    return failure();
  TensorBuilder &build = context.build;
  Tensor kept = build.slice(input, offsets, steps, cropped);
  bool isZero = value->isHost() && value->getHost().real(0) == 0;
  return context.finish(isZero ? build.padZeros(kept, low, shape) : build.padWith(*value, kept, low, shape));
}

/// Keeps a triangle of the last two dims.
static LogicalResult importTrilu(NodeContext &context) {
  const Tensor &input = context.input(0);
  if (failed(context.expectRank(0, 2, 32)))
    return failure();
  int64_t diagonal = 0;
  if (context.hasInput(1)) {
    FailureOr<Dims> known = context.knownInts(1, "a diagonal");
    if (failed(known) || known->size() != 1)
      return failed(known) ? failure() : context.malformed("must have one diagonal");
    diagonal = known->front();
  }
  bool isUpper = context.intAttribute("upper", 1) != 0;
  int64_t rows = input.shape()[input.rank() - 2], columns = input.shape().back();
  if (*countOf({rows, columns}) > kMaxFoldedElements)
    return context.unsupported("has a triangle of more than " + Twine(kMaxFoldedElements) + " elements");
  diagonal = std::clamp(diagonal, -rows - 1, columns + 1);
  HostTensor mask;
  mask.element = Element::Bool;
  mask.shape = {rows, columns};
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column)
      mask.data.push_back(wrapTo(Element::Bool, isUpper ? column >= row + diagonal : column <= row + diagonal));
  return context.finish(context.build.select(mask, input, context.build.scalar(input, 0)));
}

void ds::onnx_import::addSliceOps(Registry &registry) {
  registry.add("Slice", 1, 1, 1, importSlice);
  registry.add("Slice", 10, 3, 5, importSlice);
  registry.add("Split", 2, 1, 1, importSplit);
  registry.add("Split", 13, 1, 2, importSplit);
  registry.add("Concat", 4, 1, kAnyNumber, importConcat);
  registry.add("Pad", 2, 1, 1, importPad);
  registry.add("Pad", 11, 2, 3, importPad);
  registry.add("Pad", 18, 2, 4, importPad);
  registry.add("Trilu", 14, 1, 2, importTrilu);
}
