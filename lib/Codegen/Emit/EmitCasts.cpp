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

/// Fills outer, whole and inner around the place that gains or loses the axis; `split` is the side on which it has the axis.
template <typename SegmentT>
void fillPlace(SegmentT &segment, const Layout &split, const Shape &shape, const AxisPlace &place, ExtentTable &extents) {
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
      FactorView source(from, shape), target(to, shape);
      size_t gathered = source.at(*cast->from), scattered = target.at(*cast->to);
      size_t first = std::min(gathered, scattered), second = std::max(gathered, scattered);
      segment->outer = extents.add({source.range(0, first)});
      segment->middle = extents.add({source.range(first + 1, second)});
      segment->inner = extents.add({source.range(second + 1, source.factors.size())});
      segment->whole = extents.add({{withoutLastAxis(source.factors[gathered])}});
      segment->scatter_whole = extents.add({{withoutLastAxis(target.factors[scattered])}});
      segment->scatter_first = scattered < gathered;
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
