// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "NumberCheck.h"

#include "Program.h"

#include "ds/Plan/Access.h"
#include "ds/Runtime/Device/NonFinite.h"
#include "ds/Runtime/StatusMacros.h"

#include "absl/strings/str_cat.h"

using namespace ds;
using namespace ds::runtime;

//===----------------------------------------------------------------------===//
// NumberFindings
//===----------------------------------------------------------------------===//

void NumberFindings::add(const NonFiniteFinding &finding, bool isNan) {
  const std::lock_guard<std::mutex> lock(mutex);
  std::optional<NonFiniteFinding> &first = isNan ? found.nan : found.infinity;
  if (!first || finding.place() < first->place())
    first = finding;
}

void NumberFindings::clear() {
  const std::lock_guard<std::mutex> lock(mutex);
  found = {};
}

FirstNonFinite NumberFindings::first() const {
  const std::lock_guard<std::mutex> lock(mutex);
  return found;
}

//===----------------------------------------------------------------------===//
// The check
//===----------------------------------------------------------------------===//

namespace {
/// What an instruction writes on this rank.
struct WrittenTensor {
  plan::DataType type;
  const char *data;
  int64_t elements;
};

class CheckedTask : public Task {
public:
  CheckedTask(std::unique_ptr<Task> task, const plan::InstructionT &instruction, std::vector<WrittenTensor> written,
              NumberFindings &findings)
      : task(std::move(task)), written(std::move(written)), findings(findings), order(instruction.order),
        name(nameOfInstruction(instruction)) {}

  absl::Status run(const TaskContext &context) override {
    DS_RETURN_IF_ERROR(task->run(context));
    for (const WrittenTensor &tensor : written) {
      const NonFiniteCount count = countNonFinite(tensor.type, tensor.data, tensor.elements);
      if (count.nans > 0)
        findings.add({context.loopIndex, order, name, count.nans, tensor.elements}, /*isNan=*/true);
      if (count.infinities > 0)
        findings.add({context.loopIndex, order, name, count.infinities, tensor.elements}, /*isNan=*/false);
    }
    return absl::OkStatus();
  }

private:
  std::unique_ptr<Task> task;
  std::vector<WrittenTensor> written;
  NumberFindings &findings;
  int64_t order;
  std::string name;
};
} // namespace

/// Whether the instruction computes numbers, and writes its results whole.
static bool computes(const plan::InstructionT &instruction) {
  if (const auto *collective = instruction.operation.AsCollective())
    return collective->kind == plan::CollectiveKind::AllReduce ||
           collective->kind == plan::CollectiveKind::ReduceScatter;
  return instruction.operation.AsKernelCall() || instruction.operation.AsMatmul() ||
         instruction.operation.AsLibraryCall();
}

static absl::StatusOr<int64_t> elementsOf(const plan::Access &access, const Bindings &bindings) {
  DS_ASSIGN_OR_RETURN(std::vector<int64_t> lengths, bindings.lengths(access.extents));
  lengths.push_back(access.count);
  if (access.piece) {
    DS_ASSIGN_OR_RETURN(const std::vector<int64_t> whole, bindings.lengths({access.piece->whole}));
    const MeshAxis &axis = bindings.mesh().axes()[access.piece->axis];
    lengths.push_back(split({0, whole[0]}, axis, bindings.mesh().coordinate(bindings.rank(), axis.name)).length());
  }
  int64_t elements = productOf(lengths);
  if (access.divisor) {
    DS_ASSIGN_OR_RETURN(const std::vector<int64_t> divisor, bindings.lengths({*access.divisor}));
    elements /= std::max<int64_t>(1, divisor[0]);
  }
  return elements;
}

static absl::Status checkIsKnown(const plan::InstructionT &instruction) {
  const auto *call = instruction.operation.AsKernelCall();
  if (!call || !call->results.empty() || call->first_output == call->buffers.size())
    return absl::OkStatus();
  return absl::FailedPreconditionError("the plan does not say what its kernels write, so numbers cannot be looked for; "
                                       "compile the model again");
}

TaskOr ds::runtime::withNumberCheck(std::unique_ptr<Task> task, const plan::InstructionT &instruction,
                                    const Bindings &bindings, NumberFindings &findings) {
  if (!computes(instruction))
    return task;
  DS_RETURN_IF_ERROR(checkIsKnown(instruction));
  std::vector<WrittenTensor> written;
  for (const plan::Access &access : plan::accessesOf(bindings.plan(), instruction)) {
    if (!access.writes || !access.type)
      continue;
    DS_ASSIGN_OR_RETURN(const int64_t elements, elementsOf(access, bindings));
    DS_ASSIGN_OR_RETURN(const char *data, bindings.elements(access.buffer, elements, *access.type));
    written.push_back({*access.type, data, elements});
  }
  return std::make_unique<CheckedTask>(std::move(task), instruction, std::move(written), findings);
}
