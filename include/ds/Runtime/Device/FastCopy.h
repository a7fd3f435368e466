// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Copies with the widest vectors of the machine. The C library's may move large blocks in a way that is slow where the
/// lines are in the cache of another core.

#ifndef DS_RUNTIME_DEVICE_FASTCOPY_H
#define DS_RUNTIME_DEVICE_FASTCOPY_H

#include <cstdint>

namespace ds::runtime {

/// Copies `bytes` bytes, for someone who will read them soon.
void copyBytes(char *to, const char *from, int64_t bytes);
/// Copies `bytes` bytes past the caches, where the machine can: saves reading what is overwritten. Other threads may
/// see them after finishStreams only.
void streamBytes(char *to, const char *from, int64_t bytes);
/// Orders what this thread has stored past the caches before what it stores later.
void finishStreams();

} // namespace ds::runtime

#endif // DS_RUNTIME_DEVICE_FASTCOPY_H
