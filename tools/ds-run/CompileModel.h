// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Plans of models, made by the ds-compile beside this program.

#ifndef DS_TOOLS_DS_RUN_COMPILEMODEL_H
#define DS_TOOLS_DS_RUN_COMPILEMODEL_H

#include "ds/Files/File.h"

#include <string>
#include <vector>

namespace ds {

/// What to compile.
struct CompileRequest {
  std::string model;
  std::string config; ///< path of the ds_config.json; empty: none
  int64_t ranks = 1;
  std::vector<std::string> flags; ///< more flags of ds-compile
  bool isQuiet = false;           ///< prints errors only
  std::string planOut;            ///< where the plan shall be kept; empty: in the cache
  std::string data, tokenType;    ///< what the compiler checks against the model; the plan does not depend on it
};

struct CompileResult {
  int exitCode = 0; ///< of ds-compile, whose message has been printed if it is not 0
  File plan;        ///< if it is 0
};

/// Whether the file at `path` begins like a plan.
bool isPlanFile(const std::string &path);

/// Has the model compiled. ds-compile knows what a plan is made from, so it keeps the plans as well: below
/// $XDG_CACHE_HOME/ds-mlir (or ~/.cache/ds-mlir). The plan comes as a file in memory, which nobody else can change.
absl::StatusOr<CompileResult> compileModel(const CompileRequest &request);

/// Has the model compiled that machines are measured with.
absl::StatusOr<CompileResult> compileMachineProbe();

} // namespace ds

#endif // DS_TOOLS_DS_RUN_COMPILEMODEL_H
