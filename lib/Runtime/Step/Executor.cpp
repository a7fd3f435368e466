// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Runtime/Executor.h"

#include "NumberCheck.h"
#include "QueueRunner.h"
#include "Watchdog.h"

#include "ds/Runtime/Device/Arena.h"
#include "ds/Runtime/Device/FlushDenormals.h"
#include "ds/Runtime/Device/ParallelFor.h"
#include "ds/Runtime/StatusMacros.h"

#include "absl/strings/str_cat.h"

using namespace ds;
using namespace ds::runtime;

namespace {
class ProgramExecutor : public Executor {
public:
  ProgramExecutor(const plan::PlanT &plan, int64_t rank, Transport &transport, const ExecutorOptions &options)
      : options(options), transport(transport), bindings(plan, rank), state(plan.events, plan.queues.size()) {}
  ~ProgramExecutor() override;

  /// Everything up to the first step.
  absl::Status prepare();

  BufferView buffer(uint32_t id) const override;
  size_t arenaBytes() const override;
  size_t libraryBytes() const override;
  absl::Status runStep() override;
  int64_t step() const override { return state.step; }
  void setStep(int64_t step) override { state.step = step; }
  void setTimeout(std::chrono::milliseconds timeout) override { watchdog->setTimeout(timeout); }
  void abort() override { (void)fail(absl::CancelledError("the step was cancelled")); }
  FirstNonFinite firstNonFinite() const override { return findings.first(); }
  std::vector<InstructionTiming> timings() const override;

private:
  absl::Status takeArenas();
  void startThreads();
  void serveQueue(size_t number);
  void runQueue(size_t number);
  /// Ends the step with `status`, which gets rank and step, unless it has failed before. Returns what the step failed
  /// with.
  absl::Status fail(const absl::Status &status);
  absl::Status failure() const;

  const ExecutorOptions options;
  Transport &transport;
  Bindings bindings;
  std::vector<std::unique_ptr<Arena>> arenas;
  std::unique_ptr<NativeKernels> kernels;
  NumberFindings findings;
  Program program;

  StepState state;
  int64_t stepBegin = 0; ///< of the last step, on nowNs's clock
  std::vector<QueueRunner> runners;
  Gate started, finished; ///< steps begun; queues done, of all steps
  std::atomic<bool> isClosing{false};
  mutable std::mutex failureMutex;
  absl::Status firstFailure; ///< guarded by failureMutex
  std::vector<std::thread> threads;
  std::unique_ptr<Watchdog> watchdog;
};
} // namespace

/// For waits that always end: aborted queues finish too.
static const std::atomic<bool> kNeverAborted{false};

absl::Status ProgramExecutor::takeArenas() {
  std::vector<ArenaMemory> memory;
  for (const auto &table : bindings.plan().arenas) {
    if (table->memory == plan::MemoryTier::Disk)
      return absl::UnimplementedError(absl::StrCat("arena \"", table->name, "\" must be in memory, got disk"));
    DS_ASSIGN_OR_RETURN(std::unique_ptr<Arena> arena, transport.takeArena(table->bytes));
    memory.push_back({arena->data(), table->bytes});
    arenas.push_back(std::move(arena));
  }
  return bindings.setMemory(std::move(memory));
}

absl::Status ProgramExecutor::prepare() {
  setThreads(options.threads);
  DS_RETURN_IF_ERROR(bindThreads(options.cores));
  DS_RETURN_IF_ERROR(takeArenas());
  DS_ASSIGN_OR_RETURN(kernels, NativeKernels::load(bindings.plan()));
  bindings.setKernels(&kernels->entries());
  DS_ASSIGN_OR_RETURN(program, buildProgram(bindings, transport, options.findsNonFinite ? &findings : nullptr));
  for (size_t number = 0; number < program.queues.size(); ++number)
    runners.emplace_back(program, number, state);
  watchdog = std::make_unique<Watchdog>(program, state, [this](const std::string &what) {
    const absl::Status status = fail(absl::DeadlineExceededError(what));
    if (options.onStall)
      options.onStall(status);
  });
  watchdog->setTimeout(options.timeout);
  startThreads();
  return absl::OkStatus();
}

void ProgramExecutor::startThreads() {
  for (size_t number = 0; number < program.queues.size(); ++number)
    if (number != program.computeQueue)
      threads.emplace_back([this, number] { serveQueue(number); });
}

