// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "CompileCache.h"

#include "ExitCodes.h"
#include "Launcher.h"
#include "Progress.h"

#include "ds/Runtime/Session/File.h"
#include "ds/Runtime/StatusMacros.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace fs = std::filesystem;

namespace ds {

static constexpr size_t kCachedPlans = 32;

//===----------------------------------------------------------------------===//
// ContentHash
//===----------------------------------------------------------------------===//

static uint64_t mix(uint64_t value) { // the finalizer of SplitMix64
  value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9;
  value = (value ^ (value >> 27)) * 0x94D049BB133111EB;
  return value ^ (value >> 31);
}

void ContentHash::addWord(uint64_t word) {
  low = mix(low ^ word) + 0x9E3779B97F4A7C15;
  high = mix(high + word * 0xD6E8FEB86659FD93) ^ low;
}

void ContentHash::add(const std::string &bytes) {
  size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8) {
    uint64_t word;
    std::memcpy(&word, bytes.data() + at, 8);
    addWord(word);
  }
  uint64_t last = 0;
  std::memcpy(&last, bytes.data() + at, bytes.size() - at);
  addWord(last);
  addWord(bytes.size()); // so that "ab", "c" is not "a", "bc"
}

absl::Status ContentHash::addFile(const std::string &path) {
  constexpr int64_t kChunk = 1 << 20;
  DS_ASSIGN_OR_RETURN(const runtime::File file, runtime::File::open(path));
  DS_ASSIGN_OR_RETURN(const int64_t size, file.size());
  std::string chunk;
  for (int64_t at = 0; at < size; at += kChunk) {
    chunk.resize(static_cast<size_t>(std::min(kChunk, size - at)));
    DS_RETURN_IF_ERROR(file.readAt(at, chunk.data(), static_cast<int64_t>(chunk.size())));
    add(chunk);
  }
  add(absl::StrCat(size));
  return absl::OkStatus();
}

std::string ContentHash::hex() const { return absl::StrFormat("%016x%016x", low, high); }

//===----------------------------------------------------------------------===//
// Where things are
//===----------------------------------------------------------------------===//

bool isPlanFile(const std::string &path) {
  const absl::StatusOr<runtime::File> file = runtime::File::open(path);
  char start[8] = {};
  return file.ok() && file->readAt(0, start, sizeof(start)).ok() && std::memcmp(start + 4, "DSPL", 4) == 0;
}

static absl::StatusOr<std::string> findCompiler() {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  const fs::path compiler = self.parent_path() / "ds-compile";
  if (error || !fs::exists(compiler, error))
    return absl::InvalidArgumentError(absl::StrCat("a model must be compiled first, and ", compiler.string(),
                                                   " does not exist; give a plan, or build the compiler"));
  return compiler.string();
}

static absl::StatusOr<fs::path> cacheFolder() {
  const char *cache = std::getenv("XDG_CACHE_HOME");
  const char *home = std::getenv("HOME");
  fs::path folder;
  if (cache && *cache == '/')
    folder = fs::path(cache) / "ds-mlir";
  else if (home && *home == '/')
    folder = fs::path(home) / ".cache" / "ds-mlir";
  else
    return absl::InvalidArgumentError("XDG_CACHE_HOME or HOME must be set to keep the plan, or --plan-out given");
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    return absl::InvalidArgumentError(absl::StrCat(folder.string(), ": cannot create: ", error.message()));
  return folder;
}

/// Removes the plans used longest ago, so that the cache does not grow without end.
static void trimCache(const fs::path &folder) {
  std::vector<std::pair<fs::file_time_type, fs::path>> plans;
  std::error_code error;
  for (const auto &entry : fs::directory_iterator(folder, error))
    if (entry.path().extension() == ".dsplan")
      plans.emplace_back(entry.last_write_time(error), entry.path());
  std::sort(plans.rbegin(), plans.rend());
  for (size_t i = kCachedPlans; i < plans.size(); ++i)
    fs::remove(plans[i].second, error);
}

