// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Whether a model has the loss that the recipe names, and something that this loss trains.

#ifndef DS_LIB_DRIVER_LOSSCHECKS_H
#define DS_LIB_DRIVER_LOSSCHECKS_H

#include "ds/Config/TrainingConfig.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ds {

/// Fails unless "model.loss" names an output of `forward`: logits, or one float that can be averaged as
/// "model.loss.mean" says. `model` and `config` are the files' names, for messages.
absl::Status checkLoss(mlir::func::FuncOp forward, const LossConfig &loss, const std::string &model,
                       const std::string &config);

/// Fails unless "model.frozen" matches parameters and the loss, or the logits, depends on one that it leaves.
absl::Status checkTrainable(mlir::ModuleOp module, const ModelConfig &model);

} // namespace ds

#endif // DS_LIB_DRIVER_LOSSCHECKS_H
