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
  /// `dims` are resolved.
  explicit FactorView(const std::vector<DimLayout> &dims) {
    for (const DimLayout &dim : dims) {
      firstOfDim.push_back(factors.size());
      factors.insert(factors.end(), dim.begin(), dim.end());
    }
  }
  size_t at(const AxisPlace &place) const { return firstOfDim[place.dim] + place.factor; }
  /// The factor whose minor-most axis is `axis`.
  size_t at(const std::string &axis) const {
    return llvm::find_if(factors,
                         [&](const Factor &factor) { return !factor.axes.empty() && factor.axes.back() == axis; }) -
           factors.begin();
  }
  DimLayout range(size_t begin, size_t end) const { return DimLayout(factors.begin() + begin, factors.begin() + end); }

  DimLayout factors;
  std::vector<size_t> firstOfDim;
};

std::vector<DimLayout> resolvedDims(const Layout &layout, const Shape &shape) {
  std::vector<DimLayout> dims;
  for (size_t dim = 0; dim < shape.size(); ++dim)
    dims.push_back(resolvedDim(layout.dims[dim], shape[dim]));
  return dims;
}

Factor withoutLastAxis(Factor factor) {
  factor.axes.pop_back();
  return factor;
}

plan::CollectiveKind toPlan(CollectiveKind kind) {
  switch (kind) {
  case CollectiveKind::AllGather:
    return plan::CollectiveKind::AllGather;
  case CollectiveKind::ReduceScatter:
    return plan::CollectiveKind::ReduceScatter;
  case CollectiveKind::AllReduce:
    return plan::CollectiveKind::AllReduce;
  case CollectiveKind::AllToAll:
    return plan::CollectiveKind::AllToAll;
  }
  llvm_unreachable("the plan has every collective");
}

/// Fills outer, whole and inner around the place that gains or loses the axis; `split` is the side on which it has the
/// axis.
template <typename SegmentT>
void fillPlace(SegmentT &segment, const Layout &split, const Shape &shape, const AxisPlace &place,
               LayoutExtents &extents) {
  FactorView view(resolvedDims(split, shape));
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
/// Inside one dim both sides are spelt with the same factors.
void fillAllToAll(plan::SegmentT &segment, const Layout &from, const Layout &to, const Shape &shape, const Cast &cast,
                  LayoutExtents &extents) {
  std::vector<DimLayout> fromDims = resolvedDims(from, shape), toDims = resolvedDims(to, shape);
  size_t gatherDim = cast.from->dim, scatterDim = cast.to->dim;
  bool inOneDim = gatherDim == scatterDim;
  if (inOneDim)
    std::tie(fromDims[gatherDim], toDims[gatherDim]) = *commonSpelling(fromDims[gatherDim], toDims[gatherDim]);
  FactorView source(fromDims), target(toDims);
  size_t gathered = source.at(cast.axis), scattered = target.at(cast.axis);
  bool scatterFirst = inOneDim ? scattered < gathered : scatterDim < gatherDim;
  const FactorView &early = scatterFirst ? target : source, &late = scatterFirst ? source : target;
  size_t first = scatterFirst ? scattered : gathered, second = scatterFirst ? gathered : scattered;
  DimLayout middle;
  if (inOneDim) {
    middle = source.range(first + 1, second);
  } else {
    size_t earlyDim = std::min(gatherDim, scatterDim);
    middle = early.range(first + 1, early.firstOfDim[earlyDim + 1]);
    DimLayout rest = late.range(late.firstOfDim[earlyDim + 1], second);
    middle.insert(middle.end(), rest.begin(), rest.end());
  }
  segment.outer = extents.add({early.range(0, first)});
  segment.middle = extents.add({middle});
  segment.inner = extents.add({late.range(second + 1, late.factors.size())});
  segment.whole = extents.add({{withoutLastAxis(source.factors[gathered])}});
  segment.scatter_whole = extents.add({{withoutLastAxis(target.factors[scattered])}});
  segment.scatter_first = scatterFirst;
}

} // namespace

LogicalResult InstructionEmitter::emitStart(StartOp op) {
  plan::CollectiveT collective;
  collective.kind = toPlan(op.getKind());
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
    collective.reduce = plan::toPlan(cast->reduce);
    if (cast->kind == CastKind::AllReduce) {
      segment->whole = countOf(input);
    } else if (cast->kind == CastKind::AllGather) {
      fillPlace(*segment, from, shape, *cast->from, extents);
    } else if (cast->kind == CastKind::ReduceScatter) {
      fillPlace(*segment, to, shape, *cast->to, extents);
    } else {
      fillAllToAll(*segment, from, to, shape, *cast, extents);
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
  partial.reduce = plan::toPlan(cast->reduce);
  partial.type = type;
  add(std::move(partial), op);
  return success();
}
