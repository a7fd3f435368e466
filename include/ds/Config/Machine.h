// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// What predicted times are computed from: a few constants of a machine.

#ifndef DS_CONFIG_MACHINE_H
#define DS_CONFIG_MACHINE_H

#include "absl/status/statusor.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace ds {

/// A machine whose ranks share its cores and memory. All numbers are positive.
struct Machine {
  std::string name;
  int64_t cores = 0;
  double matmulFlopsPerCore = 0;   ///< per second, f32, large matrices
  double elementOpsPerCore = 0;    ///< cheap elementwise operations in kernels per second, f32
  double memoryBytesPerSecond = 0; ///< all cores together
  double callSeconds = 0;          ///< to begin an instruction
  double linkSeconds = 0;          ///< latency of one step of a collective
  double linkBytesPerSecond = 0;   ///< what a rank receives
};

/// The speed of one of `ranks` ranks that share the machine: its part of the cores and of the memory's bandwidth. More
/// ranks than cores share each core.
Machine shareOf(const Machine &machine, int64_t ranks);

/// A preset ("cpu") by its name, or the JSON file at that path. Fails with InvalidArgument; what is neither is told
/// with the names of the presets.
absl::StatusOr<Machine> findMachine(std::string_view nameOrPath);

/// Reads the JSON of a machine file: an object with every key of docs/machines.md once. `fileName` is for messages.
absl::StatusOr<Machine> parseMachine(std::string_view text, std::string_view fileName);

/// The machine as the JSON of a machine file.
std::string printMachine(const Machine &machine);

} // namespace ds

#endif // DS_CONFIG_MACHINE_H
