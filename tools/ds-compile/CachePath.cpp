// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "CachePath.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Path.h"

std::string ds::cachePath(const std::string &name) {
  llvm::SmallString<128> path;
  if (!llvm::sys::path::cache_directory(path))
    return "";
  llvm::sys::path::append(path, "ds-mlir", name);
  return path.str().str();
}
