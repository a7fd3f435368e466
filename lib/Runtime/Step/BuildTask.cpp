// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "BuildTask.h"

#include "ds/Runtime/Remap.h"
#include "ds/Runtime/StatusMacros.h"

#include "absl/strings/str_cat.h"

using namespace ds;
using namespace ds::runtime;

namespace {
struct CollectiveTask : Task {
  absl::Status run(const TaskContext &) override { return communicator->run(call); }

  Communicator *communicator = nullptr;
  CollectiveCall call;
};

/// The number of elements of a segment on this rank.
struct SegmentSize {
  int64_t input = 0, output = 0;
};
} // namespace

static SegmentSize sizeOfSegment(plan::CollectiveKind kind, const CollectiveSegment &segment, const MeshAxis &axis,
                                 int64_t member) {
  const int64_t piece = split({0, segment.whole}, axis, member).length();
  const int64_t scatterPiece = split({0, segment.scatterWhole}, axis, member).length();
  const int64_t rest = productOf({segment.outer, segment.inner});
  switch (kind) {
  case plan::CollectiveKind::AllGather:
    return {productOf({rest, piece}), productOf({rest, segment.whole})};
  case plan::CollectiveKind::ReduceScatter:
    return {productOf({rest, segment.whole}), productOf({rest, piece})};
  case plan::CollectiveKind::AllReduce:
    return {segment.whole, segment.whole};
  case plan::CollectiveKind::AllToAll:
    return {productOf({rest, segment.middle, piece, segment.scatterWhole}),
            productOf({rest, segment.middle, segment.whole, scatterPiece})};
  }
  return {};
}

/// Segments of kinds that do not use an extent may name any; it counts as 1.
static void dropUnusedExtents(plan::CollectiveKind kind, CollectiveSegment &segment) {
  if (kind == plan::CollectiveKind::AllToAll)
    return;
  segment.middle = segment.scatterWhole = 1;
  segment.scatterFirst = false;
  if (kind == plan::CollectiveKind::AllReduce)
    segment.outer = segment.inner = 1;
}

static absl::StatusOr<CollectiveSegment> resolveSegment(const plan::CollectiveT &collective,
                                                        const plan::SegmentT &table, const Bindings &bindings) {
  DS_ASSIGN_OR_RETURN(const std::vector<int64_t> sizes,
                      bindings.lengths({table.outer, table.whole, table.middle, table.scatter_whole, table.inner}));
  CollectiveSegment segment;
  segment.outer = sizes[0];
  segment.whole = sizes[1];
  segment.middle = sizes[2];
  segment.scatterWhole = sizes[3];
  segment.inner = sizes[4];
  segment.scatterFirst = table.scatter_first;
  dropUnusedExtents(collective.kind, segment);
  const MeshAxis &axis = bindings.mesh().axes()[collective.axis];
  const SegmentSize size =
      sizeOfSegment(collective.kind, segment, axis, bindings.mesh().coordinate(bindings.rank(), axis.name));
  DS_ASSIGN_OR_RETURN(segment.input, bindings.elements(table.input, size.input, collective.type));
  DS_ASSIGN_OR_RETURN(segment.output, bindings.elements(table.output, size.output, collective.type));
  return segment;
}

TaskOr TaskBuilder::buildCollective(const plan::CollectiveT &collective, const std::string &name) const {
  auto task = std::make_unique<CollectiveTask>();
  task->communicator = &communicatorAlong(collective.axis);
  task->call.kind = collective.kind;
  task->call.reduce = collective.reduce;
  task->call.type = collective.type;
  task->call.name = name;
  for (const auto &segment : collective.segments) {
    DS_ASSIGN_OR_RETURN(CollectiveSegment resolved, resolveSegment(collective, *segment, bindings));
    task->call.segments.push_back(resolved);
  }
  DS_RETURN_IF_ERROR(task->communicator->prepare(task->call));
  return task;
}

TaskOr TaskBuilder::build(const plan::InstructionT &instruction) const {
  const plan::OperationUnion &operation = instruction.operation;
  switch (operation.type) {
  case plan::Operation::KernelCall:
    return buildKernelCall(*operation.AsKernelCall(), bindings);
  case plan::Operation::Matmul:
    return buildMatmul(*operation.AsMatmul(), bindings);
  case plan::Operation::Copy:
    return buildCopy(*operation.AsCopy(), bindings);
  case plan::Operation::Fill:
    return buildFill(*operation.AsFill(), bindings);
  case plan::Operation::LibraryCall:
    return buildLibraryCall(*operation.AsLibraryCall(), bindings);
  case plan::Operation::Collective:
    return buildCollective(*operation.AsCollective(), nameOfInstruction(instruction));
  case plan::Operation::TakeShard:
    return buildTakeShard(*operation.AsTakeShard(), bindings);
  case plan::Operation::ToPartial:
    return buildToPartial(*operation.AsToPartial(), bindings);
  case plan::Operation::Remap:
    return buildRemap(*operation.AsRemap(), bindings, communicatorAlong(Transport::kAllAxes));
  default:
    return absl::InvalidArgumentError(absl::StrCat("invalid plan: an instruction must have an operation, got ",
                                                   std::string(plan::nameOf(operation.type))));
  }
}
