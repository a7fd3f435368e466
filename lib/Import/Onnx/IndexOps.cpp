// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// Operators that pick or place elements by index.

#include "Registry.h"

using namespace mlir;
using namespace ds;
using namespace ds::onnx_import;

/// Known ids must be in range; those of the program cannot be checked here.
static LogicalResult expectIds(NodeContext &context, unsigned i, int64_t size) {
  if (failed(context.expectInteger(i)))
    return failure();
  const Tensor &ids = context.input(i);
  if (!ids.isHost())
    return success();
  for (int64_t at = 0, count = ids.count(); at < count; ++at)
    if (int64_t id = ids.getHost().integer(at); id < -size || id >= size)
      return context.malformed("must have indices in [" + Twine(-size) + ", " + Twine(size) + "), got " + Twine(id));
  return success();
}

static LogicalResult importGather(NodeContext &context) {
  const Tensor &input = context.input(0), &ids = context.input(1);
  FailureOr<int64_t> dim = context.dimAttribute("axis", 0, input.rank());
  if (failed(dim) || failed(expectIds(context, 1, input.shape()[*dim])))
    return failure();
  Dims shape(input.shape().take_front(*dim));
  llvm::append_range(shape, ids.shape());
  llvm::append_range(shape, input.shape().drop_front(*dim + 1));
  if (failed(context.expectShape(shape)))
    return failure();
  return context.finish(context.build.gather(input, ids, *dim));
}

/// Ids as i64, with those from the end counted from the start; those of a top_k are already.
static Value normalizeIds(TensorBuilder &build, const Tensor &input, int64_t size) {
  if (!input.isHost() && input.getValue().getDefiningOp<TopKOp>())
    return input.getValue();
  Tensor ids = build.cast(input, Element::I64);
  Tensor isNegative = build.compare(Comparison::Less, ids, build.scalar(ids, 0));
  return build.materialize(
      build.select(isNegative, build.binary(Binary::Add, ids, build.scalar(ids, static_cast<double>(size))), ids));
}

/// That ids have the shape of the data but for one dim.
static LogicalResult expectElementIds(NodeContext &context, int64_t dim) {
  Dims expected(context.input(0).shape());
  if (context.input(1).rank() != context.input(0).rank())
    return context.malformed("must have indices of the input's rank, got shape " + textOf(context.input(1).shape()));
  expected[dim] = context.input(1).shape()[dim];
  if (expected != Dims(context.input(1).shape()))
    return context.unsupported("has indices of shape " + textOf(context.input(1).shape()) +
                               ", which leave out parts of " + textOf(context.input(0).shape()));
  return expectIds(context, 1, context.input(0).shape()[dim]);
}

static LogicalResult importGatherElements(NodeContext &context) {
  const Tensor &input = context.input(0), &ids = context.input(1);
  FailureOr<int64_t> dim = context.dimAttribute("axis", 0, input.rank());
  if (failed(dim) || failed(expectElementIds(context, *dim)))
    return failure();
  TensorBuilder &build = context.build;
  Tensor picked = build.emit<GatherElementsOp>(build.type(input.element(), ids.shape()), build.materialize(input),
                                               normalizeIds(build, ids, input.shape()[*dim]), *dim);
  return context.finish(picked.as(input.element()));
}

/// Overwriting (of zeros, or where ones were scattered) and adding, by a scatter into zeros. Equal ids of an overwrite
/// are undefined in ONNX.
static LogicalResult importScatterElements(NodeContext &context) {
  const Tensor &input = context.input(0), &ids = context.input(1), &updates = context.input(2);
  FailureOr<int64_t> dim = context.dimAttribute("axis", 0, input.rank());
  if (failed(dim) || failed(expectElementIds(context, *dim)) || failed(context.expectSameElement(0, 2)))
    return failure();
  if (updates.shape() != ids.shape())
    return context.malformed("must have updates of shape " + textOf(ids.shape()) + ", got " + textOf(updates.shape()));
  std::string reduction = context.stringAttribute("reduction", "none");
  if (reduction != "none" && reduction != "add")
    return context.unsupported("scatters with reduction '" + reduction + "'");
  TensorBuilder &build = context.build;
  Value places = normalizeIds(build, ids, input.shape()[*dim]);
  RankedTensorType type = build.type(input.element(), input.shape());
  auto scatter = [&](const Tensor &values) {
    return build.emit<ScatterElementsOp>(type, places, build.materialize(values), *dim).as(input.element());
  };
  Tensor scattered = scatter(updates);
  bool ontoZeros = input.isHost() && input.getHost().isSplat() && input.getHost().real(0) == 0;
  if (ontoZeros)
    return context.finish(scattered);
  if (reduction == "add")
    return context.finish(build.binary(Binary::Add, input, scattered));
  Tensor hits = scatter(makeSplat(input.element(), ids.shape(), 1));
  return context.finish(
      build.select(build.compare(Comparison::Greater, hits, build.scalar(hits, 0)), scattered, input));
}

