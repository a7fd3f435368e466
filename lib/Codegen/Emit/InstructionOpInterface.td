// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DS_LIB_CODEGEN_EMIT_INSTRUCTIONOPINTERFACE
#define DS_LIB_CODEGEN_EMIT_INSTRUCTIONOPINTERFACE

include "mlir/IR/OpBase.td"

def InstructionOpInterface : OpInterface<"InstructionOpInterface"> {
  let cppNamespace = "::ds";
  let description = [{
    An op that a scheduled step may have. Its models are attached by families of ops (Instructions.h), so that the dialect
    knows nothing of plans.
  }];
  let methods = [
    InterfaceMethod<[{
      Adds the instructions of the op, none or several, to the plan of `emitter`. Fails with an error on the op if the
      plan has none for it.
    }], "::llvm::LogicalResult", "emitInstructions", (ins "::ds::InstructionEmitter &":$emitter)>
  ];
}

#endif // DS_LIB_CODEGEN_EMIT_INSTRUCTIONOPINTERFACE
