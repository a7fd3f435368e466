// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "Launcher.h"

#include "Worker.h"

#include "ds/Runtime/Collective/Local/LocalTransport.h"
#include "ds/Runtime/Device/AvailableMemory.h"
#include "ds/Runtime/StatusMacros.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace ds {

using Clock = std::chrono::steady_clock;

static constexpr int kTickMs = 100;
static constexpr auto kGrace = std::chrono::seconds(2); // for ranks to end by themselves once the job has failed

//===----------------------------------------------------------------------===//
// SignalGuard
//===----------------------------------------------------------------------===//

static sigset_t launcherSignals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGCHLD})
    sigaddset(&set, signal);
  return set;
}

SignalGuard::SignalGuard() {
  const sigset_t set = launcherSignals();
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  fd = ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

SignalGuard::~SignalGuard() {
  while (take() != 0) { // a second Ctrl-C that has been handled must not end the process now
  }
  ::close(fd);
  const sigset_t set = launcherSignals();
  ::sigprocmask(SIG_UNBLOCK, &set, nullptr);
}

int SignalGuard::take() const {
  signalfd_siginfo info;
  return ::read(fd, &info, sizeof(info)) == sizeof(info) ? static_cast<int>(info.ssi_signo) : 0;
}

std::string describeExit(int waitStatus) {
  if (WIFSIGNALED(waitStatus))
    return absl::StrCat("killed by signal ", WTERMSIG(waitStatus), " (", ::strsignal(WTERMSIG(waitStatus)), ")");
  return absl::StrCat("ended with exit code ", WEXITSTATUS(waitStatus));
}

//===----------------------------------------------------------------------===//
// Ranks
//===----------------------------------------------------------------------===//

namespace {
struct RankProcess {
  pid_t process = -1;
  File messages; ///< the reading end of its pipe
  std::string partialLine;
  bool isRunning = false, isDone = false, hasFailed = false;
  bool isStopped = false; ///< by SIGSTOP or the like
  Clock::duration stoppedFor{0};
};

class Launcher {
public:
  Launcher(Job job, JobListener &listener, runtime::SharedJob shared)
      : job(std::move(job)), listener(listener), shared(std::move(shared)),
        ranks(static_cast<size_t>(this->shared.shape().ranks)) {}
  ~Launcher() { killAll(); }

  absl::Status start();
  JobResult listen();

private:
  absl::Status spawn(int64_t rank, int jobDescriptor, int messageDescriptor);
  bool isAnyRunning() const;
  void waitForEvents();
  void readMessages(int64_t rank);
  void handle(int64_t rank, const Message &message);
  void handleSignal(int signal);
  void reap();
  void handleExit(int64_t rank, int waitStatus);
  bool wasOutOfMemory(int waitStatus) const;
  void fail(ExitCode code, const std::string &error);
  void endIfOverdue();
  void killAll();
  std::string whereabouts(int64_t rank) const;

  Job job;
  JobListener &listener;
  runtime::SharedJob shared;
  std::vector<RankProcess> ranks;
  SignalGuard signals;
  JobResult result;
  ExitCode secondaryCode = kExitOk; ///< of a rank that only suffers from another's failure
  std::string secondaryError;
  std::optional<Clock::time_point> failedAt;
  Clock::time_point lastLook = Clock::now();
  std::optional<Message> numericStop;                           ///< Done, of rank 0
  const int64_t outOfMemoryKills = runtime::outOfMemoryKills(); ///< when the job began
};
} // namespace

static absl::StatusOr<File> makeJobFile(const Job &job) {
  DS_ASSIGN_OR_RETURN(File file, File::makeInMemory("ds-run-job"));
  const std::string text = writeJob(job);
  DS_RETURN_IF_ERROR(file.writeAt(0, text.data(), static_cast<int64_t>(text.size())));
  return file;
}

absl::Status Launcher::start() {
  std::vector<File> writers;
  job.launcher = ::getpid();
  job.sharedDescriptor = shared.descriptor();
  for (RankProcess &rank : ranks) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0)
      return absl::FailedPreconditionError(absl::StrCat("cannot create a pipe for each rank: ", std::strerror(errno),
                                                        "; the limit of open files is ulimit -n"));
    rank.messages = File(ends[0], "messages");
    ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
    writers.emplace_back(ends[1], "messages");
    job.messageDescriptors.push_back(ends[1]);
  }
  DS_ASSIGN_OR_RETURN(const File jobFile, makeJobFile(job));
  for (size_t rank = 0; rank < ranks.size(); ++rank)
    DS_RETURN_IF_ERROR(spawn(static_cast<int64_t>(rank), jobFile.descriptor(), writers[rank].descriptor()));
  return absl::OkStatus();
}

