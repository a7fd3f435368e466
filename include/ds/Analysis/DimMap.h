// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Over which dims of a kernel's iteration space a value runs.

#ifndef DS_ANALYSIS_DIMMAP_H
#define DS_ANALYSIS_DIMMAP_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

namespace ds {

/// For each dim of a value the dim of the space over which it runs, ascending.
using DimMap = llvm::SmallVector<int64_t, 4>;

/// The map of a value that has the space's dims.
inline DimMap identityMap(int64_t rank) { return llvm::to_vector<4>(llvm::seq<int64_t>(0, rank)); }

} // namespace ds

#endif // DS_ANALYSIS_DIMMAP_H
