// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Keeps two jobs of a machine from binding their ranks to the same cores.

#ifndef DS_TOOLS_DS_RUN_CORECLAIMS_H
#define DS_TOOLS_DS_RUN_CORECLAIMS_H

#include "ds/Files/File.h"

#include <vector>

namespace ds {

/// The cores that a job has for itself among the jobs of ds-run. A claim is a socket bound to an abstract name of the
/// core: only one process can have it, and the system drops it when that process ends, however it ends.
class CoreClaims {
public:
  /// Claims the first `count` of `cores` that no other job has claimed; if there are fewer, claims none.
  static CoreClaims take(const std::vector<int> &cores, size_t count);

  /// In the order of `take`; empty if there were too few.
  const std::vector<int> &cores() const { return claimed; }
  /// How many of the cores other jobs had claimed, as far as they were looked at.
  size_t busy() const { return others; }

private:
  std::vector<int> claimed;
  std::vector<File> sockets;
  size_t others = 0;
};

/// The cores that this process may run on.
std::vector<int> allowedCores();

/// Binds the process as a whole; where that cannot be, or for no cores, the system places it.
void bindProcess(const std::vector<int> &cores);

} // namespace ds

#endif // DS_TOOLS_DS_RUN_CORECLAIMS_H
