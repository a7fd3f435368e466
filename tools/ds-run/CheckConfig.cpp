// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "PreparedRun.h"

#include "ds/Runtime/StatusMacros.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace ds {

static absl::Status checkConfig(const CheckConfigOptions &options) {
  DS_ASSIGN_OR_RETURN(const TrainingConfig config, loadTrainingConfig(options.config));
  DS_ASSIGN_OR_RETURN(const Batch batch, resolveBatch(config, options.ranks));
  if (options.printsAll)
    std::printf("%s\n", printTrainingConfig(config).c_str());
  else
    absl::PrintF("%s: ok; ZeRO stage %d, %d samples per step in %d %s on %d %s, learning rate %g at step 0\n",
                 options.config, config.zero.stage, batch.train, batch.accumulation,
                 batch.accumulation == 1 ? "part" : "parts", options.ranks, options.ranks == 1 ? "rank" : "ranks",
                 learningRateAt(config, 0));
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
