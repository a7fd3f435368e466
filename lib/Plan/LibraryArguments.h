// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// What include/ds/Runtime/Library.h says about the arguments of a LibraryCall, as far as memory is concerned.

#ifndef DS_LIB_PLAN_LIBRARYARGUMENTS_H
#define DS_LIB_PLAN_LIBRARYARGUMENTS_H

#include "ds/Plan/Access.h"

namespace ds::plan {

/// Why the call has the wrong number of arguments, or arguments that no buffer could fit, or nothing.
std::optional<std::string> findLibraryFault(const LibraryCallT &call);

/// The buffers that the call touches; it must have no fault.
std::vector<Access> libraryAccesses(const LibraryCallT &call);

} // namespace ds::plan

#endif // DS_LIB_PLAN_LIBRARYARGUMENTS_H
