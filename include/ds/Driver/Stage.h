// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// The stages of the compiler.

#ifndef DS_DRIVER_STAGE_H
#define DS_DRIVER_STAGE_H

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace ds {

/// In their order. Each but the last ends with a program that can be printed; the last ends with a plan.
enum class Stage { Import, Program, Placement, Kernels, Schedule, Plan };

/// `import`, `program`, ...
llvm::StringRef nameOf(Stage stage);
std::optional<Stage> findStage(llvm::StringRef name);
/// All names, for messages: `import, program, ... or plan`.
std::string stageNames();

} // namespace ds

#endif // DS_DRIVER_STAGE_H
