// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Times the collectives of the local transport and, beside them, loops over shared memory:
/// ds-bench-collectives RANKS [DIRECT_BYTES], the latter for LocalOptions.
/// Reads lines "KIND BYTES", KIND being AllGather, ReduceScatter, AllReduce or AllToAll and BYTES the size of the whole
/// tensor, and answers each with a line of JSON: seconds of the slowest rank, the median of some runs.

#include "Measure.h"
#include "SharedLoops.h"

#include "ds/Runtime/Collective/Local/LocalTransport.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <sys/wait.h>
#include <unistd.h>

using namespace ds;
using namespace ds::benchmark;

static constexpr int64_t kLargest = int64_t(256) << 20; // bytes
static constexpr int64_t kCacheBytes = 4 << 20;         // smaller inputs are in a cache: written anew before each run

namespace {
struct Command {
  plan::CollectiveKind kind;
  int64_t bytes;
};

/// What the ranks share beside their arenas.
struct Shared {
  Meeting meeting;
  double seconds[64]; ///< of the last measurement, by rank
};

class Rank {
public:
  Rank(const runtime::SharedJob &job, Shared &shared, SharedTensors tensors, const runtime::LocalOptions &options);
  /// Answers commands until there are none.
  void serve(int commands);

private:
  void measure(const Command &command);
  runtime::CollectiveCall callOf(const Command &command) const;
  /// Seconds of the slowest rank to run `body`, after each rank has written `written`; the median of some
  /// runs.
  template <typename Body> double timeOf(const Command &command, float *written, const Body &body);

  Shared &shared;
  SharedTensors loops;
  const Mesh mesh;
  std::unique_ptr<runtime::Transport> transport;
  std::unique_ptr<runtime::Communicator> communicator;
  std::unique_ptr<runtime::Arena> arena; ///< input and output, of ours and of the loops
};
} // namespace

static Mesh meshOf(int64_t ranks) { return Mesh({{"dp", ranks, {}}}); }

Rank::Rank(const runtime::SharedJob &job, Shared &shared, SharedTensors tensors, const runtime::LocalOptions &options)
    : shared(shared), loops(std::move(tensors)), mesh(meshOf(loops.ranks())),
      transport(runtime::createLocalTransport(job, mesh, loops.rank, options)), communicator(*transport->open(0, 0)),
      arena(*transport->takeArena(2 * kLargest)) {}

runtime::CollectiveCall Rank::callOf(const Command &command) const {
  const int64_t count = command.bytes / 4, ranks = loops.ranks();
  runtime::CollectiveCall call;
  call.kind = command.kind;
  call.name = "benchmark";
  char *input = arena->data(), *output = input + kLargest;
  const bool isInPlace = command.kind == plan::CollectiveKind::AllReduce;
  runtime::CollectiveSegment segment{input, isInPlace ? input : output, 1, count, 1, 1, 1, false};
  if (command.kind == plan::CollectiveKind::AllToAll) { // [rows of this rank, all columns] to [all rows, its columns]
    segment.whole = ranks;
    segment.scatterWhole = ranks;
    segment.inner = count / ranks;
  }
  call.segments = {segment};
  return call;
}

template <typename Body> double Rank::timeOf(const Command &command, float *written, const Body &body) {
  const int64_t runs = std::clamp<int64_t>((int64_t(48) << 20) / command.bytes, 1, 300);
  const bool isCached = command.bytes <= kCacheBytes;
  std::vector<double> seconds;
  for (int64_t run = -1; run < runs; ++run) { // the first one warms up
    if (isCached)
      for (int64_t i = 0; i < command.bytes / 4; i += 16)
        written[i] = static_cast<float>(run);
    shared.meeting.wait(loops.ranks());
    const double begin = now();
    body();
    if (run >= 0)
      seconds.push_back(now() - begin);
  }
  std::nth_element(seconds.begin(), seconds.begin() + runs / 2, seconds.end());
  shared.seconds[loops.rank] = seconds[runs / 2];
  shared.meeting.wait(loops.ranks());
  const double slowest = *std::max_element(shared.seconds, shared.seconds + loops.ranks());
  shared.meeting.wait(loops.ranks());
  return slowest;
}

