// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Runtime/Collective/Local/LocalTransport.h"

#include "LocalCommunicator.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <numeric>

namespace ds::runtime {

namespace {
class LocalTransport : public Transport {
public:
  LocalTransport(const SharedJob &job, const Mesh &mesh, int64_t rank, int spinMicroseconds)
      : job(job), mesh(mesh), rank(rank), spinMicroseconds(spinMicroseconds) {}

  absl::StatusOr<std::unique_ptr<Communicator>> open(uint32_t queue, uint32_t axis) override;
  void abort() override { job.abort(); }

private:
  const SharedJob &job;
  const Mesh mesh;
  const int64_t rank;
  const int spinMicroseconds;
};
} // namespace

absl::StatusOr<std::unique_ptr<Communicator>> LocalTransport::open(uint32_t queue, uint32_t axis) {
  const JobShape &shape = job.shape();
  const bool isForAll = axis == kAllAxes;
  if (mesh.numRanks() != shape.ranks || mesh.axes().size() != shape.axes)
    return absl::InvalidArgumentError(absl::StrCat("the job must have the mesh's ", mesh.numRanks(), " ranks and ",
                                                   mesh.axes().size(), " axes, got ", shape.ranks, " and ",
                                                   shape.axes));
  if (queue >= shape.queues || (!isForAll && axis >= shape.axes))
    return absl::InvalidArgumentError(absl::StrCat("queue and mesh axis must be below ", shape.queues, " and ",
                                                   shape.axes, ", got ", queue, " and ", axis));
  LocalGroup group;
  group.job = &job;
  group.queue = queue;
  group.axis = isForAll ? shape.axes : axis;
  group.spinMicroseconds = spinMicroseconds;
  if (isForAll) {
    group.cut.size = shape.ranks;
    group.ranks.resize(shape.ranks);
    std::iota(group.ranks.begin(), group.ranks.end(), 0);
  } else {
    group.cut = mesh.axes()[axis];
    group.ranks = mesh.group(rank, group.cut.name);
  }
  group.own = std::find(group.ranks.begin(), group.ranks.end(), rank) - group.ranks.begin();
  return std::unique_ptr<Communicator>(new LocalCommunicator(std::move(group)));
}

std::unique_ptr<Transport> createLocalTransport(const SharedJob &job, const Mesh &mesh, int64_t rank,
                                                int spinMicroseconds) {
  return std::make_unique<LocalTransport>(job, mesh, rank, spinMicroseconds);
}

} // namespace ds::runtime
