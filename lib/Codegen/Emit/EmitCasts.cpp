// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// Collectives and casts without one.

#include "InstructionEmitter.h"

#include "ds/Layout/Cast.h"
#include "ds/Plan/LayoutTables.h"

using namespace mlir;
using namespace ds;

std::unique_ptr<plan::LayoutT> ds::layoutTableOf(Type type, const Mesh &mesh) {
  return plan::toPlanLayout(layoutOf(type), shapeOf(type), mesh);
}

namespace {

/// All factors of a layout, major first, and where each dim's begin.
struct FactorView {
  FactorView(const Layout &layout, const Shape &shape) {
    for (size_t dim = 0; dim < shape.size(); ++dim) {
      firstOfDim.push_back(factors.size());
      for (const Factor &factor : resolvedDim(layout.dims[dim], shape[dim]))
        factors.push_back(factor);
    }
  }
  size_t at(const AxisPlace &place) const { return firstOfDim[place.dim] + place.factor; }
  DimLayout range(size_t begin, size_t end) const { return DimLayout(factors.begin() + begin, factors.begin() + end); }

  DimLayout factors;
  std::vector<size_t> firstOfDim;
};

Factor withoutLastAxis(Factor factor) {
  factor.axes.pop_back();
  return factor;
}

const plan::CollectiveKind kCollectiveKinds[] = {plan::CollectiveKind::AllGather, plan::CollectiveKind::ReduceScatter,
                                                 plan::CollectiveKind::AllReduce, plan::CollectiveKind::AllToAll};

/// Fills outer, whole and inner around the place that gains or loses the axis; `split` is the side on which it has the
/// axis.
template <typename SegmentT>
void fillPlace(SegmentT &segment, const Layout &split, const Shape &shape, const AxisPlace &place,
               ExtentTable &extents) {
  FactorView view(split, shape);
  if (place.isFlat) {
    AxisList rest = split.flat;
    rest.pop_back();
    segment.outer = segment.inner = extents.addConstant(1);
    segment.whole = extents.add({view.factors}, rest);
    return;
  }
  size_t at = view.at(place);
  segment.outer = extents.add({view.range(0, at)});
  segment.whole = extents.add({{withoutLastAxis(view.factors[at])}});
  segment.inner = extents.add({view.range(at + 1, view.factors.size())});
}

/// Fills the five parts of an all-to-all. The factor that is gathered is one of `from`, the one that is scattered one
/// of `to`; what lies around each is read from its own side, since the other may spell that dim with other factors.
LogicalResult fillAllToAll(plan::SegmentT &segment, const Layout &from, const Layout &to, const Shape &shape,
                           const Cast &cast, ExtentTable &extents) {
  FactorView source(from, shape), target(to, shape);
  size_t gathered = source.at(*cast.from), scattered = target.at(*cast.to);
  size_t gatherDim = cast.from->dim, scatterDim = cast.to->dim;
  bool inOneDim = gatherDim == scatterDim;
  if (inOneDim && from.dims[gatherDim].size() != to.dims[gatherDim].size())
    return failure();
  bool scatterFirst = inOneDim ? scattered < gathered : scatterDim < gatherDim;
  const FactorView &early = scatterFirst ? target : source, &late = scatterFirst ? source : target;
  size_t first = scatterFirst ? scattered : gathered, second = scatterFirst ? gathered : scattered;
  size_t earlyDim = std::min(gatherDim, scatterDim), lateDim = std::max(gatherDim, scatterDim);
  DimLayout middle;
  if (inOneDim) {
    middle = source.range(first + 1, second);
  } else {
    middle = early.range(first + 1, early.firstOfDim[earlyDim + 1]);
    for (const DimLayout &part : {late.range(late.firstOfDim[earlyDim + 1], late.firstOfDim[lateDim]),
                                  late.range(late.firstOfDim[lateDim], second)})
      middle.insert(middle.end(), part.begin(), part.end());
  }
  segment.outer = extents.add({early.range(0, first)});
  segment.middle = extents.add({middle});
  segment.inner = extents.add({late.range(second + 1, late.factors.size())});
  segment.whole = extents.add({{withoutLastAxis(source.factors[gathered])}});
  segment.scatter_whole = extents.add({{withoutLastAxis(target.factors[scattered])}});
  segment.scatter_first = scatterFirst;
  return success();
}

} // namespace

