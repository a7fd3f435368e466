// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// How the instructions of ops are written: one function per op, attached as an external model of
/// `InstructionOpInterface`. One file per family of ops.

#ifndef DS_LIB_CODEGEN_EMIT_INSTRUCTIONS_H
#define DS_LIB_CODEGEN_EMIT_INSTRUCTIONS_H

#include "InstructionEmitter.h"

namespace ds {

/// The external model whose rule is a function.
template <typename OpT, llvm::LogicalResult (*rule)(OpT, InstructionEmitter &)>
struct InstructionModel : InstructionOpInterface::ExternalModel<InstructionModel<OpT, rule>, OpT> {
  llvm::LogicalResult emitInstructions(mlir::Operation *op, InstructionEmitter &emitter) const {
    return rule(llvm::cast<OpT>(op), emitter);
  }
};

template <typename OpT, llvm::LogicalResult (*rule)(OpT, InstructionEmitter &)>
void attachInstructions(mlir::MLIRContext *context) {
  OpT::template attachInterface<InstructionModel<OpT, rule>>(*context);
}

void attachCastInstructions(mlir::MLIRContext *context);
void attachKernelInstructions(mlir::MLIRContext *context);
void attachLibraryInstructions(mlir::MLIRContext *context);
void attachMovementInstructions(mlir::MLIRContext *context);
/// Also those of other dialects, which must be loaded.
void attachStructureInstructions(mlir::MLIRContext *context);

} // namespace ds

#endif // DS_LIB_CODEGEN_EMIT_INSTRUCTIONS_H
