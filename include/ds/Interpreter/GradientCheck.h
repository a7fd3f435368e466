// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Gradients against finite differences, in float64.

#ifndef DS_INTERPRETER_GRADIENT_CHECK_H
#define DS_INTERPRETER_GRADIENT_CHECK_H

#include "ds/Interpreter/Interpreter.h"

namespace ds {

struct GradientCheckOptions {
  double step = 1e-5;   ///< of the central difference
  unsigned entries = 8; ///< random entries looked at per variable; all if it has no more
  uint64_t seed = 0;    ///< of inputs and entries
};

struct GradientError {
  std::string variable;
  /// The largest difference, relative to the gradient's largest entry or 1e-3 of the largest entry of all gradients.
  double error;
};

/// Compares the gradients that `gradients` returns (results with ds.gradient) with central differences of the first
/// scalar float result of `scalar`, on random inputs; the two may be one function, or in different modules. Per
/// variable some entries and one random direction are looked at. Fails with a diagnostic if a function cannot be
/// interpreted or there is no scalar or gradient.
mlir::FailureOr<std::vector<GradientError>> checkGradients(mlir::func::FuncOp scalar, mlir::func::FuncOp gradients,
                                                           const GradientCheckOptions &options = {});

} // namespace ds

#endif // DS_INTERPRETER_GRADIENT_CHECK_H