LogicalResult InstructionEmitter::emitStart(StartOp op) {
  plan::CollectiveT collective;
  collective.kind = kCollectiveKinds[static_cast<unsigned>(op.getKind())];
  collective.axis = axisId(mesh, op.getAxis().str());
  collective.type = dataTypeOf(cast<RankedTensorType>(op.getInputs().front().getType()).getElementType());
  auto wait = cast<WaitOp>(*op.getToken().user_begin());
  for (auto [input, result] : llvm::zip_equal(op.getInputs(), wait.getResults())) {
    Layout from = layoutOf(input), to = layoutOf(result);
    Shape shape = shapeOf(input.getType());
    std::optional<Cast> cast = findCast(from, to, shape, mesh);
    if (!cast)
      return op.emitOpError("is no single cast");
    auto segment = std::make_unique<plan::SegmentT>();
    segment->input = storage.storageOf(input);
    segment->output = storage.storageOf(result);
    segment->outer = segment->middle = segment->scatter_whole = segment->inner = extents.addConstant(1);
    collective.reduce = static_cast<plan::ReduceKind>(cast->reduce);
    if (cast->kind == CastKind::AllReduce) {
      segment->whole = countOf(input);
    } else if (cast->kind == CastKind::AllGather) {
      fillPlace(*segment, from, shape, *cast->from, extents);
    } else if (cast->kind == CastKind::ReduceScatter) {
      fillPlace(*segment, to, shape, *cast->to, extents);
    } else {
      if (failed(fillAllToAll(*segment, from, to, shape, *cast, extents)))
        return op.emitOpError("between factors of one dim must have equal factor lists, got [")
               << from.str() << "] and [" << to.str() << "]";
    }
    collective.segments.push_back(std::move(segment));
  }
  plan::OperationUnion wrapped;
  wrapped.Set(std::move(collective));
  append(queueOfAxis(op.getAxis()), std::move(wrapped), op);
  plan.queues[queueOfAxis(op.getAxis())]->instructions.back()->name = stringifyCollectiveKind(op.getKind()).str();
  return success();
}

LogicalResult InstructionEmitter::emitLocalCast(Operation *op) {
  Value input = op->getOperand(0), result = op->getResult(0);
  Layout from = layoutOf(input), to = layoutOf(result);
  Shape shape = shapeOf(input.getType());
  plan::DataType type = dataTypeOf(cast<RankedTensorType>(input.getType()).getElementType());
  if (isa<RemapOp>(op)) {
    plan::RemapT remap;
    remap.input = storage.storageOf(input);
    remap.output = storage.storageOf(result);
    remap.shape = shape;
    remap.from = layoutTableOf(input.getType(), mesh);
    remap.to = layoutTableOf(result.getType(), mesh);
    remap.type = type;
    add(std::move(remap), op);
    return success();
  }
  std::optional<Cast> cast = findCast(from, to, shape, mesh);
  if (!cast)
    return op->emitOpError("is no single cast");
  if (cast->kind == CastKind::TakeShard) {
    plan::TakeShardT take;
    take.input = storage.storageOf(input);
    take.output = storage.storageOf(result);
    take.axis = axisId(mesh, cast->axis);
    take.type = type;
    fillPlace(take, to, shape, *cast->to, extents);
    add(std::move(take), op);
    return success();
  }
  plan::ToPartialT partial;
  partial.input = storage.storageOf(input);
  partial.output = storage.storageOf(result);
  partial.count = countOf(input);
  partial.axis = axisId(mesh, cast->axis);
  partial.reduce = static_cast<plan::ReduceKind>(cast->reduce);
  partial.type = type;
  add(std::move(partial), op);
  return success();
}
