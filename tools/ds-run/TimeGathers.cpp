// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "TimeGathers.h"

#include "CoreClaims.h"

#include "ds/Runtime/Collective/Local/LocalTransport.h"
#include "ds/Runtime/StatusMacros.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace ds;
using namespace ds::runtime;

static constexpr int64_t kRanks = 2;

/// The median of some gathers, all ranks beginning each together.
static absl::StatusOr<double> timeGather(Communicator &communicator, char *memory, int64_t bytes) {
  constexpr int64_t kBytesInAll = int64_t(256) << 20, kMostRuns = 400;
  CollectiveCall call;
  call.type = plan::DataType::I8;
  call.name = "a gather";
  call.segments = {{memory, memory + bytes, 1, kRanks * bytes, 1, 1, 1, false}};
  DS_RETURN_IF_ERROR(communicator.prepare(call));
  const int64_t runs = std::clamp<int64_t>(kBytesInAll / bytes, 1, kMostRuns);
  std::vector<double> seconds;
  for (int64_t run = -1; run < runs; ++run) { // the first one warms up
    DS_RETURN_IF_ERROR(communicator.barrier());
    const auto begin = std::chrono::steady_clock::now();
    DS_RETURN_IF_ERROR(communicator.run(call));
    if (run >= 0)
      seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  std::nth_element(seconds.begin(), seconds.begin() + runs / 2, seconds.end());
  return seconds[static_cast<size_t>(runs / 2)];
}

/// What a rank does: rank 0 writes the times to `output`.
static absl::Status runRank(const SharedJob &job, int64_t rank, const std::vector<int64_t> &sizes, int output) {
  const Mesh mesh({{"dp", kRanks, {}}});
  const std::unique_ptr<Transport> transport = createLocalTransport(job, mesh, rank);
  DS_ASSIGN_OR_RETURN(const std::unique_ptr<Communicator> communicator, transport->open(0, 0));
  DS_ASSIGN_OR_RETURN(const std::unique_ptr<Arena> arena,
                      transport->takeArena(static_cast<size_t>(job.shape().arenaBytes)));
  for (const int64_t bytes : sizes) {
    DS_ASSIGN_OR_RETURN(const double seconds, timeGather(*communicator, arena->data(), bytes));
    if (rank == 0 && ::write(output, &seconds, sizeof(seconds)) != static_cast<ssize_t>(sizeof(seconds)))
      return absl::InternalError("the result cannot be told");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<double>> ds::timeGathers(const std::vector<int64_t> &sizes, const std::vector<int> &cores) {
  JobShape shape;
  shape.ranks = kRanks;
  shape.axes = 1;
  shape.arenaBytes = (1 + kRanks) * *std::max_element(sizes.begin(), sizes.end());
  DS_ASSIGN_OR_RETURN(const SharedJob job, SharedJob::create(shape));
  int ends[2];
  if (::pipe(ends) != 0)
    return absl::ResourceExhaustedError(absl::StrCat("cannot make a pipe: ", std::strerror(errno)));
  bool isForked = true;
  const pid_t parent = ::getpid();
  for (int64_t rank = 0; rank < kRanks && isForked; ++rank) {
    const pid_t child = ::fork();
    isForked = child >= 0;
    if (child == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      bindProcess({cores[static_cast<size_t>(rank) % cores.size()]});
      const bool isGood = ::getppid() == parent && runRank(job, rank, sizes, ends[1]).ok();
      if (!isGood)
        job.abort();
      std::_Exit(isGood ? 0 : 1);
    }
  }
  if (!isForked)
    job.abort();
  ::close(ends[1]);
  std::vector<double> seconds(sizes.size());
  const auto bytes = static_cast<ssize_t>(seconds.size() * sizeof(double));
  ssize_t known = 0;
  for (ssize_t more = 1; known < bytes && more > 0; known += more)
    more = ::read(ends[0], reinterpret_cast<char *>(seconds.data()) + known, static_cast<size_t>(bytes - known));
  ::close(ends[0]);
  while (::wait(nullptr) > 0)
    continue;
  if (known < bytes)
    return absl::UnavailableError("two processes that gather from each other did not come to an end");
  return seconds;
}
