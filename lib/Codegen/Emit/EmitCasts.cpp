// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// Collectives and casts without one.

#include "Instructions.h"

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

/// The one cast from `input` to `result`, which `op` makes.
static FailureOr<Cast> findSingleCast(Operation *op, Value input, Value result, const Mesh &mesh) {
  std::optional<Cast> cast = findCast(layoutOf(input), layoutOf(result), shapeOf(input.getType()), mesh);
  return cast ? FailureOr<Cast>(*cast) : op->emitOpError("is no single cast");
}

static LogicalResult emitStart(StartOp op, InstructionEmitter &emitter) {
  plan::CollectiveT collective;
  collective.kind = toPlan(op.getKind());
  collective.axis = axisId(emitter.mesh, op.getAxis().str());
  collective.type = dataTypeOf(op.getInputs().front());
  auto wait = cast<WaitOp>(*op.getToken().user_begin());
  for (auto [input, result] : llvm::zip_equal(op.getInputs(), wait.getResults())) {
    Layout from = layoutOf(input), to = layoutOf(result);
    Shape shape = shapeOf(input.getType());
    FailureOr<Cast> cast = findSingleCast(op, input, result, emitter.mesh);
    if (failed(cast))
      return failure();
    auto segment = std::make_unique<plan::SegmentT>();
    segment->input = emitter.storage.storageOf(input);
    segment->output = emitter.storage.storageOf(result);
    segment->outer = segment->middle = segment->scatter_whole = segment->inner = emitter.extents.addConstant(1);
    collective.reduce = plan::toPlan(cast->reduce);
    if (cast->kind == CastKind::AllReduce) {
      segment->whole = emitter.countOf(input);
    } else if (cast->kind == CastKind::AllGather) {
      fillPlace(*segment, from, shape, *cast->from, emitter.extents);
    } else if (cast->kind == CastKind::ReduceScatter) {
      fillPlace(*segment, to, shape, *cast->to, emitter.extents);
    } else {
      fillAllToAll(*segment, from, to, shape, *cast, emitter.extents);
    }
    collective.segments.push_back(std::move(segment));
  }
  emitter.add(std::move(collective), op).name = stringifyCollectiveKind(op.getKind()).str();
  return success();
}

/// The instruction of a cast that each rank makes alone, with what all of them have.
template <typename InstructionT, typename OpT> static InstructionT makeLocal(OpT op, InstructionEmitter &emitter) {
  InstructionT made;
  made.input = emitter.storage.storageOf(op.getInput());
  made.output = emitter.storage.storageOf(op.getResult());
  made.type = dataTypeOf(op.getInput());
  return made;
}

static LogicalResult emitRemap(RemapOp op, InstructionEmitter &emitter) {
  auto remap = makeLocal<plan::RemapT>(op, emitter);
  remap.shape = shapeOf(op.getInput().getType());
  remap.from = layoutTableOf(op.getInput().getType(), emitter.mesh);
  remap.to = layoutTableOf(op.getResult().getType(), emitter.mesh);
  emitter.add(std::move(remap), op);
  return success();
}

static LogicalResult emitTakeShard(TakeShardOp op, InstructionEmitter &emitter) {
  FailureOr<Cast> cast = findSingleCast(op, op.getInput(), op.getResult(), emitter.mesh);
  if (failed(cast))
    return failure();
  auto take = makeLocal<plan::TakeShardT>(op, emitter);
  take.axis = axisId(emitter.mesh, cast->axis);
  fillPlace(take, layoutOf(op.getResult()), shapeOf(op.getInput().getType()), *cast->to, emitter.extents);
  emitter.add(std::move(take), op);
  return success();
}

static LogicalResult emitToPartial(ToPartialOp op, InstructionEmitter &emitter) {
  FailureOr<Cast> cast = findSingleCast(op, op.getInput(), op.getResult(), emitter.mesh);
  if (failed(cast))
    return failure();
  auto partial = makeLocal<plan::ToPartialT>(op, emitter);
  partial.count = emitter.countOf(op.getInput());
  partial.axis = axisId(emitter.mesh, cast->axis);
  partial.reduce = plan::toPlan(cast->reduce);
  emitter.add(std::move(partial), op);
  return success();
}

void ds::attachCastInstructions(MLIRContext *context) {
  attachInstructions<RemapOp, emitRemap>(context);
  attachInstructions<StartOp, emitStart>(context);
  attachInstructions<TakeShardOp, emitTakeShard>(context);
  attachInstructions<ToPartialOp, emitToPartial>(context);
}
