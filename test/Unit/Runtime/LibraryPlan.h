// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Plans of one library call.

#ifndef DS_TEST_UNIT_RUNTIME_LIBRARYPLAN_H
#define DS_TEST_UNIT_RUNTIME_LIBRARYPLAN_H

#include "PlanProgram.h"

namespace ds::runtime::test {

class LibraryPlan : public PlanProgram {
public:
  /// `buffers` and `extentIds` as ds/Plan/LibrarySignature.h lists them.
  void addCall(plan::LibraryFunction function, plan::DataType type, std::vector<uint32_t> buffers,
               std::vector<uint32_t> extentIds, std::vector<int64_t> ints) {
    plan::LibraryCallT call;
    call.function = function;
    call.type = type;
    call.buffers = std::move(buffers);
    call.extents = std::move(extentIds);
    call.ints = std::move(ints);
    add(std::move(call), "call");
  }
};

} // namespace ds::runtime::test

#endif // DS_TEST_UNIT_RUNTIME_LIBRARYPLAN_H