// A new program, not a fork: the ranks start without any thread or memory of this process.
absl::Status Launcher::spawn(int64_t rank, int jobDescriptor, int messageDescriptor) {
  std::vector<int> passed = {jobDescriptor, messageDescriptor, shared.descriptor(), job.planDescriptor};
  for (const Job::Save &save : job.saves)
    passed.push_back(save.descriptor);
  for (const Job::Output &output : job.outputs)
    passed.push_back(output.descriptor);
  if (job.profileDescriptor >= 0)
    passed.push_back(job.profileDescriptor);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  for (const int descriptor : passed)
    ::posix_spawn_file_actions_adddup2(&actions, descriptor, descriptor); // clears close-on-exec
  ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);

  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t blocked;
  sigemptyset(&blocked);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) // they reach the whole group; the launcher ends the job in order
    sigaddset(&blocked, signal);
  ::posix_spawnattr_setsigmask(&attributes, &blocked);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);

  std::string arguments[] = {"ds-run", kWorkerFlag, absl::StrCat(rank), absl::StrCat(jobDescriptor)};
  char *argv[] = {arguments[0].data(), arguments[1].data(), arguments[2].data(), arguments[3].data(), nullptr};
  const int error = ::posix_spawn(&ranks[rank].process, "/proc/self/exe", &actions, &attributes, argv, environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  if (error != 0)
    return absl::FailedPreconditionError(absl::StrCat("cannot start rank ", rank, ": ", std::strerror(error),
                                                      "; the limits are memory and processes (ulimit -v, ulimit -u)"));
  ranks[rank].isRunning = true;
  return absl::OkStatus();
}

//===----------------------------------------------------------------------===//
// Listening
//===----------------------------------------------------------------------===//

bool Launcher::isAnyRunning() const {
  return std::any_of(ranks.begin(), ranks.end(), [](const RankProcess &rank) { return rank.isRunning; });
}

JobResult Launcher::listen() {
  while (isAnyRunning()) {
    waitForEvents();
    for (size_t rank = 0; rank < ranks.size(); ++rank)
      readMessages(static_cast<int64_t>(rank));
    while (const int signal = signals.take())
      handleSignal(signal);
    reap();
    endIfOverdue();
  }
  if (result.code == kExitOk && secondaryCode != kExitOk) {
    result.code = secondaryCode;
    result.error = secondaryError;
  }
  result.hasResults = result.code == kExitOk && !result.wasStopped && !result.wasKilled;
  if (result.hasResults && numericStop) {
    result.hasResults = numericStop->lastGoodStep >= 0;
    result.code = exitCodeOf(numericStop->code);
    result.error = numericStop->text;
  }
  return result;
}

void Launcher::waitForEvents() {
  std::vector<pollfd> entries = {{signals.descriptor(), POLLIN, 0}};
  for (const RankProcess &rank : ranks)
    if (rank.isRunning)
      entries.push_back({rank.messages.descriptor(), POLLIN, 0});
  ::poll(entries.data(), entries.size(), kTickMs);
}

