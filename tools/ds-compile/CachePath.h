// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Where the compiler keeps what it may need again.

#ifndef DS_TOOLS_DS_COMPILE_CACHEPATH_H
#define DS_TOOLS_DS_COMPILE_CACHEPATH_H

#include <string>

namespace ds {

/// The path of `name` in $XDG_CACHE_HOME/ds-mlir or ~/.cache/ds-mlir; empty if the environment names neither.
std::string cachePath(const std::string &name);

} // namespace ds

#endif // DS_TOOLS_DS_COMPILE_CACHEPATH_H
