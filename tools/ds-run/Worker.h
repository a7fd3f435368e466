// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// A rank's process.

#ifndef DS_TOOLS_DS_RUN_WORKER_H
#define DS_TOOLS_DS_RUN_WORKER_H

#include <cstdint>

namespace ds {

/// The hidden first argument that makes ds-run a rank: `ds-run --rank-of-job RANK DESCRIPTOR`.
inline constexpr const char *kWorkerFlag = "--rank-of-job";

/// Runs rank `rank` of the job whose description is in the file `jobDescriptor`; returns the exit code.
int runWorker(int64_t rank, int jobDescriptor);

} // namespace ds

#endif // DS_TOOLS_DS_RUN_WORKER_H
