// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// The parts of check(), in the order in which they run: each may rely on those before it.

#ifndef DS_LIB_PLAN_CHECKS_H
#define DS_LIB_PLAN_CHECKS_H

#include "ds/Plan/Access.h"
#include "ds/Plan/Check.h"
#include "ds/Plan/Extents.h"

#include "absl/strings/str_cat.h"

#define DS_RETURN_IF_ERROR(expression)                                                                                 \
  do {                                                                                                                 \
    if (absl::Status status = (expression); !status.ok())                                                              \
      return status;                                                                                                   \
  } while (false)

namespace ds::plan {

/// The error of a fault in a plan.
template <typename... Parts> absl::Status invalidPlan(const Parts &...parts) {
  return absl::InvalidArgumentError(absl::StrCat("invalid plan: ", parts...));
}

/// `buffer 3 "hidden"`.
std::string bufferName(const PlanT &plan, uint32_t buffer);

//===----------------------------------------------------------------------===//
// The program as a list
//===----------------------------------------------------------------------===//

/// Where an instruction stands relative to the loop.
enum class Section : uint8_t { Before, Begin, Inside, End, After };

/// One instruction of a queue.
struct Step {
  const InstructionT *instruction;
  uint32_t queue;
  uint32_t index; ///< on its queue
  Section section;
  std::vector<Access> accesses;

  uint32_t order() const { return instruction->order; }
};
/// `instruction "matmul.7" (12 on queue "compute")`.
std::string stepName(const PlanT &plan, const Step &step);

/// All instructions, queue by queue; sorted by `order` once that is known to be a schedule.
struct Program {
  std::vector<Step> steps;
  int64_t loopCount = 1;
  bool hasLoop = false;
  uint32_t loopBegin = 0, loopEnd = 0; ///< orders of the first LoopBegin and the last LoopEnd
  uint32_t lastOrder = 0;
};

//===----------------------------------------------------------------------===//
// Sizes on all ranks
//===----------------------------------------------------------------------===//

/// The lengths of all extents on all ranks. Ranks on which all lengths are equal share a profile, so that what depends
/// on lengths is checked once for them.
class RankProfiles {
public:
  explicit RankProfiles(const PlanT &plan);

  /// One vector of lengths, by extent, per profile.
  const std::vector<std::vector<int64_t>> &lengths() const { return profiles; }
  /// The longest piece of `whole` elements cut by `axis`.
  int64_t longestPiece(int64_t whole, uint16_t axis) const;
  /// Whether `extent` is equal on all ranks of each group along `axis`.
  bool isEqualInGroups(uint32_t extent, uint16_t axis) const;

private:
  Mesh mesh;
  std::vector<std::vector<int64_t>> profiles;
  std::vector<uint32_t> profileOfRank;
  mutable std::map<std::pair<uint32_t, uint16_t>, bool> equalInGroups;
};

//===----------------------------------------------------------------------===//
// The parts
//===----------------------------------------------------------------------===//

/// Mesh, extents, arenas, buffers, kernels: ids, ranges and limits. (CheckTables.cpp)
absl::Status checkTables(const PlanT &plan);
/// Variables and ports, with the sizes and lifetimes of their buffers. (CheckVariables.cpp)
absl::Status checkVariables(const PlanT &plan, const Program &program);
/// A layout of the plan, for a tensor of `shape`; `owner` names it in errors. (CheckVariables.cpp)
absl::Status checkLayout(const PlanT &plan, const LayoutT *layout, const Shape &shape, const std::string &owner);

/// Lists the instructions and matches the loops of all queues. (CheckProgram.cpp)
absl::StatusOr<Program> listProgram(const PlanT &plan);
/// Each operation by itself: tables, ids, enums, arguments. Fills Step::accesses. (CheckOperations.cpp)
absl::Status checkOperations(const PlanT &plan, Program &program);
/// That buffers hold what operations touch, on every rank. (CheckSizes.cpp)
absl::Status checkSizes(const PlanT &plan, const Program &program);
/// Events, deadlock, order, groups; sorts the program by order. (CheckSchedule.cpp)
absl::Status checkSchedule(const PlanT &plan, Program &program);
/// Lifetimes and overlap. (CheckMemory.cpp)
absl::Status checkMemory(const PlanT &plan, const Program &program);
/// (CheckRaces.cpp)
absl::Status checkRaces(const PlanT &plan, const Program &program);

} // namespace ds::plan

#endif // DS_LIB_PLAN_CHECKS_H
