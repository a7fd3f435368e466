// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Reads and writes plan files. The compiler fills a PlanT, the runtime reads one; lib/Plan/plan.fbs says what the
/// fields mean. A plan carries machine code: load only plans that you would run as a program.

#ifndef DS_PLAN_PLAN_H
#define DS_PLAN_PLAN_H

#include "ds/Files/File.h"
#include "ds/Plan/Alignment.h"
#include "ds/Plan/Schema.h"

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include <memory>
#include <string>
#include <string_view>

namespace ds::plan {

/// The version of the schema that this library writes and reads.
inline constexpr uint32_t kPlanVersion = 3;
/// "None" for an optional buffer id.
inline constexpr uint32_t kNoBuffer = 0xFFFFFFFF;

/// The digest of a plan without its fingerprint: what the fingerprint of a plan that was written is.
std::string fingerprintOf(const PlanT &plan);

/// The bytes of the plan file, with its fingerprint; equal plans give equal bytes. Null members of vectors are not
/// allowed.
std::string writePlan(const PlanT &plan);

/// Reads the bytes of a plan file. Every offset in it is verified, what the numbers mean is not: call `check` before
/// use. Fails with DataLoss "invalid plan: ..." if bytes were changed or cut off since it was written, and with
/// InvalidArgument if it is no plan or of another version.
absl::StatusOr<std::unique_ptr<PlanT>> readPlan(std::string_view bytes);

/// Reads a plan file; messages name it. Also fails, with the system's reason, if the file cannot be read.
absl::StatusOr<std::unique_ptr<PlanT>> loadPlan(const File &file);
absl::StatusOr<std::unique_ptr<PlanT>> loadPlan(const std::string &path);

/// Writes a plan file: all of it or, on failure, nothing.
absl::Status savePlan(const PlanT &plan, const std::string &path);

/// An instruction's operation, null if it is of another kind: `operationAs<MatmulT>(instruction)`.
template <typename OperationT> const OperationT *operationAs(const InstructionT &instruction) {
  if (instruction.operation.type != OperationUnionTraits<OperationT>::enum_value)
    return nullptr;
  return static_cast<const OperationT *>(instruction.operation.value);
}

} // namespace ds::plan

#endif // DS_PLAN_PLAN_H
