// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Runs ds IR of any stage on N virtual ranks in one process, slowly and obviously right.

#ifndef DS_INTERPRETER_INTERPRETER_H
#define DS_INTERPRETER_INTERPRETER_H

#include "ds/Interpreter/DistributedTensor.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

#include <memory>

namespace ds {

/// What every float result is rounded to.
enum class Rounding : uint8_t {
  None,    ///< stays a double
  Float32, ///< f32, whatever its type
  Storage, ///< its own element type
};

struct InterpreterOptions {
  uint64_t seed = 0;        ///< of the random summands of partial inputs
  std::optional<Mesh> mesh; ///< in place of the module's; must have its axes
  Rounding rounding = Rounding::None;
  std::string modelFolder; ///< file ranges of variables are relative to it
};

struct FunctionResult {
  std::string name;       ///< the result's ds.name, else "result" and its number
  std::string gradientOf; ///< the variable of ds.gradient, or empty
  DenseTensor value;
};

struct FunctionRun {
  std::vector<FunctionResult> results;
  TensorMap assigned; ///< what ds.assign gave, by variable
};

/// The name of argument `number`: its ds.name, else "arg" and the number.
std::string argumentName(mlir::func::FuncOp function, unsigned number);
/// The name of result `number`: its ds.name, else "result" and the number.
std::string resultName(mlir::func::FuncOp function, unsigned number);

/// Whether the interpreter can compute ops of this name (control, variables and casts aside).
bool hasSemantics(mlir::OperationName name);

/// Interprets the functions of one module. Every value is one local tensor per rank: the valid extent that its type's
/// layout gives the rank. Compute ops run on each rank's local tensors; casts follow their definition. All floats are
/// doubles. After each op copies on different ranks must have equal bits. Errors are diagnostics at the op.
class Interpreter {
public:
  explicit Interpreter(mlir::ModuleOp module, InterpreterOptions options = {});
  ~Interpreter();

  const Mesh &mesh() const;

  /// Sets a variable. Others start as their `initial`, or as zeros.
  void setVariable(llvm::StringRef name, DenseTensor value);
  /// The current value of a variable.
  mlir::FailureOr<DenseTensor> variable(llvm::StringRef name);

  /// Runs `function` on global inputs by argument name. Variables keep their values; see `commit`.
  mlir::FailureOr<FunctionRun> run(mlir::func::FuncOp function, const TensorMap &inputs);
  /// Makes the assigned values the variables' values, as at the end of a step.
  void commit(const FunctionRun &run);

private:
  class Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace ds

#endif // DS_INTERPRETER_INTERPRETER_H
