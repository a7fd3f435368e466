// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "Checks.h"

#include "ds/Plan/LibrarySignature.h"

#include <algorithm>
#include <set>

using namespace ds::plan;

namespace {
/// Looks at one instruction; `fail` names it.
class OperationCheck {
public:
  OperationCheck(const PlanT &plan, const Step &step) : plan(plan), step(step) {}

  absl::Status run() const;
  /// The accesses' ids, and that nothing is clobbered while it is read.
  absl::Status checkAccesses(const std::vector<Access> &accesses) const;

private:
  absl::Status checkOperation(const KernelCallT &call) const;
  absl::Status checkOperation(const MatmulT &matmul) const;
  absl::Status checkOperation(const CopyT &copy) const;
  absl::Status checkOperation(const FillT &fill) const { return checkType(fill.type); }
  absl::Status checkOperation(const LibraryCallT &call) const;
  absl::Status checkOperation(const CollectiveT &collective) const;
  absl::Status checkOperation(const TakeShardT &shard) const;
  absl::Status checkOperation(const ToPartialT &partial) const;
  absl::Status checkOperation(const RemapT &remap) const;
  template <typename MarkerT> absl::Status checkMarker(const MarkerT &) const;

  absl::Status checkType(DataType type) const;
  absl::Status checkAxis(uint16_t axis) const;
  absl::Status checkReduce(ReduceKind kind) const;
  absl::Status checkExtents(const std::vector<uint32_t> &extents) const;
  absl::Status checkView(const ViewT *view, size_t loops) const;

  template <typename... Parts> absl::Status fail(const Parts &...parts) const {
    return invalidPlan(stepName(plan, step), " ", parts...);
  }

  const PlanT &plan;
  const Step &step;
};
} // namespace

//===----------------------------------------------------------------------===//
// Ids and enums
//===----------------------------------------------------------------------===//

absl::Status OperationCheck::checkType(DataType type) const {
  return type <= DataType::MAX ? absl::OkStatus() : fail("has unknown type ", static_cast<int>(type));
}

absl::Status OperationCheck::checkAxis(uint16_t axis) const {
  return axis < plan.mesh.size() ? absl::OkStatus() : fail("refers to unknown axis ", axis);
}

absl::Status OperationCheck::checkReduce(ReduceKind kind) const {
  return kind <= ReduceKind::MAX ? absl::OkStatus() : fail("has unknown reduction ", static_cast<int>(kind));
}

