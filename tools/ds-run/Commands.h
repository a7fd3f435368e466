// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// The commands of ds-run. Each returns the process's exit code, having said why if it is not 0.

#ifndef DS_TOOLS_DS_RUN_COMMANDS_H
#define DS_TOOLS_DS_RUN_COMMANDS_H

#include <cstdint>
#include <string>
#include <vector>

namespace ds {

/// Options that training and inference share.
struct RunOptions {
  std::string program; ///< a plan or a model
  std::string config;  ///< path of the ds_config.json; empty: the plan's own
  std::string data;
  std::string tokenType;   ///< uint16 or uint32; empty: by the file's name
  std::string modelFolder; ///< of a plan's initial values; empty: the program's folder
  std::string loadModel;
  std::string planOut;
  int64_t ranks = 0;            ///< 0: the plan's; 1 for a model
  int64_t steps = 0;            ///< 0: as many as the data has
  int threads = 0;              ///< per rank; 0: all cores shared by the ranks
  std::string binding = "auto"; ///< auto, cores, none
  double timeoutSeconds = 120;
  bool isQuiet = false;
  std::string report; ///< file for Progress::report
  std::vector<std::string> compilerFlags;
};

struct TrainOptions : RunOptions {
  std::string log;
  std::string saveModel;
  std::string profile;            ///< file for a trace of the last step
  std::vector<std::string> dumps; ///< ROLE=FILE
  bool findsNan = false;          ///< looks at each result until the first step whose numbers are not finite
  int64_t stepsPerPrint = 0;      ///< 0: the config's
};

struct InferOptions : RunOptions {
  std::string output; ///< folder
};

int runTrain(const TrainOptions &options);
int runInfer(const InferOptions &options);

struct InspectOptions {
  std::string plan;
  bool asJson = false;
  int threads = 0; ///< per rank, of the run whose memory is told; 0: as RunOptions
};
int runInspect(const InspectOptions &options);

struct CheckConfigOptions {
  std::string config;
  int64_t ranks = 1;
  bool printsAll = false;
};
int runCheckConfig(const CheckConfigOptions &options);

struct BenchMachineOptions {
  std::string output; ///< machine file
  bool isQuiet = false;
};
/// Must be called before the process has a second thread.
int runBenchMachine(const BenchMachineOptions &options);

} // namespace ds

#endif // DS_TOOLS_DS_RUN_COMMANDS_H
