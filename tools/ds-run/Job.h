// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// What the launcher tells its ranks, and the messages that they send back: one line of JSON each.

#ifndef DS_TOOLS_DS_RUN_JOB_H
#define DS_TOOLS_DS_RUN_JOB_H

#include "ds/Runtime/Session/Session.h"

#include "nlohmann/json.hpp"

namespace ds {

/// A job as the ranks see it. Descriptors are inherited under the same numbers.
struct Job {
  int launcher = 0;                    ///< process id: a rank whose parent is another one is an orphan
  int planDescriptor = -1;             ///< the plan's file
  int sharedDescriptor = -1;           ///< runtime::SharedJob
  std::vector<int> messageDescriptors; ///< by rank: where its messages go
  std::string planName;                ///< for messages
  std::string fingerprint;             ///< of the plan that the launcher has read
  std::string config;                  ///< text of the ds_config.json; empty: no learning rate
  std::string configName;
  std::string modelFolder, dataPath, tokenType, loadModel;
  int64_t steps = 1;
  int threads = 1;
  std::vector<int> cores; ///< rank r is bound to those from r * threads on, `threads` of them; empty: not bound
  int64_t timeoutMs = 0;
  struct Save {
    std::vector<int> roles; ///< plan::VariableRole
    int descriptor = -1;
  };
  std::vector<Save> saves;
  struct Output {
    int64_t output = 0;
    int descriptor = -1;
  };
  std::vector<Output> outputs;
  bool findsNan = false;      ///< ExecutorOptions::findsNonFinite
  int profileDescriptor = -1; ///< where rank 0 writes a trace of the last step; -1: nowhere
};

std::string writeJob(const Job &job);
/// Reads what writeJob wrote.
absl::StatusOr<Job> readJob(const std::string &text);

/// A message of a rank.
struct Message {
  enum class Kind { Ready, Step, Note, Error, Done };
  Kind kind = Kind::Note;
  std::string text;                              ///< Note, Error, Done with a code
  absl::StatusCode code = absl::StatusCode::kOk; ///< Error; Done: of SessionResult::numericStop
  runtime::MemoryUse memory;                     ///< Ready, Done
  runtime::StepRecord step;                      ///< Step
  int64_t steps = 0;                             ///< Done: how many
  int64_t lastGoodStep = -1;                     ///< Done
  bool wasStopped = false;                       ///< Done
};

/// The message as one line with its newline.
std::string writeMessage(const Message &message);
/// Reads a line; nothing if it is none.
std::optional<Message> readMessage(const std::string &line);

} // namespace ds

#endif // DS_TOOLS_DS_RUN_JOB_H
