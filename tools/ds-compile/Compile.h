// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// The steps from a model file to a plan file.

#ifndef DS_TOOLS_COMPILE_H
#define DS_TOOLS_COMPILE_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ds {

/// The command line of ds-compile; see its --help.
struct CompileOptions {
  std::string modelPath, configPath, outputPath, emit, cpu, machine;
  std::string kernelCache;              ///< folder of compiled kernels; empty: none
  std::vector<std::string> axes;        ///< name=size, major first
  std::vector<std::string> layouts;     ///< name=layout
  std::vector<std::string> dims;        ///< name=size
  std::vector<std::string> inputShapes; ///< name=8x32
  std::optional<std::string> data;      ///< what the plan will be run on; empty: nothing; none: unknown
  std::string tokenType;                ///< of `data` if it is a file of tokens: uint16, uint32; empty: by its name
  int64_t zeroStage = -1;               ///< -1: the config's
  bool isInference = false;
  uint64_t memoryBudget = 0; ///< bytes; 0: none
  bool isQuiet = false;      ///< prints errors only
  bool printTiming = false, printRemarks = false, checkEachPass = false;
  double checkTolerance = 0; ///< for checkEachPass, see CheckEachPassOptions
};

/// Compiles and writes what `options.emit` asks for. Prints errors; returns the exit code.
int compile(const CompileOptions &options);

} // namespace ds

#endif // DS_TOOLS_COMPILE_H
