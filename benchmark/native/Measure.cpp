// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "Measure.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sched.h>
#include <sys/mman.h>
#include <thread>
#include <vector>

namespace ds::benchmark {

static constexpr int kSpins = 2000; // before a waiting thread gives its core away

void Meeting::wait(uint32_t members) {
  const uint32_t mine = round.load(std::memory_order_acquire);
  if (arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == members) {
    arrived.store(0, std::memory_order_relaxed);
    round.store(mine + 1, std::memory_order_release);
    return;
  }
  for (int spins = 0; round.load(std::memory_order_acquire) == mine; ++spins)
    if (spins >= kSpins)
      sched_yield();
}

const std::vector<int> &usableCores() {
  static const std::vector<int> cores = [] {
    std::vector<int> all;
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof(allowed), &allowed) == 0)
      for (int core = 0; core < CPU_SETSIZE; ++core)
        if (CPU_ISSET(core, &allowed))
          all.push_back(core);
    return all;
  }();
  return cores;
}

void bindToCore(int number) {
  const std::vector<int> &cores = usableCores();
  if (cores.empty())
    return;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cores[number % cores.size()], &set);
  sched_setaffinity(0, sizeof(set), &set);
}

std::vector<double> timesOfThreads(int threads, int tries, const std::function<void(int)> &body) {
  Meeting meeting;
  std::vector<double> begin(threads), end(threads), times;
  const auto work = [&](int thread) {
    bindToCore(thread);
    for (int attempt = 0; attempt <= tries; ++attempt) {
      meeting.wait(threads);
      begin[thread] = now();
      body(thread);
      end[thread] = now();
      meeting.wait(threads);
      if (thread == 0 && attempt > 0)
        times.push_back(*std::max_element(end.begin(), end.end()) - *std::min_element(begin.begin(), begin.end()));
    }
  };
  std::vector<std::thread> pool;
  for (int thread = 0; thread < threads; ++thread)
    pool.emplace_back(work, thread);
  for (std::thread &thread : pool)
    thread.join();
  std::sort(times.begin(), times.end());
  return times;
}

static void *mapMemory(size_t bytes, int kind) {
  void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, kind | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory != MAP_FAILED)
    return memory;
  std::fprintf(stderr, "cannot map %zu bytes\n", bytes);
  std::exit(2);
}

float *takeMemory(size_t bytes) {
  constexpr size_t kHugePage = size_t(2) << 20;
  char *memory = static_cast<char *>(mapMemory(bytes + kHugePage, MAP_PRIVATE));
  memory += (kHugePage - reinterpret_cast<uintptr_t>(memory) % kHugePage) % kHugePage;
  madvise(memory, bytes, MADV_HUGEPAGE);
  std::memset(memory, 0, bytes);
  return reinterpret_cast<float *>(memory);
}

char *takeSharedMemory(size_t bytes) {
  char *memory = static_cast<char *>(mapMemory(bytes, MAP_SHARED));
  madvise(memory, bytes, MADV_HUGEPAGE);
  std::memset(memory, 0, bytes);
  return memory;
}

} // namespace ds::benchmark
