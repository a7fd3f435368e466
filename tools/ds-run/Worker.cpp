// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "Worker.h"

#include "CoreClaims.h"
#include "ExitCodes.h"
#include "Job.h"
#include "OutOfMemory.h"

#include "ds/Config/TrainingConfig.h"
#include "ds/Plan/Plan.h"
#include "ds/Runtime/Collective/Local/LocalJob.h"
#include "ds/Runtime/StatusMacros.h"

#include "absl/strings/str_cat.h"

#include <csignal>
#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace ds {

namespace {
/// Sends the session's events to the launcher.
class EventSender : public runtime::SessionEvents {
public:
  explicit EventSender(int descriptor) : descriptor(descriptor) {}

  void onReady(const runtime::MemoryUse &memory) override {
    Message message;
    message.kind = Message::Kind::Ready;
    message.memory = memory;
    send(message);
  }
  void onStep(const runtime::StepRecord &record) override {
    Message message;
    message.kind = Message::Kind::Step;
    message.step = record;
    send(message);
  }
  void onNote(const std::string &text) override {
    Message message;
    message.text = text;
    send(message);
  }
  void sendError(const absl::Status &status) const {
    Message message;
    message.kind = Message::Kind::Error;
    message.code = status.code();
    message.text = std::string(status.message());
    send(message);
  }
  void send(const Message &message) const;

private:
  int descriptor;
};
} // namespace

void EventSender::send(const Message &message) const {
  const std::string line = writeMessage(message);
  for (size_t at = 0; at < line.size();) {
    const ssize_t put = ::write(descriptor, line.data() + at, line.size() - at);
    if (put < 0 && errno == EINTR)
      continue;
    if (put < 0)
      return; // the launcher is gone, and this process will be too
    at += static_cast<size_t>(put);
  }
}

/// The cores that `rank` is bound to; none: the system chooses.
static std::vector<int> coresOf(const Job &job, int64_t rank) {
  const auto begin = static_cast<size_t>(rank * job.threads), end = begin + static_cast<size_t>(job.threads);
  if (end > job.cores.size())
    return {};
  return {job.cores.begin() + begin, job.cores.begin() + end};
}

static std::optional<runtime::ElementType> tokenTypeOf(const std::string &name) {
  if (name.empty())
    return std::nullopt;
  return name == "uint32" ? runtime::ElementType::U32 : runtime::ElementType::U16;
}

static absl::StatusOr<runtime::SessionOptions> sessionOptions(const Job &job) {
  runtime::SessionOptions options;
  options.modelFolder = job.modelFolder;
  options.dataPath = job.dataPath;
  options.tokenType = tokenTypeOf(job.tokenType);
  options.loadModel = job.loadModel;
  options.steps = job.steps;
  options.executor.threads = job.threads;
  options.executor.collectTimings = job.profileDescriptor >= 0;
  options.executor.findsNonFinite = job.findsNan;
  options.profileDescriptor = job.profileDescriptor;
  options.executor.timeout = std::chrono::milliseconds(job.timeoutMs);
  if (!job.config.empty()) {
    DS_ASSIGN_OR_RETURN(const TrainingConfig config, parseTrainingConfig(job.config, job.configName));
    options.learningRate = [config](int64_t step) { return learningRateAt(config, step); };
    options.stopAfterBadSteps = config.model.stopAfterBadSteps;
  }
  for (const Job::Save &save : job.saves) {
    runtime::SaveRequest request;
    request.descriptor = save.descriptor;
    for (const int role : save.roles)
      request.roles.insert(static_cast<plan::VariableRole>(role));
    options.saves.push_back(std::move(request));
  }
  for (const Job::Output &output : job.outputs)
    options.outputs.push_back({static_cast<size_t>(output.output), output.descriptor});
  return options;
}

static absl::StatusOr<std::unique_ptr<plan::PlanT>> loadSamePlan(const Job &job) {
  auto plan = plan::loadPlan(File(job.planDescriptor, job.planName));
  if (plan.ok() && (*plan)->fingerprint != job.fingerprint)
    return absl::DataLossError(absl::StrCat(job.planName, ": must be the same plan on all ranks, got fingerprint ",
                                            (*plan)->fingerprint, " and ", job.fingerprint));
  return plan;
}

static absl::Status runRank(const Job &job, int64_t rank, EventSender &events) {
  DS_ASSIGN_OR_RETURN(const std::unique_ptr<plan::PlanT> plan, loadSamePlan(job));
  DS_ASSIGN_OR_RETURN(const runtime::SharedJob shared, runtime::SharedJob::attach(job.sharedDescriptor));
  DS_ASSIGN_OR_RETURN(runtime::SessionOptions options, sessionOptions(job));
  // As a whole: the threads of its communication queues need a place beside those that compute.
  bindProcess(coresOf(job, rank));
  options.executor.onStall = [&](const absl::Status &status) { // the launcher ends the process if runStep cannot
    events.sendError(status);
    shared.abort();
  };
  runtime::LocalJob place(shared, rank, options.executor.timeout);
  DS_ASSIGN_OR_RETURN(const runtime::SessionResult result, runtime::runSession(*plan, place, options, events));
  Message message;
  message.kind = Message::Kind::Done;
  message.memory = result.memory;
  message.steps = result.steps;
  message.wasStopped = result.wasStopped;
  message.lastGoodStep = result.lastGoodStep;
  message.code = result.numericStop.code();
  message.text = std::string(result.numericStop.message());
  events.send(message);
  return absl::OkStatus();
}

static absl::StatusOr<Job> readJobFile(int descriptor) {
  File file(descriptor, "job");
  DS_ASSIGN_OR_RETURN(const int64_t bytes, file.size());
  std::string text(static_cast<size_t>(bytes), '\0');
  DS_RETURN_IF_ERROR(file.readAt(0, text.data(), bytes));
  return readJob(text);
}

int runWorker(int64_t rank, int jobDescriptor) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL); // no rank outlives its launcher
  ::signal(SIGINT, SIG_IGN);          // Ctrl-C reaches the launcher, which ends the job between two steps
  const absl::StatusOr<Job> job = readJobFile(jobDescriptor);
  if (!job.ok() || rank < 0 || rank >= static_cast<int64_t>(job->messageDescriptors.size()))
    return kExitBadInput;
  if (::getppid() != job->launcher)
    return kExitPeerLost;
  ::prctl(PR_SET_NAME, absl::StrCat("ds-run:", rank).c_str());
  EventSender events(job->messageDescriptors[rank]);
  Message lastWords;
  lastWords.kind = Message::Kind::Error;
  const absl::Status noMemory = runtime::memoryError("the system gives no more memory or threads (see ulimit -v, -u)");
  lastWords.code = noMemory.code();
  lastWords.text = std::string(noMemory.message());
  endWhenOutOfMemory(job->messageDescriptors[rank], writeMessage(lastWords));
  const absl::Status status = runRank(*job, rank, events);
  if (!status.ok())
    events.sendError(status);
  return exitCodeOf(status.code());
}

} // namespace ds
