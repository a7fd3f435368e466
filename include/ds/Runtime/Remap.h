// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// The cast between any two layouts of a tensor.

#ifndef DS_RUNTIME_REMAP_H
#define DS_RUNTIME_REMAP_H

#include "ds/Runtime/Collective.h"
#include "ds/Runtime/Device/Task.h"

namespace ds::runtime {

/// `world`: the group of all ranks; must outlive the task. Each element comes from this rank if it has it, else from
/// the lowest rank that does. Takes memory for the runs of neighbours that move, and none for their elements. Building
/// looks at the runs of every rank: O(ranks * runs).
TaskOr buildRemap(const plan::RemapT &remap, const Bindings &bindings, Communicator &world);

} // namespace ds::runtime

#endif // DS_RUNTIME_REMAP_H
