// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "PreparedRun.h"

#include "ds/Runtime/StatusMacros.h"

#include "absl/strings/str_cat.h"

namespace ds {

static absl::Status checkConfig(const CheckConfigOptions &options) {
  DS_ASSIGN_OR_RETURN(const TrainingConfig config, loadTrainingConfig(options.config));
  DS_ASSIGN_OR_RETURN(const Batch batch, resolveBatch(config, options.ranks));
  if (options.printsAll)
    std::printf("%s\n", printTrainingConfig(config).c_str());
  else
    std::printf("%s\n",
                absl::StrCat(options.config, ": ok; ZeRO stage ", config.zero.stage, ", ", batch.train,
                             " samples per step in ", batch.accumulation, batch.accumulation == 1 ? " part" : " parts",
                             " on ", options.ranks, options.ranks == 1 ? " rank" : " ranks", ", learning rate ",
                             learningRateAt(config, 0), " at step 0")
                    .c_str());
  for (const std::string &key : config.keysWithoutEffect)
    printMessage(absl::StrCat("note: ", key, " is accepted and has no effect"));
  noteDefaultClipping(config);
  return absl::OkStatus();
}

int runCheckConfig(const CheckConfigOptions &options) {
  const absl::Status status = checkConfig(options);
  return status.ok() ? kExitOk : reportError(status);
}

} // namespace ds
