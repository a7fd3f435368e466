// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Whether labels are what the recipe takes them for.

#ifndef DS_TOOLS_DS_RUN_LABELCHECKS_H
#define DS_TOOLS_DS_RUN_LABELCHECKS_H

#include "ds/Config/TrainingConfig.h"
#include "ds/Plan/Plan.h"

namespace ds {

/// Fails if the loss shifts labels that are the next tokens already: those of a file of tokens, and labels.npy whose
/// first step says so. The model would learn the token after the next one. `data` has been opened for `plan`.
absl::Status checkShift(const LossConfig &loss, const plan::PlanT &plan, const std::string &data);

} // namespace ds

#endif // DS_TOOLS_DS_RUN_LABELCHECKS_H
