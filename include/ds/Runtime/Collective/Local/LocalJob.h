// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// A job of processes of one machine.

#ifndef DS_RUNTIME_COLLECTIVE_LOCAL_LOCALJOB_H
#define DS_RUNTIME_COLLECTIVE_LOCAL_LOCALJOB_H

#include "ds/Runtime/Collective/Local/SharedJob.h"
#include "ds/Runtime/Job.h"

#include <chrono>

namespace ds::runtime {

/// `rank` of the job whose memory is `shared`, which must outlive it. Waits for other ranks end after `timeout`; 0:
/// never.
class LocalJob : public Job {
public:
  LocalJob(const SharedJob &shared, int64_t rank, std::chrono::milliseconds timeout)
      : shared(shared), ownRank(rank), timeout(timeout) {}

  int64_t rank() const override { return ownRank; }
  int64_t ranks() const override { return shared.shape().ranks; }
  std::unique_ptr<Transport> createTransport(const Mesh &mesh) override;
  absl::Status meet() override;
  absl::StatusOr<StepDecision> decide(int64_t step, bool hasDiverged) override;
  absl::StatusOr<int64_t> findLowest(int64_t number) override;
  void showStep(int64_t step) override;
  bool sharesArenas() const override { return shared.shape().arenaBytes > 0; }
  const void *findOnRank(int64_t other, const void *own) const override;

private:
  const SharedJob &shared;
  const int64_t ownRank;
  const std::chrono::milliseconds timeout;
  uint32_t meetings = 0;
};

} // namespace ds::runtime

#endif // DS_RUNTIME_COLLECTIVE_LOCAL_LOCALJOB_H
