// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "PreparedRun.h"

#include "ds/Plan/Check.h"
#include "ds/Plan/Inspect.h"
#include "ds/Runtime/StatusMacros.h"

namespace ds {

static absl::Status inspect(const InspectOptions &options) {
  DS_ASSIGN_OR_RETURN(const std::unique_ptr<plan::PlanT> plan, plan::loadPlan(options.plan));
  DS_RETURN_IF_ERROR(plan::check(*plan));
  const std::string text = options.asJson ? plan::planAsJson(*plan) : plan::describePlan(*plan);
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
