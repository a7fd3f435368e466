// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Collectives between processes of one machine: through slots in shared memory, and where there is much to move, from
/// one rank's arena to another's.

#ifndef DS_RUNTIME_COLLECTIVE_LOCAL_LOCALTRANSPORT_H
#define DS_RUNTIME_COLLECTIVE_LOCAL_LOCALTRANSPORT_H

#include "ds/Layout/Mesh.h"
#include "ds/Runtime/Collective.h"
#include "ds/Runtime/Collective/Local/SharedJob.h"

namespace ds::runtime {

/// How the ranks of a machine talk; equal on all of them.
struct LocalOptions {
  int spinMicroseconds = 10; ///< about so long waits spin before they sleep
  /// In a job with arenas, members read each other's where the busiest pair moves so many bytes, in dense runs of so
  /// many on average.
  int64_t directBytes = 4 << 10;
  int64_t directRunBytes = 256;
};

/// The transport of `rank`. `job` must outlive it and must have been created for the ranks and axes of `mesh`. In a job
/// with arenas, the buffers of all collectives must lie in arenas of this transport; else any memory will do, and all
/// goes through the slots, cut into chunks, of which one is filled while the one before is read.
std::unique_ptr<Transport> createLocalTransport(const SharedJob &job, const Mesh &mesh, int64_t rank,
                                                const LocalOptions &options = {});

/// What an arena of `bytes` bytes takes of JobShape::arenaBytes: arenas begin on huge pages.
size_t arenaStride(size_t bytes);

} // namespace ds::runtime

#endif // DS_RUNTIME_COLLECTIVE_LOCAL_LOCALTRANSPORT_H
