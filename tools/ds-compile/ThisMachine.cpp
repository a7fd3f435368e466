// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ThisMachine.h"

#include "CachePath.h"

#include "ds/Codegen/Cpu.h"
#include "ds/Files/ContentHash.h"
#include "ds/Files/Folder.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Threading.h"

#include <cstdlib>

using namespace ds;

namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

static constexpr const char *kPreset = "cpu";

/// By processor and number of cores, as a home may be shared by several machines. Empty if there is no cache.
static std::string pathOfThisMachine() {
  std::string error;
  const std::optional<std::string> processor = describeCpu("native", error);
  if (!processor)
    return "";
  ContentHash hash;
  hash.add(*processor);
  hash.add(static_cast<int64_t>(llvm::hardware_concurrency().compute_thread_count()));
  return cachePath("machine-" + hash.hex() + ".json");
}

static bool measureInto(const std::string &file) {
  const std::string self = fs::getMainExecutable(nullptr, nullptr);
  llvm::SmallString<128> runner(path::parent_path(self));
  path::append(runner, "ds-run");
  return makeFolder(path::parent_path(file).str()).ok() && fs::can_execute(runner) &&
         llvm::sys::ExecuteAndWait(runner, {runner, "bench", "machine", "--quiet", "-o", file}) == 0;
}

std::string ds::defaultMachine(const std::string &cpu, const std::function<void(const std::string &)> &say) {
  if (const char *given = std::getenv("DS_MACHINE"); given && *given)
    return given;
  if (cpu != "native")
    return kPreset;
  const std::string file = pathOfThisMachine();
  if (!file.empty() && fs::exists(file))
    return file;
  if (!file.empty()) {
    say("note: measuring this machine for predicted times, which takes a few seconds and is done once");
    if (measureInto(file))
      return file;
  }
  say("note: times are predicted for the preset \"cpu\", as this machine could not be measured and the result kept; "
      "`ds-run bench machine -o FILE` measures it, and --machine FILE takes the result");
  return kPreset;
}
