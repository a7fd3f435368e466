// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Plans of models, made by ds-compile and kept.

#ifndef DS_TOOLS_DS_RUN_COMPILECACHE_H
#define DS_TOOLS_DS_RUN_COMPILECACHE_H

#include "absl/status/statusor.h"

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
  std::string planOut;            ///< where the plan shall be; empty: in the cache
  std::string data, tokenType;    ///< what the compiler checks against the model; the plan does not depend on it
};

struct CompileResult {
  int exitCode = 0; ///< of ds-compile, whose message has been printed if it is not 0
  std::string plan; ///< path
  bool wasCached = false;
};

/// Whether the file at `path` begins like a plan.
bool isPlanFile(const std::string &path);

/// Compiles a model with the ds-compile beside this program, unless the cache has the plan: below
/// $XDG_CACHE_HOME/ds-mlir (or ~/.cache/ds-mlir), by a hash of the contents of model and config, the flags, and
/// ds-compile itself.
absl::StatusOr<CompileResult> compileModel(const CompileRequest &request);

/// 32 hexadecimal digits that depend on every byte of `bytes`; not for security.
class ContentHash {
public:
  void add(const std::string &bytes);
  /// Adds a file's content.
  absl::Status addFile(const std::string &path);
  std::string hex() const;

private:
  void addWord(uint64_t word);
  uint64_t low = 0x9E3779B97F4A7C15, high = 0xC2B2AE3D27D4EB4F;
};

} // namespace ds

#endif // DS_TOOLS_DS_RUN_COMPILECACHE_H
