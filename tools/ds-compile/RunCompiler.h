// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// One compilation, from the files that are named to the file that is asked for.

#ifndef DS_TOOLS_DS_COMPILE_RUNCOMPILER_H
#define DS_TOOLS_DS_COMPILE_RUNCOMPILER_H

#include "ds/Driver/Compile.h"

namespace ds {

/// What is done with the result, and what is said.
struct ToolOptions {
  std::string output;    ///< path; empty: standard output, which a plan cannot go to
  std::string planCache; ///< folder in which plans are kept; empty: none
  bool isQuiet = false;  ///< prints errors only
  bool printsTiming = false;
  std::function<mlir::LogicalResult(mlir::OpPassManager &)> addPasses; ///< as CompileHooks
};

/// Compiles, or takes the plan from the cache, and writes the result. Prints what there is to say; returns the exit
/// code.
int runCompiler(const CompileOptions &options, const ToolOptions &tool);

/// Compiles for the sake of what goes wrong: keeps in `reproducer` what would repeat it, and writes nothing else.
int repeatDefect(const CompileOptions &options, const ToolOptions &tool, const File &reproducer);

} // namespace ds

#endif // DS_TOOLS_DS_COMPILE_RUNCOMPILER_H