//===----------------------------------------------------------------------===//
// Largest elements
//===----------------------------------------------------------------------===//

/// The `k` largest along `dim`: values and ids.
static std::pair<Tensor, Tensor> topK(TensorBuilder &build, const Tensor &input, int64_t dim, int64_t k) {
  Dims shape(input.shape());
  shape[dim] = k;
  auto top = TopKOp::create(build.ops(), build.loc(), build.type(input.element(), shape),
                            build.type(Element::I64, shape), build.materialize(input), dim);
  return {Tensor(top.getValues()).as(input.element()), Tensor(top.getIds())};
}

static LogicalResult importTopK(NodeContext &context) {
  const Tensor &input = context.input(0);
  FailureOr<int64_t> dim = context.dimAttribute("axis", -1, input.rank());
  FailureOr<Dims> k = context.knownInts(1, "a k");
  if (failed(dim) || failed(k) || failed(context.expectNumber(0)))
    return failure();
  if (k->size() != 1 || k->front() < 0 || k->front() > input.shape()[*dim])
    return context.malformed("must have a k in [0, " + Twine(input.shape()[*dim]) + "], got " + textOf(*k));
  if (context.intAttribute("largest", 1) != 1)
    return context.unsupported("takes the smallest elements");
  auto [values, ids] = topK(context.build, input, *dim, k->front());
  context.outputs = {values, ids};
  return success();
}

/// The first of the largest elements is the first of the top 1.
static LogicalResult importArgMax(NodeContext &context) {
  const Tensor &input = context.input(0);
  FailureOr<int64_t> dim = context.dimAttribute("axis", 0, input.rank());
  if (failed(dim) || failed(context.expectNumber(0)))
    return failure();
  if (context.intAttribute("select_last_index", 0) != 0)
    return context.unsupported("selects the last index");
  if (input.shape()[*dim] == 0)
    return context.malformed("must have elements along dim " + Twine(*dim));
  Dims shape(input.shape());
  shape[*dim] = 1;
  if (context.intAttribute("keepdims", 1) == 0)
    shape.erase(shape.begin() + *dim);
  return context.finish(context.build.reshape(topK(context.build, input, *dim, 1).second, shape));
}

static LogicalResult importOneHot(NodeContext &context) {
  const Tensor &ids = context.input(0);
  FailureOr<HostTensor> depth = context.known(1, "a depth"), values = context.known(2, "values");
  FailureOr<int64_t> dim = context.dimAttribute("axis", -1, ids.rank() + 1);
  if (failed(depth) || failed(values) || failed(dim) || failed(context.expectInteger(0)))
    return failure();
  if (depth->count() != 1 || values->count() != 2)
    return context.malformed("must have one depth and two values");
  int64_t size = convert(depth->at(0), depth->element, Element::I64).integer;
  Dims shape(ids.shape()), column(ids.shape());
  shape.insert(shape.begin() + *dim, size);
  column.insert(column.begin() + *dim, 1);
  if (failed(context.expectShape(shape)) || size > kMaxFoldedElements)
    return context.malformed("has a depth that overflows: " + Twine(size));
  TensorBuilder &build = context.build;
  HostTensor range = makeInts(llvm::to_vector(llvm::seq<int64_t>(size)));
  range.shape.append(ids.rank() - *dim, 1);
  Tensor wide = build.cast(ids, Element::I64);
  wide = build.select(build.compare(Comparison::Less, wide, build.scalar(wide, 0)),
                      build.binary(Binary::Add, wide, build.scalar(wide, static_cast<double>(size))), wide);
  Tensor isHit = build.compare(Comparison::Equal, build.reshape(wide, column), range);
  auto valueAt = [&](int64_t i) { return makeSplat(values->element, {}, values->real(i)); };
  return context.finish(build.select(isHit, valueAt(1), valueAt(0)));
}

void ds::onnx_import::addIndexOps(Registry &registry) {
  registry.add("Gather", 1, 2, 2, importGather);
  registry.add("GatherElements", 11, 2, 2, importGatherElements);
  registry.add("ScatterElements", 11, 3, 3, importScatterElements);
  registry.add("TopK", 10, 2, 2, importTopK);
  registry.add("ArgMax", 1, 1, 1, importArgMax);
  registry.add("OneHot", 11, 3, 3, importOneHot);
}