static absl::StatusOr<std::string> cacheKey(const CompileRequest &request, const std::string &compiler) {
  ContentHash hash;
  DS_RETURN_IF_ERROR(hash.addFile(request.model));
  if (!request.config.empty())
    DS_RETURN_IF_ERROR(hash.addFile(request.config));
  std::error_code error;
  const auto built = fs::last_write_time(compiler, error).time_since_epoch().count();
  hash.add(fs::path(request.model).filename().string()); // plans name the file that their values are in
  hash.add(absl::StrCat(compiler, " ", built, " ", fs::file_size(compiler, error), " ranks ", request.ranks));
  for (const std::string &flag : request.flags)
    hash.add(flag);
  return hash.hex();
}

//===----------------------------------------------------------------------===//
// Running the compiler
//===----------------------------------------------------------------------===//

/// Waits for the compiler. A first interrupt asks it to end, a second one ends it.
static int waitForCompiler(pid_t process, const SignalGuard &signals) {
  int interrupts = 0;
  int status = 0;
  while (::waitpid(process, &status, WNOHANG) != process) {
    pollfd entry = {signals.descriptor(), POLLIN, 0};
    ::poll(&entry, 1, 100);
    while (const int signal = signals.take())
      if (signal != SIGCHLD)
        ::kill(process, interrupts++ == 0 ? SIGINT : SIGKILL);
  }
  if (interrupts > 0) {
    printMessage("interrupted while the model was being compiled");
    return kExitInterrupted;
  }
  if (WIFEXITED(status))
    return WEXITSTATUS(status);
  printMessage(absl::StrCat("error: ds-compile was ", describeExit(status)));
  return kExitInternal;
}

/// The compiler puts the plan into its place when it is whole, and leaves nothing if it fails.
static absl::StatusOr<int> runCompiler(const std::string &compiler, const CompileRequest &request,
                                       const std::string &output) {
  std::vector<std::string> arguments = {compiler, request.model, "--ranks", absl::StrCat(request.ranks), "-o", output};
  if (!request.config.empty())
    arguments.insert(arguments.end(), {"--config", request.config});
  arguments.insert(arguments.end(), {"--data", request.data});
  if (!request.tokenType.empty())
    arguments.insert(arguments.end(), {"--token-type", request.tokenType});
  if (request.isQuiet)
    arguments.push_back("--quiet");
  arguments.insert(arguments.end(), request.flags.begin(), request.flags.end());
  std::vector<char *> argv;
  for (std::string &argument : arguments)
    argv.push_back(argument.data());
  argv.push_back(nullptr);

  const SignalGuard signals;
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  pid_t process = -1;
  const int error = ::posix_spawn(&process, compiler.c_str(), nullptr, &attributes, argv.data(), environ);
  ::posix_spawnattr_destroy(&attributes);
  if (error != 0)
    return absl::InternalError(absl::StrCat("cannot start ", compiler, ": ", std::strerror(error)));
  return waitForCompiler(process, signals);
}

absl::StatusOr<CompileResult> compileModel(const CompileRequest &request) {
  DS_ASSIGN_OR_RETURN(const std::string compiler, findCompiler());
  CompileResult result;
  result.plan = request.planOut;
  fs::path folder;
  if (result.plan.empty()) {
    DS_ASSIGN_OR_RETURN(folder, cacheFolder());
    DS_ASSIGN_OR_RETURN(const std::string key, cacheKey(request, compiler));
    result.plan = (folder / (key + ".dsplan")).string();
    std::error_code error;
    if (isPlanFile(result.plan)) {
      fs::last_write_time(result.plan, fs::file_time_type::clock::now(), error); // used now
      result.wasCached = true;
      return result;
    }
  }
  DS_ASSIGN_OR_RETURN(result.exitCode, runCompiler(compiler, request, result.plan));
  if (result.exitCode == 0 && !folder.empty())
    trimCache(folder);
  return result;
}

} // namespace ds
