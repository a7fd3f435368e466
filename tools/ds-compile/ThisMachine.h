// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// The machine that times are predicted for if the user names none.

#ifndef DS_TOOLS_DS_COMPILE_THISMACHINE_H
#define DS_TOOLS_DS_COMPILE_THISMACHINE_H

#include <functional>
#include <string>

namespace ds {

/// What `findMachine` is to be given: $DS_MACHINE if it is set; for code of another `cpu` than this one, the preset;
/// else the machine file of this machine, measured by `ds-run bench machine` when it is asked for the first time and
/// kept in $XDG_CACHE_HOME/ds-mlir or ~/.cache/ds-mlir. Where it can be neither read nor made, the preset; `say` is
/// told why.
std::string defaultMachine(const std::string &cpu, const std::function<void(const std::string &)> &say);

} // namespace ds

#endif // DS_TOOLS_DS_COMPILE_THISMACHINE_H
