// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Ranks as processes, for tests.

#ifndef DS_TEST_UNIT_RUNTIME_FORKEDRANKS_H
#define DS_TEST_UNIT_RUNTIME_FORKEDRANKS_H

#include "ds/Runtime/Collective/Local/LocalTransport.h"

#include "gtest/gtest.h"

#include <csignal>
#include <functional>
#include <sys/wait.h>
#include <unistd.h>

namespace ds::runtime {

/// What one rank does; returns an empty string or what went wrong.
using RankBody = std::function<std::string(int64_t rank, Transport &transport)>;

inline JobShape jobShapeOf(const Mesh &mesh, int64_t slotBytes, uint32_t queues = 1) {
  JobShape shape;
  shape.ranks = mesh.numRanks();
  shape.queues = queues;
  shape.axes = static_cast<uint32_t>(mesh.axes().size());
  shape.slotBytes = slotBytes;
  return shape;
}

/// Starts one process per rank; the test process has no threads, so a fork is safe.
inline std::vector<pid_t> forkRanks(const SharedJob &job, const Mesh &mesh, const RankBody &body,
                                    const LocalOptions &options = {}) {
  std::vector<pid_t> processes;
  for (int64_t rank = 0; rank < mesh.numRanks(); ++rank) {
    const pid_t process = ::fork();
    if (process == 0) {
      ::alarm(60);
      const auto transport = createLocalTransport(job, mesh, rank, options);
      const std::string fault = body(rank, *transport);
      if (!fault.empty())
        std::fprintf(stderr, "rank %d: %s\n", static_cast<int>(rank), fault.c_str());
      ::_exit(fault.empty() ? 0 : 1);
    }
    processes.push_back(process);
  }
  return processes;
}

/// Waits for a process and returns its exit status, or minus the signal that killed it.
inline int waitForExit(pid_t process) {
  int status = 0;
  ::waitpid(process, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/// Runs `body` on all ranks of `mesh` in a job of `shape` and expects that all succeed.
inline void expectOnAllRanks(const Mesh &mesh, const JobShape &shape, const RankBody &body,
                             const LocalOptions &options = {}) {
  absl::StatusOr<SharedJob> job = SharedJob::create(shape);
  ASSERT_TRUE(job.ok()) << job.status();
  for (const pid_t process : forkRanks(*job, mesh, body, options))
    EXPECT_EQ(waitForExit(process), 0);
}

inline void expectOnAllRanks(const Mesh &mesh, int64_t slotBytes, const RankBody &body,
                             const LocalOptions &options = {}, int64_t arenaBytes = 0) {
  JobShape shape = jobShapeOf(mesh, slotBytes);
  shape.arenaBytes = arenaBytes;
  expectOnAllRanks(mesh, shape, body, options);
}

} // namespace ds::runtime

#endif // DS_TEST_UNIT_RUNTIME_FORKEDRANKS_H
