// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// What predicted times are computed from: the work of an op, and a few constants of a machine.

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
  double matmulFlopsPerCore = 0;    ///< per second, f32
  double attentionFlopsPerCore = 0; ///< the same, of products in a fused attention
  double elementOpsPerCore = 0;     ///< operations on elements in kernels per second, f32
  double memoryBytesPerSecond = 0;  ///< all cores together
  double callSeconds = 0;           ///< to begin an instruction
  double linkSeconds = 0;           ///< latency of one step of a collective
  double linkBytesPerSecond = 0;    ///< what a rank receives
};

/// What one execution of an op asks of the rank that has most to do.
struct Work {
  double matmulFlops = 0;
  double attentionFlops = 0; ///< of the blocks that are visited
  double elementOps = 0;     ///< operations of kernels on single elements; a polynomial counts all of its own
  double bytes = 0;          ///< of memory that are read and written, each tensor once
  double parts = 0;          ///< how many cores can share the arithmetic; 0: any number
  double linkRounds = 0;     ///< steps of a collective, one after the other
  double linkBytes = 0;      ///< that the rank receives
};

/// A number of `Work` and its name.
struct WorkField {
  const char *name;
  double Work::*place;
};
inline constexpr WorkField kWorkFields[] = {
    {"matmul_flops", &Work::matmulFlops},
    {"attention_flops", &Work::attentionFlops},
    {"element_operations", &Work::elementOps},
    {"bytes", &Work::bytes},
    {"parts", &Work::parts},
    {"link_rounds", &Work::linkRounds},
    {"link_bytes", &Work::linkBytes},
};

/// How many cores of `rank` share the arithmetic of `work`.
double sharingCores(const Work &work, const Machine &rank);

/// The share of its time in memory that a product's arithmetic does not hide. The product copies its operands into
/// panels while it multiplies, but its first panels have nothing to hide behind. Measured on a CPU with AVX-512.
inline constexpr double kExposedMemoryOfProducts = 0.7;

/// The seconds of `work` on `rank`, from start to end: a call; products and what of their time in memory they do not
/// hide; of other ops the arithmetic or the memory, whichever takes longer; and the link. Source: Williams, Waterman
/// and Patterson, "Roofline", CACM 2009.
double secondsOf(const Work &work, const Machine &rank);

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
