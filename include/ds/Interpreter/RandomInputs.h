// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Random values for the inputs and variables of a function.

#ifndef DS_INTERPRETER_RANDOM_INPUTS_H
#define DS_INTERPRETER_RANDOM_INPUTS_H

#include "ds/Dialect/IntSet.h"
#include "ds/Interpreter/Interpreter.h"

namespace ds {

struct RandomInputs {
  TensorMap inputs;    ///< by argument name
  TensorMap variables; ///< by name, all of the functions' modules
};

/// By name of an input, or `@` and the name of a variable.
using IntSets = std::map<std::string, IntSet>;

/// Narrows `sets` by the likely uses of the integer inputs and variables of `function`.
void narrowIntSets(mlir::func::FuncOp function, IntSets &sets);

/// Random inputs that fit all of `functions`, which may be one function in several forms. An input or variable depends
/// on its name, `seed`, shape and range alone. Floats are in [-1, 1], weights smaller the wider they are, optimizer
/// states positive. Integers stay in `sets` (labels are sometimes the ignored one), others are 0 or 1.
RandomInputs randomInputs(llvm::ArrayRef<mlir::func::FuncOp> functions, uint64_t seed, const IntSets &sets);
/// The same with the sets that `functions` show.
RandomInputs randomInputs(llvm::ArrayRef<mlir::func::FuncOp> functions, uint64_t seed);

} // namespace ds

#endif // DS_INTERPRETER_RANDOM_INPUTS_H