void Launcher::readMessages(int64_t rank) {
  RankProcess &process = ranks[rank];
  char chunk[4096];
  for (;;) {
    const ssize_t got = ::read(process.messages.descriptor(), chunk, sizeof(chunk));
    if (got <= 0)
      return;
    process.partialLine.append(chunk, static_cast<size_t>(got));
    for (size_t end; (end = process.partialLine.find('\n')) != std::string::npos;) {
      const std::optional<Message> message = readMessage(process.partialLine.substr(0, end));
      process.partialLine.erase(0, end + 1);
      if (message)
        handle(rank, *message);
    }
  }
}

void Launcher::handle(int64_t rank, const Message &message) {
  RankProcess &process = ranks[rank];
  switch (message.kind) {
  case Message::Kind::Ready:
    return listener.onReady(rank, message.memory);
  case Message::Kind::Step:
    result.steps = message.step.step + 1;
    return listener.onStep(message.step);
  case Message::Kind::Note:
    return listener.onNote(message.text);
  case Message::Kind::Done:
    process.isDone = true;
    result.wasStopped |= message.wasStopped;
    if (message.code != absl::StatusCode::kOk)
      numericStop = message;
    return listener.onDone(rank, message.memory);
  case Message::Kind::Error:
    break;
  }
  process.hasFailed = true;
  const std::string named =
      absl::StartsWith(message.text, "rank ") ? message.text : absl::StrCat("rank ", rank, ": ", message.text);
  const bool isSecondary =
      message.code == absl::StatusCode::kUnavailable || message.code == absl::StatusCode::kCancelled;
  if (!isSecondary)
    return fail(exitCodeOf(message.code), named);
  if (secondaryCode == kExitOk) {
    secondaryCode = kExitPeerLost;
    secondaryError = named;
  }
  shared.abort();
  if (!failedAt)
    failedAt = Clock::now();
}

/// The first failure is the cause; the others follow from it.
void Launcher::fail(ExitCode code, const std::string &error) {
  shared.abort();
  if (!failedAt)
    failedAt = Clock::now();
  if (result.code != kExitOk)
    return;
  result.code = code;
  result.error = error;
}

void Launcher::handleSignal(int signal) {
  if (signal == SIGCHLD)
    return;
  if (result.signal != 0) {
    result.wasKilled = true;
    killAll();
    return;
  }
  result.signal = signal;
  shared.control().stopRequested.store(1, std::memory_order_release);
  listener.onNote("stopping after the current step; interrupt again to kill");
}

//===----------------------------------------------------------------------===//
// Ends
//===----------------------------------------------------------------------===//

std::string Launcher::whereabouts(int64_t rank) const {
  const runtime::RankState &state = shared.rankState(rank);
  const int64_t step = state.step.load(std::memory_order_relaxed);
  const std::string name = state.readName();
  if (step < 0)
    return "before step 0";
  return absl::StrCat("in step ", step, name.empty() ? "" : absl::StrCat(", at or after op ", name));
}

void Launcher::reap() {
  for (size_t i = 0; i < ranks.size(); ++i) {
    int status = 0;
    if (!ranks[i].isRunning ||
        ::waitpid(ranks[i].process, &status, WNOHANG | WUNTRACED | WCONTINUED) != ranks[i].process)
      continue;
    const auto rank = static_cast<int64_t>(i);
    if (WIFSTOPPED(status) || WIFCONTINUED(status)) {
      ranks[i].isStopped = WIFSTOPPED(status);
      ranks[i].stoppedFor = Clock::duration(0);
      continue;
    }
    ranks[i].isRunning = false;
    readMessages(rank); // the last words
    handleExit(rank, status);
  }
}

