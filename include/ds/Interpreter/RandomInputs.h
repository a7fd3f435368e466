// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Random values for the inputs and variables of a function.

#ifndef DS_INTERPRETER_RANDOM_INPUTS_H
#define DS_INTERPRETER_RANDOM_INPUTS_H

#include "ds/Interpreter/Interpreter.h"

namespace ds {

struct RandomInputs {
  TensorMap inputs;    ///< by argument name
  TensorMap variables; ///< by name, all of the functions' modules
};

/// Random inputs that fit all of `functions`, which may be one function in several forms. An input or variable depends on its
/// name, `seed`, shape and range alone. Floats are in [-1, 1], weights smaller the wider they are, optimizer states positive.
/// Integers that index (rows of a table, classes) stay in range; labels are sometimes the ignored one; others are 0 or 1.
RandomInputs randomInputs(llvm::ArrayRef<mlir::func::FuncOp> functions, uint64_t seed);

} // namespace ds

#endif // DS_INTERPRETER_RANDOM_INPUTS_H
