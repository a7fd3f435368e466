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
  LocalTransport(const SharedJob &job, const Mesh &mesh, int64_t rank, const LocalOptions &options)
      : job(job), mesh(mesh), rank(rank), options(options) {}

  absl::StatusOr<std::unique_ptr<Communicator>> open(uint32_t queue, uint32_t axis) override;
  absl::StatusOr<std::unique_ptr<Arena>> takeArena(size_t bytes) override;
  void abort() override { job.abort(); }

private:
  const SharedJob &job;
  const Mesh mesh;
  const int64_t rank;
  const LocalOptions options;
  size_t taken = 0; ///< bytes of the rank's arenas in the job
};
} // namespace

size_t arenaStride(size_t bytes) { return (bytes + Arena::kHugePage - 1) / Arena::kHugePage * Arena::kHugePage; }

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
  group.spinMicroseconds = options.spinMicroseconds;
  if (isForAll) {
    group.cut.size = shape.ranks;
    group.ranks.resize(shape.ranks);
    std::iota(group.ranks.begin(), group.ranks.end(), 0);
  } else {
    group.cut = mesh.axes()[axis];
    group.ranks = mesh.group(rank, group.cut.name);
  }
  group.own = std::find(group.ranks.begin(), group.ranks.end(), rank) - group.ranks.begin();
  return std::unique_ptr<Communicator>(new LocalCommunicator(std::move(group), options));
}

absl::StatusOr<std::unique_ptr<Arena>> LocalTransport::takeArena(size_t bytes) {
  const size_t whole = static_cast<size_t>(job.shape().arenaBytes);
  if (whole == 0)
    return Arena::create(bytes);
  if (bytes > whole - std::min(whole, taken))
    return absl::InvalidArgumentError(absl::StrCat("the arenas of a rank must fit into the job's ", whole,
                                                   " bytes, got ", bytes, " more after ", taken));
  char *begin = job.arena(rank) + taken;
  taken += arenaStride(bytes);
  return Arena::adopt(begin, bytes);
}

std::unique_ptr<Transport> createLocalTransport(const SharedJob &job, const Mesh &mesh, int64_t rank,
                                                const LocalOptions &options) {
  return std::make_unique<LocalTransport>(job, mesh, rank, options);
}

} // namespace ds::runtime
