// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Writes large files at the speed of the disk.

#ifndef DS_RUNTIME_STORAGE_WRITEINBLOCKS_H
#define DS_RUNTIME_STORAGE_WRITEINBLOCKS_H

#include "absl/status/status.h"

#include <cstdint>
#include <functional>
#include <string>

namespace ds::runtime {

/// Which blocks of a file a process writes: those whose number modulo `members` is `member`.
struct BlockShare {
  int64_t member = 0;
  int64_t members = 1;
  int threads = 4; ///< of this process, each with a block of its own in work
};

/// Puts bytes [begin, end) of the file into `target`. Called from several threads.
using FillBlock = std::function<void(int64_t begin, int64_t end, char *target)>;

/// Bytes of a block.
inline constexpr int64_t kBlockBytes = int64_t(4) << 20;

/// Writes this process's share of a file of `bytes` bytes. `descriptor` is the file, which all members have open;
/// `path` is for messages. Blocks go past the page cache (O_DIRECT) where the file system has that, and through it
/// elsewhere: the bytes are the same. Takes kBlockBytes of memory for each thread. Fails with ResourceExhausted.
absl::Status writeInBlocks(int descriptor, const std::string &path, int64_t bytes, const BlockShare &share,
                           const FillBlock &fill);

} // namespace ds::runtime

#endif // DS_RUNTIME_STORAGE_WRITEINBLOCKS_H
