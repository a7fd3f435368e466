// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// What a compilation is asked for, and all that makes its plan.

#ifndef DS_DRIVER_COMPILEINPUTS_H
#define DS_DRIVER_COMPILEINPUTS_H

#include "ds/Driver/Stage.h"

#include "absl/status/statusor.h"

#include <cstdint>
#include <vector>

namespace ds {

/// What the user asks for; see `ds-compile --help`.
struct CompileOptions {
  std::string modelPath;
  std::string configPath;      ///< empty: none
  bool isMachineProbe = false; ///< compiles the model that machines are measured with, and its recipe, instead of these
  Stage stage = Stage::Plan;
  std::vector<std::string> axes = {"dp=1"}; ///< name=size, major first
  std::vector<std::string> layouts;         ///< name=layout
  std::vector<std::string> dims;            ///< name=size
  std::vector<std::string> inputShapes;     ///< name=8x32
  int64_t zeroStage = -1;                   ///< -1: the config's
  bool isInference = false;
  uint64_t memoryBudget = 0;   ///< bytes; 0: none
  std::string cpu = "native";  ///< as CpuOptions::cpu
  std::string machine = "cpu"; ///< as findMachine takes it

  // Nothing from here on changes the plan.
  std::optional<std::string> data; ///< what the plan will be run on; empty: nothing; none: unknown
  std::string tokenType;           ///< of `data` if it is a file of tokens: uint16, uint32; empty: by its name
  std::string kernelCache;         ///< folder of compiled kernels; empty: none
  bool explains = false;           ///< tells the passes' remarks
  bool checkEachPass = false;
  double checkTolerance = 1e-12; ///< for checkEachPass, see CheckEachPassOptions
};

/// Everything that makes a plan, read before the work begins: compilations of equal inputs give equal bytes.
struct CompileInputs {
  /// A file of the model and what is in it.
  struct ModelFile {
    std::string path; ///< relative to the model's folder
    int64_t bytes = 0;
    std::string hash; ///< of ContentHash
  };

  std::string compiler;         ///< the build of the compiler and of its libraries; empty if that cannot be told
  std::string target;           ///< the CPU and its features
  std::vector<ModelFile> files; ///< the model, then its external data by name
  std::string config;           ///< text of the ds_config.json
  std::string machine;          ///< its constants
  std::vector<std::string> axes, layouts, dims, inputShapes;
  int64_t zeroStage = -1;
  bool isInference = false;
  uint64_t memoryBudget = 0;

  /// The digest of all of this. Equal keys mean equal plans, unless `compiler` is empty.
  std::string key() const;
};

/// Reads what `options` name. Fails with InvalidArgument on a file that cannot be read, and on a machine that is none;
/// with Unimplemented on a CPU that is not known. What is in model and config is not looked at.
absl::StatusOr<CompileInputs> readInputs(const CompileOptions &options);

} // namespace ds

#endif // DS_DRIVER_COMPILEINPUTS_H