void Launcher::handleExit(int64_t rank, int waitStatus) {
  const RankProcess &process = ranks[rank];
  if (result.wasKilled || process.hasFailed ||
      (process.isDone && WIFEXITED(waitStatus) && WEXITSTATUS(waitStatus) == 0))
    return;
  if (failedAt && WIFSIGNALED(waitStatus) && WTERMSIG(waitStatus) == SIGKILL)
    return; // by killAll
  const std::string lost = absl::StrCat("rank ", rank, " was lost ", whereabouts(rank), ": ", describeExit(waitStatus));
  if (!wasOutOfMemory(waitStatus))
    return fail(kExitPeerLost, lost);
  const absl::Status status = runtime::memoryError(
      absl::StrCat(lost, WIFEXITED(waitStatus) ? ": a library ended it, as OpenMP does when it gets no thread"
                                               : ": the system gave no more memory"));
  fail(exitCodeOf(status.code()), std::string(status.message()));
}

/// Whether a rank that said nothing ended for want of memory. The system kills when memory ends, and a page of shared
/// memory that it cannot give is a bus error. OpenMP ends the process with 1 when it gets no thread.
bool Launcher::wasOutOfMemory(int waitStatus) const {
  if (WIFEXITED(waitStatus))
    return WEXITSTATUS(waitStatus) == 1;
  return WTERMSIG(waitStatus) == SIGBUS ||
         (WTERMSIG(waitStatus) == SIGKILL && runtime::outOfMemoryKills() > outOfMemoryKills);
}

void Launcher::endIfOverdue() {
  // A rank that is stopped by a signal may have nobody who waits for it and would notice. When this process has been
  // stopped as well, by Ctrl-Z, the time between two looks does not count.
  const auto elapsed = std::min<Clock::duration>(Clock::now() - lastLook, std::chrono::milliseconds(2 * kTickMs));
  lastLook = Clock::now();
  for (size_t i = 0; i < ranks.size(); ++i) {
    if (!ranks[i].isRunning || !ranks[i].isStopped || job.timeoutMs == 0)
      continue;
    ranks[i].stoppedFor += elapsed;
    if (ranks[i].stoppedFor > std::chrono::milliseconds(job.timeoutMs))
      fail(kExitTimeout, absl::StrCat("rank ", i, " has been stopped for ", job.timeoutMs / 1000.0, " s ",
                                      whereabouts(static_cast<int64_t>(i))));
  }
  if (failedAt && Clock::now() - *failedAt > kGrace)
    killAll();
}

void Launcher::killAll() {
  for (RankProcess &rank : ranks)
    if (rank.isRunning) {
      ::kill(rank.process, SIGKILL);
      if (result.wasKilled || !failedAt) { // nobody will reap them
        ::waitpid(rank.process, nullptr, 0);
        rank.isRunning = false;
      }
    }
}

//===----------------------------------------------------------------------===//
// The whole
//===----------------------------------------------------------------------===//

static JobResult failedJob(const absl::Status &status) {
  JobResult result;
  result.code = exitCodeOf(status.code());
  result.error = std::string(status.message());
  return result;
}

JobResult runJob(const plan::PlanT &plan, Job job, JobListener &listener) {
  runtime::JobShape shape;
  for (const auto &axis : plan.mesh)
    shape.ranks *= axis->size;
  shape.queues = static_cast<uint32_t>(std::max<size_t>(1, plan.queues.size()));
  shape.axes = static_cast<uint32_t>(plan.mesh.size());
  for (const auto &arena : plan.arenas)
    if (shape.ranks > 1 && arena->bytes <= INT64_MAX / 4) // the executor refuses more
      shape.arenaBytes += static_cast<int64_t>(runtime::arenaStride(arena->bytes));
  absl::StatusOr<runtime::SharedJob> shared = runtime::SharedJob::create(shape);
  if (!shared.ok())
    return failedJob(shared.status());
  Launcher launcher(std::move(job), listener, *std::move(shared));
  if (const absl::Status status = launcher.start(); !status.ok())
    return failedJob(status);
  return launcher.listen();
}

} // namespace ds