absl::Status OperationCheck::checkExtents(const std::vector<uint32_t> &extents) const {
  for (uint32_t extent : extents)
    if (extent >= plan.extents.size())
      return fail("refers to unknown extent ", extent);
  return absl::OkStatus();
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

absl::Status OperationCheck::checkOperation(const KernelCallT &call) const {
  if (call.kernel >= plan.kernels.size())
    return fail("refers to unknown kernel ", call.kernel);
  if (call.first_output > call.buffers.size())
    return fail("must have first_output in [0, ", call.buffers.size(), "], got ", call.first_output);
  if (call.chunks < 1)
    return fail("must have at least 1 chunk, got ", call.chunks);
  if (call.results.size() > call.buffers.size() - call.first_output)
    return fail("must have at most ", call.buffers.size() - call.first_output, " results, got ", call.results.size());
  for (const auto &result : call.results) {
    DS_RETURN_IF_ERROR(checkType(result->type));
    DS_RETURN_IF_ERROR(checkExtents({result->count}));
  }
  DS_RETURN_IF_ERROR(checkExtents({call.rows}));
  return checkExtents(call.extents);
}

absl::Status OperationCheck::checkOperation(const MatmulT &matmul) const {
  DS_RETURN_IF_ERROR(checkType(matmul.type));
  DS_RETURN_IF_ERROR(checkExtents(matmul.extents));
  if (matmul.activation > Activation::MAX)
    return fail("has unknown activation ", static_cast<int>(matmul.activation));
  std::vector<int> uses(matmul.extents.size(), 0);
  auto count = [&](const std::vector<uint16_t> &dims) {
    std::set<uint16_t> seen;
    for (uint16_t dim : dims) {
      if (dim >= uses.size())
        return fail("refers to unknown index ", dim);
      if (!seen.insert(dim).second)
        return fail("uses index ", dim, " twice in one operand");
      ++uses[dim];
    }
    return absl::OkStatus();
  };
  for (const auto *dims : {&matmul.a_dims, &matmul.b_dims, &matmul.c_dims})
    DS_RETURN_IF_ERROR(count(*dims));
  for (size_t i = 0; i < uses.size(); ++i)
    if (uses[i] < 2)
      return fail("must have index ", i, " in at least two of A, B and C, got ", uses[i]);
  for (uint16_t dim : matmul.bias_dims)
    if (std::find(matmul.c_dims.begin(), matmul.c_dims.end(), dim) == matmul.c_dims.end())
      return fail("must have bias index ", dim, " in C");
  return absl::OkStatus();
}

absl::Status OperationCheck::checkView(const ViewT *view, size_t loops) const {
  if (!view)
    return fail("must have a source and a target");
  for (const auto &dim : view->dims) {
    if (dim->loop < -1 || dim->loop >= static_cast<int64_t>(loops))
      return fail("must have a view over loops in [-1, ", loops, "), got ", dim->loop);
    // Then start + step * extent stays inside 64 bits.
    if (std::abs(dim->start / 2) > kMaxElements || std::abs(dim->step / 2) > kMaxElements)
      return fail("must have a view with starts and steps of at most ", 2 * kMaxElements);
    DS_RETURN_IF_ERROR(checkExtents({dim->extent}));
  }
  if (view->by_loop_index && (view->dims.empty() || step.section != Section::Inside))
    return fail("must be inside the loop and have a dim to move by the loop's index");
  return absl::OkStatus();
}

absl::Status OperationCheck::checkOperation(const CopyT &copy) const {
  DS_RETURN_IF_ERROR(checkType(copy.type));
  DS_RETURN_IF_ERROR(checkExtents(copy.extents));
  DS_RETURN_IF_ERROR(checkView(copy.source.get(), copy.extents.size()));
  return checkView(copy.target.get(), copy.extents.size());
}

absl::Status OperationCheck::checkOperation(const LibraryCallT &call) const {
  DS_RETURN_IF_ERROR(checkType(call.type));
  DS_RETURN_IF_ERROR(checkExtents(call.extents));
  if (auto fault = findLibraryFault(call))
    return fail(*fault);
  return absl::OkStatus();
}

absl::Status OperationCheck::checkOperation(const CollectiveT &collective) const {
  DS_RETURN_IF_ERROR(checkType(collective.type));
  DS_RETURN_IF_ERROR(checkAxis(collective.axis));
  DS_RETURN_IF_ERROR(checkReduce(collective.reduce));
  if (collective.kind > CollectiveKind::MAX)
    return fail("has unknown collective kind ", static_cast<int>(collective.kind));
  for (const auto &segment : collective.segments)
    DS_RETURN_IF_ERROR(checkExtents(extentsOf(collective, *segment)));
  return absl::OkStatus();
}

absl::Status OperationCheck::checkOperation(const TakeShardT &shard) const {
  DS_RETURN_IF_ERROR(checkType(shard.type));
  DS_RETURN_IF_ERROR(checkAxis(shard.axis));
  return checkExtents({shard.outer, shard.whole, shard.inner});
}

absl::Status OperationCheck::checkOperation(const ToPartialT &partial) const {
  DS_RETURN_IF_ERROR(checkType(partial.type));
  DS_RETURN_IF_ERROR(checkAxis(partial.axis));
  return checkReduce(partial.reduce);
}

absl::Status OperationCheck::checkOperation(const RemapT &remap) const {
  DS_RETURN_IF_ERROR(checkType(remap.type));
  std::string owner = stepName(plan, step);
  DS_RETURN_IF_ERROR(checkLayout(plan, remap.from.get(), remap.shape, owner));
  DS_RETURN_IF_ERROR(checkLayout(plan, remap.to.get(), remap.shape, owner));
  ds::Layout from = layoutOf(plan, *remap.from), to = layoutOf(plan, *remap.to);
  if (from.partial != to.partial || from.at != to.at)
    return fail("must keep partial and at");
  return absl::OkStatus();
}

template <typename MarkerT> absl::Status OperationCheck::checkMarker(const MarkerT &) const {
  if (!step.instruction->waits.empty() || !step.instruction->signals.empty())
    return fail("must have no events: all queues meet there");
  return absl::OkStatus();
}

absl::Status OperationCheck::run() const {
  const OperationUnion &operation = step.instruction->operation;
  if (operation.type == Operation::NONE || operation.type > Operation::MAX || !operation.value)
    return fail("has no operation");
  switch (operation.type) {
  case Operation::KernelCall:
    return checkOperation(*operation.AsKernelCall());
  case Operation::Matmul:
    return checkOperation(*operation.AsMatmul());
  case Operation::Copy:
    return checkOperation(*operation.AsCopy());
  case Operation::Fill:
    return checkOperation(*operation.AsFill());
  case Operation::LibraryCall:
    return checkOperation(*operation.AsLibraryCall());
  case Operation::Collective:
    return checkOperation(*operation.AsCollective());
  case Operation::TakeShard:
    return checkOperation(*operation.AsTakeShard());
  case Operation::ToPartial:
    return checkOperation(*operation.AsToPartial());
  case Operation::Remap:
    return checkOperation(*operation.AsRemap());
  case Operation::LoopBegin:
    return checkMarker(*operation.AsLoopBegin());
  case Operation::LoopEnd:
    return checkMarker(*operation.AsLoopEnd());
  case Operation::NONE:
    break;
  }
  return absl::OkStatus();
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

absl::Status OperationCheck::checkAccesses(const std::vector<Access> &accesses) const {
  for (const Access &access : accesses) {
    if (access.buffer >= plan.buffers.size())
      return fail("refers to unknown buffer ", access.buffer);
    DS_RETURN_IF_ERROR(checkExtents(access.extents));
  }
  // Each buffer once, or as one input and one output of an operation that works in place. Kernels know their own
  // aliases.
  if (step.instruction->operation.type == Operation::KernelCall)
    return absl::OkStatus();
  std::map<uint32_t, std::vector<size_t>> uses;
  for (size_t i = 0; i < accesses.size(); ++i)
    uses[accesses[i].buffer].push_back(i);
  for (const auto &[buffer, places] : uses) {
    bool isWritten = std::any_of(places.begin(), places.end(), [&](size_t i) { return accesses[i].writes; });
    bool isInPlace = worksInPlace(*step.instruction) && places.size() == 2 && places[1] == places[0] + 1 &&
                     accesses[places[0]].reads && accesses[places[1]].writes;
    if (places.size() > 1 && isWritten && !isInPlace)
      return fail("must not write ", bufferName(plan, buffer), ", which it also uses otherwise");
  }
  return absl::OkStatus();
}

absl::Status ds::plan::checkOperations(const PlanT &plan, Program &program) {
  for (Step &step : program.steps) {
    OperationCheck check(plan, step);
    DS_RETURN_IF_ERROR(check.run());
    step.accesses = accessesOf(plan, *step.instruction);
    DS_RETURN_IF_ERROR(check.checkAccesses(step.accesses));
  }
  return absl::OkStatus();
}