ProgramExecutor::~ProgramExecutor() {
  watchdog.reset();
  isClosing = true;
  started.add();
  for (std::thread &thread : threads)
    thread.join();
}

BufferView ProgramExecutor::buffer(uint32_t id) const {
  const auto &buffers = bindings.plan().buffers;
  if (id >= buffers.size())
    return {};
  return {*bindings.memory(id), static_cast<size_t>(buffers[id]->bytes)};
}

size_t ProgramExecutor::arenaBytes() const {
  size_t bytes = 0;
  for (const std::unique_ptr<Arena> &arena : arenas)
    bytes += arena->bytes();
  return bytes;
}

size_t ProgramExecutor::libraryBytes() const {
  size_t bytes = 0;
  for (const auto &queue : program.queues)
    bytes += queue->scratch.bytes();
  return bytes;
}

absl::Status ProgramExecutor::fail(const absl::Status &status) {
  {
    const std::lock_guard<std::mutex> lock(failureMutex);
    if (!firstFailure.ok())
      return firstFailure;
    firstFailure = absl::Status(status.code(), absl::StrCat("rank ", bindings.rank(), ", step ", state.step.load(),
                                                            ", ", std::string(status.message())));
  }
  state.isAborted = true;
  transport.abort();
  for (Gate &event : state.events)
    event.wakeAll();
  state.meeting.wakeAll();
  return failure();
}

absl::Status ProgramExecutor::failure() const {
  const std::lock_guard<std::mutex> lock(failureMutex);
  return firstFailure;
}

absl::Status ProgramExecutor::runStep() {
  if (absl::Status status = failure(); !status.ok())
    return absl::FailedPreconditionError(absl::StrCat("an earlier step failed: ", std::string(status.message())));
  setThreads(options.threads); // The number belongs to the calling thread.
  const FlushDenormals flush;
  findings.clear();
  stepBegin = nowNs();
  const uint32_t done = finished.value() + static_cast<uint32_t>(program.queues.size());
  started.add();
  runQueue(program.computeQueue);
  finished.waitFor(done, kNeverAborted);
  state.firstEpoch += static_cast<uint32_t>(program.loopCount) + 2;
  DS_RETURN_IF_ERROR(failure());
  ++state.step;
  return absl::OkStatus();
}

void ProgramExecutor::serveQueue(size_t number) {
  setThreads(1); // The pool belongs to the compute queue.
  const FlushDenormals flush;
  for (uint32_t next = 1;; ++next) {
    started.waitFor(next, kNeverAborted);
    if (isClosing)
      return;
    runQueue(number);
  }
}

void ProgramExecutor::runQueue(size_t number) {
  if (absl::Status status = runners[number].runStep(); !status.ok())
    (void)fail(status);
  state.progress[number].publish(QueueState::Idle, 0, nowNs());
  finished.add();
}

std::vector<InstructionTiming> ProgramExecutor::timings() const {
  std::vector<InstructionTiming> result;
  if (!options.collectTimings)
    return result;
  for (size_t number = 0; number < program.queues.size(); ++number)
    for (size_t i = 0; i < runners[number].times().size(); ++i) {
      const ProgramStep &step = program.queues[number]->steps[i];
      const StepTime &time = runners[number].times()[i];
      auto seconds = [](int64_t nanoseconds) { return static_cast<double>(nanoseconds) * 1e-9; };
      result.push_back({static_cast<uint32_t>(number), step.order, step.name, seconds(time.begin - stepBegin),
                        seconds(time.run), seconds(time.wait)});
    }
  return result;
}

absl::StatusOr<std::unique_ptr<Executor>> Executor::create(const plan::PlanT &plan, int64_t rank, Transport &transport,
                                                           const ExecutorOptions &options) {
  const int64_t ranks = plan::meshOf(plan).numRanks();
  if (rank < 0 || rank >= ranks)
    return absl::InvalidArgumentError(absl::StrCat("rank must be below ", ranks, ", got ", rank));
  auto executor = std::make_unique<ProgramExecutor>(plan, rank, transport, options);
  if (absl::Status status = executor->prepare(); !status.ok())
    return absl::Status(status.code(),
                        absl::StrCat("rank ", rank, ", before the first step, ", std::string(status.message())));
  return executor;
}
