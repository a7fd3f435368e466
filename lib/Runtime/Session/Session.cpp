// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Runtime/Session/Session.h"

#include "BadSteps.h"
#include "ElementIO.h"

#include "ds/Runtime/Device/NonFinite.h"
#include "ds/Runtime/ErrorCodes.h"
#include "ds/Runtime/Session/Profile.h"
#include "ds/Runtime/StatusMacros.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <limits>
#include <unistd.h>

namespace ds::runtime {

using Clock = std::chrono::steady_clock;

int64_t plannedArenaBytes(const plan::PlanT &plan) {
  int64_t bytes = 0;
  for (const auto &arena : plan.arenas)
    bytes += static_cast<int64_t>(arena->bytes);
  return bytes;
}

ResidentBytes residentBytes() {
  ResidentBytes bytes;
  std::ifstream status("/proc/self/status");
  for (std::string key; status >> key;) {
    const std::pair<const char *, int64_t &> wanted[] = {
        {"VmRSS:", bytes.now}, {"VmHWM:", bytes.peak}, {"RssShmem:", bytes.shared}};
    for (const auto &[name, value] : wanted)
      if (key == name && status >> value)
        value *= 1024;
    status.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return bytes;
}

namespace {
class Session {
public:
  Session(const plan::PlanT &plan, Job &job, const SessionOptions &options, SessionEvents &events)
      : plan(plan), job(job), rank(job.rank()), options(options), events(events), mesh(plan::meshOf(plan)) {}

  absl::Status prepare();
  absl::StatusOr<SessionResult> run();

private:
  RankMemory memory() const;
  MemoryUse memoryUse() const;
  void reportLoaded(const LoadedModel &loaded);
  bool hasDiverged() const { return options.stopAfterBadSteps > 0 && badSteps.inARow >= options.stopAfterBadSteps; }
  absl::Status feed(int64_t step);
  absl::Status runStep(int64_t step);
  void noteBadStep(const StepRecord &record);
  absl::Status reportFirst(const StepRecord &record, const FirstNonFinite &before);
  std::optional<double> readScalar(const char *output) const;
  absl::Status beginOutputs();
  absl::Status writeOutputs(int64_t step);
  absl::Status checkWeights(const std::set<plan::VariableRole> &roles) const;
  absl::Status save();
  absl::Status writeProfile();

  const plan::PlanT &plan;
  Job &job;
  const int64_t rank;
  const SessionOptions &options;
  SessionEvents &events;
  const Mesh mesh;
  BadSteps badSteps; ///< of rank 0
  std::unique_ptr<DataSource> data;
  std::unique_ptr<Transport> transport;
  std::unique_ptr<Executor> executor; ///< uses the transport, so goes first
  std::vector<File> outputFiles;      ///< as options.outputs
  std::vector<int64_t> outputOffsets; ///< bytes of the headers
};
} // namespace

//===----------------------------------------------------------------------===//
// Preparation
//===----------------------------------------------------------------------===//

MemoryUse Session::memoryUse() const {
  const ResidentBytes bytes = residentBytes();
  const int64_t arena = static_cast<int64_t>(executor->arenaBytes());
  // What this rank has read of the others' arenas is theirs; it stays mapped, so it is in the peak as well.
  const int64_t others = job.sharesArenas() ? std::max<int64_t>(0, bytes.shared - arena) : 0;
  return {plannedArenaBytes(plan), arena, static_cast<int64_t>(executor->libraryBytes()), bytes.now - others,
          bytes.peak - others};
}

RankMemory Session::memory() const {
  RankMemory memory{plan, mesh, rank, [this](uint32_t id) { return executor->buffer(id); }};
  if (job.sharesArenas())
    memory.findOnRank = [this](int64_t other, uint32_t id) { return job.findOnRank(other, executor->buffer(id).data); };
  return memory;
}

static bool hasDataInputs(const plan::PlanT &plan) {
  for (const auto &port : plan.inputs)
    if (port->name != kLearningRateInput)
      return true;
  return false;
}

absl::Status Session::prepare() {
  if (hasDataInputs(plan)) { // before anything that costs time: most mistakes are here
    if (options.dataPath.empty())
      return absl::InvalidArgumentError("the plan has inputs, so data must be given");
    DS_ASSIGN_OR_RETURN(data, openData(plan, options.dataPath, options.tokenType));
  }
  transport = job.createTransport(mesh);
  DS_ASSIGN_OR_RETURN(executor, Executor::create(plan, rank, *transport, options.executor));
  DS_RETURN_IF_ERROR(initializeVariables(memory(), options.modelFolder));
  if (!options.loadModel.empty()) {
    DS_ASSIGN_OR_RETURN(const LoadedModel loaded, loadModel(memory(), options.loadModel));
    if (rank == 0)
      reportLoaded(loaded);
  }
  DS_RETURN_IF_ERROR(beginOutputs());
  events.onReady(memoryUse());
  return job.meet();
}

/// Says where the file of --load-model is not the model's own.
void Session::reportLoaded(const LoadedModel &loaded) {
  const auto note = [&](const auto &...text) { events.onNote(absl::StrCat(options.loadModel, ": ", text...)); };
  if (!loaded.added.empty())
    note("its names begin with '", loaded.added, "', which the model's do not");
  if (!loaded.removed.empty())
    note("its names do not begin with '", loaded.removed, "', as the model's do");
  if (!loaded.unused.empty())
    note(loaded.unused.size(), " tensors are not in the model, the first is '", loaded.unused.front(), "'");
  if (!loaded.kept.empty())
    note("has not all buffers of the model: ", loaded.kept.size(), " keep the values of the model file, the first is '",
         loaded.kept.front(), "'");
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

absl::Status Session::feed(int64_t step) {
  for (size_t i = 0; i < plan.inputs.size(); ++i) {
    const plan::PortT &port = *plan.inputs[i];
    const BufferView buffer = executor->buffer(port.buffer);
    if (port.name != kLearningRateInput) {
      const absl::Status status = data->read(step, i, mesh, rank, buffer);
      if (!status.ok())
        return absl::Status(status.code(),
                            absl::StrCat("step ", step, ", input '", port.name, "': ", status.message()));
      continue;
    }
    const double rate = options.learningRate ? options.learningRate(step) : 0;
    if (!(std::abs(rate) <= std::numeric_limits<float>::max()))
      return absl::InvalidArgumentError(
          absl::StrCat("step ", step, ": the learning rate must fit a 32-bit float, got ", rate));
    DS_RETURN_IF_ERROR(convertElements(ElementType::F64, &rate, elementTypeOf(port.type), buffer.data, 1));
  }
  return absl::OkStatus();
}

std::optional<double> Session::readScalar(const char *output) const {
  for (const auto &port : plan.outputs)
    if (port->name == output && port->shape.empty()) {
      double value = 0;
      const BufferView buffer = executor->buffer(port->buffer);
      if (convertElements(elementTypeOf(port->type), buffer.data, ElementType::F64, &value, 1).ok())
        return value;
    }
  return std::nullopt;
}

static bool hasInput(const plan::PlanT &plan, const char *name) {
  for (const auto &port : plan.inputs)
    if (port->name == name)
      return true;
  return false;
}

absl::Status Session::runStep(int64_t step) {
  const auto begin = Clock::now();
  job.showStep(step);
  DS_RETURN_IF_ERROR(feed(step));
  const FirstNonFinite before = options.executor.findsNonFinite ? findInMemory(memory()) : FirstNonFinite();
  DS_RETURN_IF_ERROR(executor->runStep());
  DS_RETURN_IF_ERROR(writeOutputs(step));
  StepRecord record;
  record.step = step;
  record.loss = readScalar("loss");
  record.gradientNorm = readScalar("grad_norm");
  if (options.executor.findsNonFinite && record.isBad())
    return reportFirst(record, before);
  if (rank != 0)
    return absl::OkStatus();
  if (options.learningRate && hasInput(plan, kLearningRateInput))
    record.learningRate = options.learningRate(step);
  record.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  events.onStep(record);
  if (hasInput(plan, kLearningRateInput))
    noteBadStep(record);
  return absl::OkStatus();
}

//===----------------------------------------------------------------------===//
// Numbers that are none
//===----------------------------------------------------------------------===//

/// The first bad step of a row is told; the log has all.
void Session::noteBadStep(const StepRecord &record) {
  badSteps.add(record);
  if (badSteps.inARow != 1)
    return;
  events.onNote(absl::StrCat("step ", record.step, ": ", describeBadNumbers(record),
                             options.stopAfterBadSteps > 0
                                 ? "; the step changed nothing"
                                 : "; \"model.stop_after_bad_steps\" is 0, so training goes on "
                                   "with what comes of it"));
}

/// The rank where the first number was found tells it; all ranks have the same loss and norm, and come here together.
absl::Status Session::reportFirst(const StepRecord &record, const FirstNonFinite &before) {
  FirstNonFinite first = executor->firstNonFinite();
  first.nan = before.nan ? before.nan : first.nan;
  first.infinity = before.infinity ? before.infinity : first.infinity;
  DS_ASSIGN_OR_RETURN(const int64_t teller, job.findLowest(placeOf(first)));
  if (rank != teller)
    return absl::CancelledError(absl::StrCat("rank ", teller, " tells where the number comes from"));
  return absl::Status(kNumericStop, absl::StrCat("rank ", rank, ", step ", record.step, ": ",
                                                 describeBadNumbers(record), "; ", describeFirst(first)));
}

/// The last update may have made weights infinite without any step that shows it. Nobody wants them in a file.
absl::Status Session::checkWeights(const std::set<plan::VariableRole> &roles) const {
  for (const auto &variable : plan.variables) {
    if (!variable->trainable || roles.count(variable->role) == 0)
      continue;
    const int64_t held = ownedElements(plan::layoutOf(plan, *variable->layout), variable->shape, mesh, rank);
    const NonFiniteCount found = countNonFinite(variable->type, executor->buffer(variable->buffer).data, held);
    if (found.nans + found.infinities > 0)
      return absl::Status(kNumericStop, absl::StrCat("variable '", variable->name, "' has ", found.nans, " NaN and ",
                                                     found.infinities, " infinite elements after step ",
                                                     executor->step() - 1, "; nothing is saved"));
  }
  return absl::OkStatus();
}

absl::StatusOr<SessionResult> Session::run() {
  SessionResult result;
  StepDecision decision = StepDecision::Run;
  for (; result.steps < options.steps; ++result.steps) {
    DS_ASSIGN_OR_RETURN(decision, job.decide(result.steps, hasDiverged()));
    if (decision != StepDecision::Run)
      break;
    DS_RETURN_IF_ERROR(runStep(result.steps));
  }
  result.wasStopped = decision == StepDecision::Stop;
  result.lastGoodStep = badSteps.lastGood;
  // A training that is too short for the row to be full is no better if no step of it was good.
  if (rank == 0 && (decision == StepDecision::Diverged ||
                    (options.stopAfterBadSteps > 0 && result.steps > 0 && badSteps.inARow == result.steps)))
    result.numericStop = badSteps.stop();
  if (!result.wasStopped) {
    DS_RETURN_IF_ERROR(save());
    DS_RETURN_IF_ERROR(writeProfile());
  }
  result.memory = memoryUse();
  return result;
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

/// A File of this rank's own on a descriptor that others share.
static absl::StatusOr<File> duplicate(int descriptor, const std::string &name) {
  const int copy = ::dup(descriptor);
  if (copy < 0)
    return absl::InternalError(absl::StrCat("descriptor ", descriptor, " of ", name, " must be open"));
  return File(copy, name);
}

/// numpy has no bfloat16, so such outputs become f32.
static ElementType outputType(plan::DataType type) {
  return type == plan::DataType::BF16 ? ElementType::F32 : elementTypeOf(type);
}

/// The bytes before the data of an output's file.
static std::string outputHeader(const plan::PortT &port, int64_t steps) {
  std::vector<int64_t> shape = {steps};
  shape.insert(shape.end(), port.shape.begin(), port.shape.end());
  return makeNumpyHeader(outputType(port.type), shape);
}

int64_t outputBytes(const plan::PortT &port, int64_t steps) {
  return static_cast<int64_t>(outputHeader(port, steps).size()) +
         steps * StoredTensor{outputType(port.type), port.shape, 0}.bytes();
}

absl::Status Session::beginOutputs() {
  for (const OutputRequest &request : options.outputs) {
    const plan::PortT &port = *plan.outputs[request.output];
    const std::string header = outputHeader(port, options.steps);
    DS_ASSIGN_OR_RETURN(File file, duplicate(request.descriptor, port.name));
    if (rank == 0)
      DS_RETURN_IF_ERROR(file.writeAt(0, header.data(), static_cast<int64_t>(header.size())));
    outputFiles.push_back(std::move(file));
    outputOffsets.push_back(static_cast<int64_t>(header.size()));
  }
  return absl::OkStatus();
}

absl::Status Session::writeOutputs(int64_t step) {
  for (size_t i = 0; i < options.outputs.size(); ++i) {
    const plan::PortT &port = *plan.outputs[options.outputs[i].output];
    StoredTensor stored{outputType(port.type), port.shape, 0};
    stored.offset = outputOffsets[i] + step * stored.bytes();
    const HeldTensor held{plan::layoutOf(plan, *port.layout), port.shape, elementTypeOf(port.type),
                          executor->buffer(port.buffer)};
    DS_RETURN_IF_ERROR(writeHeld(outputFiles[i], stored, mesh, rank, held));
  }
  return absl::OkStatus();
}

absl::Status Session::writeProfile() {
  if (rank != 0 || options.profileDescriptor < 0)
    return absl::OkStatus();
  DS_ASSIGN_OR_RETURN(File file, duplicate(options.profileDescriptor, "the profile"));
  const std::string text = traceText(plan, executor->timings());
  return file.writeAt(0, text.data(), static_cast<int64_t>(text.size()));
}

absl::Status Session::save() {
  if (!options.saves.empty())
    DS_RETURN_IF_ERROR(job.meet()); // each reads what all have
  for (const SaveRequest &request : options.saves) {
    DS_RETURN_IF_ERROR(checkWeights(request.roles));
    DS_ASSIGN_OR_RETURN(const File file, duplicate(request.descriptor, "saved variables"));
    DS_RETURN_IF_ERROR(saveVariables(memory(), request.roles, file));
  }
  return absl::OkStatus();
}

absl::StatusOr<SessionResult> runSession(const plan::PlanT &plan, Job &job, const SessionOptions &options,
                                         SessionEvents &events) {
  Session session(plan, job, options, events);
  DS_RETURN_IF_ERROR(session.prepare());
  return session.run();
}

} // namespace ds::runtime
