// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "Watchdog.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

using namespace ds;
using namespace ds::runtime;

Watchdog::Watchdog(const Program &program, const StepState &state, std::function<void(const std::string &)> onStall)
    : program(program), state(state), onStall(std::move(onStall)), thread([this] { watch(); }) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard<std::mutex> lock(mutex);
    isClosing = true;
  }
  changed.notify_all();
  thread.join();
}

void Watchdog::setTimeout(std::chrono::milliseconds limit) {
  {
    const std::lock_guard<std::mutex> lock(mutex);
    timeout = limit;
  }
  changed.notify_all();
}

void Watchdog::watch() {
  std::unique_lock<std::mutex> lock(mutex);
  while (!isClosing) {
    if (timeout.count() <= 0) {
      changed.wait(lock);
      continue;
    }
    changed.wait_for(lock, std::max(timeout / 8, std::chrono::milliseconds(1)));
    const int64_t now = nowNs(), limit = std::chrono::nanoseconds(timeout).count();
    const size_t stalled = limit > 0 ? findStalled(now, limit) : program.queues.size();
    if (isClosing || stalled == program.queues.size())
      continue;
    lock.unlock(); // What is called may take its time, and may set the timeout.
    onStall(describe(stalled, now));
    return;
  }
}

size_t Watchdog::findStalled(int64_t now, int64_t timeoutNs) const {
  size_t best = program.queues.size();
  bool bestRuns = false;
  int64_t bestSince = 0;
  for (size_t number = 0; number < program.queues.size(); ++number) {
    const QueueProgress &progress = state.progress[number];
    const int64_t since = progress.sinceNs.load(std::memory_order_acquire);
    const QueueState queueState = progress.state.load(std::memory_order_relaxed);
    if (queueState == QueueState::Idle || now - since < timeoutNs)
      continue;
    const bool runs = queueState == QueueState::Running;
    if (best < program.queues.size() && std::make_pair(!bestRuns, bestSince) <= std::make_pair(!runs, since))
      continue;
    best = number;
    bestRuns = runs;
    bestSince = since;
  }
  // A queue that waits is not to blame while another one works: that one may take up to the timeout itself.
  if (best < program.queues.size() && !bestRuns)
    for (const QueueProgress &progress : state.progress)
      if (progress.state.load(std::memory_order_relaxed) == QueueState::Running)
        return program.queues.size();
  return best;
}

std::string Watchdog::describe(size_t number, int64_t now) const {
  const QueueProgress &progress = state.progress[number];
  const ProgramQueue &queue = *program.queues[number];
  const uint32_t position = progress.position.load(std::memory_order_relaxed);
  const std::string op = position < queue.steps.size() ? queue.steps[position].name : "loop";
  const double seconds = static_cast<double>(now - progress.sinceNs.load(std::memory_order_relaxed)) * 1e-9;
  std::string text = absl::StrFormat("op %s: no progress for %.1f s on queue \"%s\"", op, seconds, queue.name);
  if (progress.state.load(std::memory_order_relaxed) == QueueState::Waiting)
    return text + ", which waits for other queues";
  for (const auto &[key, communicator] : program.communicators)
    if (const int64_t rank = key.first == number ? communicator->waitingForRank() : -1; rank >= 0)
      absl::StrAppend(&text, ", which waits for rank ", rank);
  return text;
}
