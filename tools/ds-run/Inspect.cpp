// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "PreparedRun.h"

#include "ds/Plan/Check.h"
#include "ds/Plan/Inspect.h"
#include "ds/Runtime/LibraryMemory.h"
#include "ds/Runtime/StatusMacros.h"

#include "ds/Config/EscapeControls.h"

#include "absl/strings/str_cat.h"

namespace ds {

/// What a run takes beside its arenas, as rank 0 would on this machine.
static std::string describeLibraries(const plan::PlanT &plan, int threads) {
  const absl::StatusOr<size_t> bytes = runtime::libraryBytes(plan, 0, threads);
  if (!bytes.ok())
    return absl::StrCat("beside it  not known on this machine: ", std::string(bytes.status().message()), "\n");
  return absl::StrCat("beside it  ", plan::formatBytes(*bytes), " for packed operands and what oneDNN works in, with ",
                      threads, threads == 1 ? " thread" : " threads", " on this machine\n");
}

static absl::Status inspect(const InspectOptions &options) {
  DS_ASSIGN_OR_RETURN(const std::unique_ptr<plan::PlanT> plan, plan::loadPlan(options.plan));
  DS_RETURN_IF_ERROR(plan::check(*plan));
  const int threads = threadsPerRank(options.threads, plan::meshOf(*plan).numRanks());
  const std::string text = options.asJson
                               ? plan::planAsJson(*plan)
                               : escapeControls(plan::describePlan(*plan, describeLibraries(*plan, threads)));
  std::fwrite(text.data(), 1, text.size(), stdout);
  if (text.empty() || text.back() != '\n')
    std::fputc('\n', stdout);
  return absl::OkStatus();
}

int runInspect(const InspectOptions &options) {
  const absl::Status status = inspect(options);
  return status.ok() ? kExitOk : reportError(status);
}

} // namespace ds
