// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// What can be known of a model's inputs before it is compiled.

#ifndef DS_LIB_DRIVER_INPUTCHECKS_H
#define DS_LIB_DRIVER_INPUTCHECKS_H

#include "ds/Config/TrainingConfig.h"
#include "ds/Import/Onnx.h"
#include "ds/Plan/Plan.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ds {

/// The inputs of the step that will be made of `forward`, as in its plan: those of the graph with dim 0 `parts` times
/// as long, and the labels if `loss` is attached to logits that the graph has.
std::vector<std::unique_ptr<plan::PortT>> inputsOfStep(mlir::func::FuncOp forward, const LossConfig &loss,
                                                       int64_t parts);

/// Fails with what is wrong in the data at `data` (empty: there are none), if that is why the dims of `inputs` have no
/// sizes.
absl::Status checkOpenInputs(const std::vector<OpenInput> &inputs, const std::string &data);

/// Fails unless some input of `forward` has the samples of one part of `batch` in dim 0.
absl::Status checkBatch(mlir::func::FuncOp forward, const Batch &batch);

/// Fails unless the data at `path` (empty: none) are there for all `inputs`, with their types and shapes.
absl::Status checkData(std::vector<std::unique_ptr<plan::PortT>> inputs, const std::string &path,
                       const std::string &tokenType);

} // namespace ds

#endif // DS_LIB_DRIVER_INPUTCHECKS_H