void Rank::measure(const Command &command) {
  const runtime::CollectiveCall call = callOf(command);
  if (!communicator->prepare(call).ok())
    std::exit(2);
  loops.count = command.bytes / 4;
  const auto loop = [&](bool streamed) { runSharedLoop(loops, command.kind, streamed); };
  const double ours = timeOf(command, reinterpret_cast<float *>(arena->data()), [&] {
    if (!communicator->run(call).ok())
      std::exit(2);
  });
  const double plain = timeOf(command, loops.inputs[loops.rank], [&] { loop(false); });
  const double streamed = timeOf(command, loops.inputs[loops.rank], [&] { loop(true); });
  if (loops.rank != 0)
    return;
  std::printf("{\"ours\": %.4e, \"plain\": %.4e, \"streamed\": %.4e}\n", ours, plain, streamed);
  std::fflush(stdout);
}

void Rank::serve(int commands) {
  bindToCore(loops.rank);
  Command command;
  while (::read(commands, &command, sizeof(command)) == static_cast<ssize_t>(sizeof(command)))
    measure(command);
}

/// Starts the ranks; returns where each reads its commands. They end with this process.
static std::vector<int> startRanks(const runtime::SharedJob &job, SharedTensors tensors,
                                   const runtime::LocalOptions &options) {
  auto *shared = new (takeSharedMemory(sizeof(Shared))) Shared;
  tensors.meeting = &shared->meeting;
  std::vector<int> commands;
  for (int rank = 0; rank < tensors.ranks(); ++rank) {
    int ends[2];
    if (::pipe(ends) != 0)
      std::exit(2);
    if (::fork() == 0) {
      ::close(ends[1]);
      for (const int earlier : commands)
        ::close(earlier);
      tensors.rank = rank;
      Rank(job, *shared, std::move(tensors), options).serve(ends[0]);
      std::_Exit(0);
    }
    ::close(ends[0]);
    commands.push_back(ends[1]);
  }
  return commands;
}

static plan::CollectiveKind parseKind(const std::string &name) {
  for (const plan::CollectiveKind kind : plan::EnumValuesCollectiveKind())
    if (name == plan::EnumNameCollectiveKind(kind))
      return kind;
  std::fprintf(stderr, "unknown collective %s\n", name.c_str());
  std::exit(2);
}

int main(int argc, char **argv) {
  const int ranks = argc == 2 || argc == 3 ? std::atoi(argv[1]) : 0;
  if (ranks < 1 || ranks > 64) {
    std::fprintf(stderr, "usage: ds-bench-collectives RANKS [DIRECT_BYTES]; RANKS must be 1 to 64\n");
    return 2;
  }
  runtime::LocalOptions options;
  if (argc == 3)
    options.directBytes = std::atoll(argv[2]);
  runtime::JobShape shape;
  shape.ranks = ranks;
  shape.axes = 1;
  shape.arenaBytes = 2 * kLargest;
  const absl::StatusOr<runtime::SharedJob> job = runtime::SharedJob::create(shape);
  if (!job.ok())
    return 2;
  SharedTensors tensors;
  for (int rank = 0; rank < ranks; ++rank) {
    tensors.inputs.push_back(reinterpret_cast<float *>(job->arena(rank)));
    tensors.outputs.push_back(reinterpret_cast<float *>(job->arena(rank) + kLargest));
  }
  const std::vector<int> commands = startRanks(*job, std::move(tensors), options);
  std::string kind;
  for (int64_t bytes; std::cin >> kind >> bytes;) {
    const Command command{parseKind(kind), bytes};
    for (const int rank : commands)
      if (::write(rank, &command, sizeof(command)) != static_cast<ssize_t>(sizeof(command)))
        return 2;
  }
  for (const int rank : commands)
    ::close(rank);
  while (::wait(nullptr) > 0)
    continue;
}
