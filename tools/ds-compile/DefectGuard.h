// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// What becomes of a defect of ours.

#ifndef DS_TOOLS_DS_COMPILE_DEFECTGUARD_H
#define DS_TOOLS_DS_COMPILE_DEFECTGUARD_H

#include "ds/Files/File.h"

#include "llvm/ADT/STLExtras.h"

namespace ds {

/// What a report of a defect says, and where it goes.
struct DefectReport {
  std::string path;    ///< of the file
  std::string version; ///< of this program
  std::string command; ///< the command line
};

/// Runs `work` in a process of its own and returns its exit code. If it crashes, or returns kExitDefect, it is repeated
/// once by `repeat`, in a process of its own too, which keeps in the file that it is given what it is about to work on:
/// a crash can then neither be missed nor spoil what is told of it, and work that goes well costs nothing. The file and
/// what the process said become the report, and the user is told that this is a defect of ours and how to send it.
///
/// Call it before the process has threads. A child dies with its parent.
int runGuarded(llvm::function_ref<int()> work, llvm::function_ref<int(const File &reproducer)> repeat,
               const DefectReport &report);

} // namespace ds

#endif // DS_TOOLS_DS_COMPILE_DEFECTGUARD_H
