// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// All passes, one file per stage in the order of the pipeline.

#ifndef DS_PASSES_PASSES
#define DS_PASSES_PASSES

include "ds/Passes/ImportPasses.td"
include "ds/Passes/ProgramPasses.td"
include "ds/Passes/PlacementPasses.td"
include "ds/Passes/KernelPasses.td"
include "ds/Passes/SchedulePasses.td"

#endif // DS_PASSES_PASSES
