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

/// Which integers a value may have.
struct IdRange {
  std::optional<int64_t> size;    ///< in [0, size)
  std::optional<int64_t> ignored; ///< or this one
};
/// By name of an input, or `@` and the name of a variable.
using IdRanges = std::map<std::string, IdRange>;

/// Narrows `ranges` by the uses of the integer inputs and variables of `function`: as rows of a table, classes,
/// elements.
void findIdRanges(mlir::func::FuncOp function, IdRanges &ranges);

/// Random inputs that fit all of `functions`, which may be one function in several forms. An input or variable depends
/// on its name, `seed`, shape and range alone. Floats are in [-1, 1], weights smaller the wider they are, optimizer
/// states positive. Integers stay in `ranges` (labels are sometimes the ignored one), others are 0 or 1.
RandomInputs randomInputs(llvm::ArrayRef<mlir::func::FuncOp> functions, uint64_t seed, const IdRanges &ranges);
/// The same with the ranges that `functions` show.
RandomInputs randomInputs(llvm::ArrayRef<mlir::func::FuncOp> functions, uint64_t seed);

} // namespace ds

#endif // DS_INTERPRETER_RANDOM_INPUTS_H
