// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Which tensors of a model are trained: what the config says, what was assumed, and what to tell the user.

#ifndef DS_LIB_DRIVER_TRAINEDTENSORS_H
#define DS_LIB_DRIVER_TRAINEDTENSORS_H

#include "ds/Config/TrainingConfig.h"
#include "ds/Import/Onnx.h"
#include "ds/Import/TiedParameters.h"

#include "mlir/IR/BuiltinOps.h"

namespace ds {

/// What "model.parameters" and "model.buffers" say of a name, for ImportOptions.
std::function<std::optional<TensorRole>(llvm::StringRef)> findRoleBy(const ModelConfig &model);

/// Fails unless every expression of "model.parameters" and "model.buffers" matches a tensor, and none the same one.
absl::Status checkRoles(const ModelConfig &model, const std::vector<std::string> &tensors);

/// Of the parameters, in the order of their declarations.
std::vector<std::string> parameterNames(mlir::ModuleOp module);

/// Ties parameters of `module` as "model.tied" says, or as the file shows if the key is absent.
absl::StatusOr<Ties> tieParameters(mlir::ModuleOp module, const ModelConfig &model, llvm::StringRef modelFolder);

/// The warning on a file whose exporter has merged or renamed parameters, and the note on all that was assumed; empty
/// where there is nothing to say.
std::string warnOfExporter(const ImportedModel &model);
std::string noteAssumptions(const ImportedModel &model, const Ties &ties);

} // namespace ds

#endif // DS_LIB_DRIVER_TRAINEDTENSORS_H
