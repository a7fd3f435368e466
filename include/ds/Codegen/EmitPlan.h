// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// From a scheduled step to a plan.

#ifndef DS_CODEGEN_EMITPLAN_H
#define DS_CODEGEN_EMITPLAN_H

#include "ds/Codegen/KernelCompiler.h"
#include "ds/Plan/Plan.h"

#include "mlir/Support/Timing.h"

namespace ds {

struct EmitOptions {
  std::string function = "step";            ///< which function of the module
  std::string config;                       ///< the ds_config.json as given, kept in the plan
  std::string key;                          ///< of all that the plan is made from
  std::vector<plan::ModelFileT> modelFiles; ///< what is in the files that variables begin with, and maybe in others
};

/// Emits the plan of `module`, which has passed all stages up to `ds-assign-arena`, with the machine code of `kernels`.
/// Fails with an error on the op that cannot be emitted. The parts are timed under `timing`.
mlir::FailureOr<std::unique_ptr<plan::PlanT>> emitPlan(mlir::ModuleOp module, KernelCompiler &kernels,
                                                       const EmitOptions &options, mlir::TimingScope timing = {});

/// Lets contexts with the registry emit the ops of a scheduled step.
void registerInstructionModels(mlir::DialectRegistry &registry);

/// The plan's name of an element type; index is I64.
plan::DataType dataTypeOf(mlir::Type element);

} // namespace ds

#endif // DS_CODEGEN_EMITPLAN_H
