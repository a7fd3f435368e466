// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// How fast a model is saved, beside what the disk takes: ds-bench-save FOLDER MEBIBYTES ROUNDS. Both write as many
/// bytes to a new file in the folder and flush it, in turns, so that a slow minute of the disk falls on both. One JSON
/// object on stdout: seconds of each round.

#include "Measure.h"

#include "ds/Plan/LayoutTables.h"
#include "ds/Runtime/Session/VariableFiles.h"

#include "nlohmann/json.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <thread>
#include <unistd.h>

using namespace ds;
using namespace ds::benchmark;

static constexpr int64_t kMebibyte = int64_t(1) << 20;
static constexpr int64_t kBlock = 4 * kMebibyte;

[[noreturn]] static void fail(const std::string &what) {
  std::fprintf(stderr, "ds-bench-save: %s: %s\n", what.c_str(), std::strerror(errno));
  std::exit(1);
}

/// Seconds to write `bytes` of `source` past the page cache by `threads` threads and to flush them: nothing is copied,
/// converted or looked up on the way.
static double writeDirectly(const std::string &folder, const char *source, int64_t bytes, int threads) {
  const double begin = now();
  const int fd = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_DIRECT, 0600);
  if (fd < 0 || ::posix_fallocate(fd, 0, bytes) != 0)
    fail(folder + ": cannot make a file of its size for direct writing");
  std::atomic<int64_t> next{0};
  std::vector<std::thread> writers;
  for (int i = 0; i < threads; ++i)
    writers.emplace_back([&] {
      for (int64_t at; (at = next.fetch_add(kBlock)) < bytes;)
        if (::pwrite(fd, source + at, kBlock, at) != kBlock)
          fail("cannot write");
    });
  for (std::thread &writer : writers)
    writer.join();
  if (::fsync(fd) != 0)
    fail("cannot flush");
  ::close(fd);
  return now() - begin;
}

/// A model like GPT-2: layers of large and small tensors, `bytes` together.
static plan::PlanT makeModel(int64_t bytes) {
  constexpr int64_t kLayers = 12, kWidth = 768;
  plan::PlanT plan;
  plan.mesh.push_back(std::make_unique<plan::MeshAxisT>());
  plan.mesh.back()->name = "dp";
  const Mesh mesh = plan::meshOf(plan);
  const auto add = [&](const std::string &name, const Shape &shape) {
    auto variable = std::make_unique<plan::VariableT>();
    variable->name = name;
    variable->role = plan::VariableRole::Parameter;
    variable->shape = shape;
    variable->layout = plan::toPlanLayout(Layout::replicated(shape.size()), shape, mesh);
    variable->buffer = static_cast<uint32_t>(plan.variables.size());
    plan.variables.push_back(std::move(variable));
  };
  for (int64_t layer = 0; layer < kLayers; ++layer) {
    add("h." + std::to_string(layer) + ".ln.bias", {kWidth});
    add("h." + std::to_string(layer) + ".mlp.weight", {bytes / 4 / kLayers / kWidth, kWidth});
  }
  return plan;
}

/// Seconds from the first byte to a file with its name.
static double save(const std::string &folder, const plan::PlanT &plan, char *memory, int64_t bytes) {
  const Mesh mesh = plan::meshOf(plan);
  const runtime::RankMemory rank{plan, mesh, 0, [&](uint32_t) {
                                   return runtime::BufferView{memory, static_cast<size_t>(bytes)};
                                 }};
  const std::string path = folder + "/ds-bench-save.safetensors";
  const double begin = now();
  absl::StatusOr<PendingFile> file = PendingFile::create(path);
  absl::Status status = file.status();
  if (status.ok())
    status = runtime::saveVariables(rank, {plan::VariableRole::Parameter}, file->file());
  if (status.ok())
    status = file->commit();
  const double seconds = now() - begin;
  ::unlink(path.c_str());
  if (!status.ok())
    fail(std::string(status.message()));
  return seconds;
}

int main(int argc, char **argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: ds-bench-save FOLDER MEBIBYTES ROUNDS\n");
    return 2;
  }
  const std::string folder = argv[1];
  const int64_t bytes = std::atoll(argv[2]) * kMebibyte / kBlock * kBlock;
  char *memory = reinterpret_cast<char *>(takeMemory(static_cast<size_t>(bytes)));
  const plan::PlanT plan = makeModel(bytes);
  nlohmann::json result = {{"bytes", bytes}, {"direct", nlohmann::json::array()}, {"save", nlohmann::json::array()}};
  for (int round = 0; round < std::atoi(argv[3]); ++round) {
    double best = 1e9;
    for (const int threads : {2, 4, 8})
      best = std::min(best, writeDirectly(folder, memory, bytes, threads));
    result["direct"].push_back(best);
    result["save"].push_back(save(folder, plan, memory, bytes));
  }
  std::printf("%s\n", result.dump().c_str());
  return 0;
}
