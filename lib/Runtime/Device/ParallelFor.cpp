// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// Calls libgomp by its own interface, which is stable, and not by pragmas: clang would compile those for its own
// runtime, and two OpenMP runtimes in one process would compete for the cores.

#include "ds/Runtime/Device/ParallelFor.h"

#include "absl/strings/str_cat.h"

#include <atomic>
#include <pthread.h>
#include <sched.h>

extern "C" {
void GOMP_parallel(void (*body)(void *), void *data, unsigned threads, unsigned flags);
void omp_set_num_threads(int count);
void omp_set_dynamic(int on);
int omp_get_max_threads(void);
int omp_get_thread_num(void);
int omp_in_parallel(void);
}

using namespace ds::runtime;

void ds::runtime::setThreads(int count) {
  omp_set_dynamic(0);
  omp_set_num_threads(count < 1 ? 1 : count);
}

int ds::runtime::getThreads() { return omp_in_parallel() ? 1 : omp_get_max_threads(); }

namespace {
struct Loop {
  std::atomic<int64_t> next{0};
  int64_t count;
  LoopBody body;
  void *context;
};
struct Binding {
  const std::vector<int> &cores;
  std::atomic<int> failedCore{-1};
};
} // namespace

static void runLoop(void *data) {
  Loop &loop = *static_cast<Loop *>(data);
  for (int64_t i; (i = loop.next.fetch_add(1, std::memory_order_relaxed)) < loop.count;)
    loop.body(loop.context, i);
}

void ds::runtime::parallelForRaw(int64_t count, LoopBody body, void *context) {
  const int threads = getThreads();
  if (threads == 1 || count < 2) {
    for (int64_t i = 0; i < count; ++i)
      body(context, i);
    return;
  }
  // Always the whole pool, even for fewer pieces: libgomp ends surplus threads when the number changes.
  Loop loop{{0}, count, body, context};
  GOMP_parallel(runLoop, &loop, static_cast<unsigned>(threads), 0);
}

void ds::runtime::onEachThread(void (*body)()) {
  const auto call = [](void *data) { (*static_cast<void (**)()>(data))(); };
  GOMP_parallel(call, &body, static_cast<unsigned>(getThreads()), 0);
}

static void bindOne(void *data) {
  Binding &binding = *static_cast<Binding *>(data);
  const int core = binding.cores[static_cast<size_t>(omp_get_thread_num()) % binding.cores.size()];
  cpu_set_t set;
  CPU_ZERO(&set);
  if (core >= 0 && core < CPU_SETSIZE)
    CPU_SET(core, &set);
  if (pthread_setaffinity_np(pthread_self(), sizeof(set), &set) != 0)
    binding.failedCore = core;
}

absl::Status ds::runtime::bindThreads(const std::vector<int> &cores) {
  if (cores.empty())
    return absl::OkStatus();
  Binding binding{cores, {-1}};
  GOMP_parallel(bindOne, &binding, static_cast<unsigned>(getThreads()), 0);
  if (binding.failedCore >= 0)
    return absl::InvalidArgumentError(
        absl::StrCat("cores must be available to this process, got core ", binding.failedCore.load()));
  return absl::OkStatus();
}
