// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Which memory an instruction touches.

#ifndef DS_PLAN_ACCESS_H
#define DS_PLAN_ACCESS_H

#include "ds/Plan/Plan.h"

#include <optional>
#include <vector>

namespace ds::plan {

/// The own part of extent `whole`, cut by mesh axis `axis`.
struct PieceFactor {
  uint32_t whole;
  uint16_t axis;
};

/// One buffer that an instruction touches. On each rank it touches the first
/// `count` * product(lengths of `extents`) * length of `piece` / length of `divisor` elements at most.
struct Access {
  uint32_t buffer = 0;
  bool reads = false;
  bool writes = false;
  int64_t count = 1;
  std::vector<uint32_t> extents = {}; ///< ids
  std::optional<PieceFactor> piece = std::nullopt;
  std::optional<uint32_t> divisor = std::nullopt; ///< an extent: the groups of a convolution
  std::optional<DataType> type = std::nullopt;    ///< nothing: only the kernel's code knows how many elements
};

/// The buffers that `instruction` touches, in the order of its fields; one that it reads and writes through two fields
/// is listed twice. Ids are passed on as they are; views, layouts and a library call's arguments must have passed the
/// part of `check` that looks at single instructions. Empty for loop markers.
std::vector<Access> accessesOf(const PlanT &plan, const InstructionT &instruction);

/// The extents that a segment's shape consists of; its other fields mean nothing for this kind of collective.
std::vector<uint32_t> extentsOf(const CollectiveT &collective, const SegmentT &segment);

/// Whether the operation may write a buffer that it also reads through another field.
bool worksInPlace(const InstructionT &instruction);

} // namespace ds::plan

#endif // DS_PLAN_ACCESS_H
