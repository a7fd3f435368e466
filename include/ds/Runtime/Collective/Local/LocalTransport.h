// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Collectives between processes of one machine, through staging slots in shared memory.

#ifndef DS_RUNTIME_COLLECTIVE_LOCAL_LOCALTRANSPORT_H
#define DS_RUNTIME_COLLECTIVE_LOCAL_LOCALTRANSPORT_H

#include "ds/Layout/Mesh.h"
#include "ds/Runtime/Collective.h"
#include "ds/Runtime/Collective/Local/SharedJob.h"

namespace ds::runtime {

/// The transport of `rank`. `job` must outlive it and must have been created for the ranks and axes of `mesh`. No rank
/// maps the memory of another: data goes through two slots per rank and group, chunk by chunk, one being filled while
/// the other is read. Waits spin for about `spinMicroseconds`, then sleep.
std::unique_ptr<Transport> createLocalTransport(const SharedJob &job, const Mesh &mesh, int64_t rank,
                                                int spinMicroseconds = 10);

} // namespace ds::runtime

#endif // DS_RUNTIME_COLLECTIVE_LOCAL_LOCALTRANSPORT_H
