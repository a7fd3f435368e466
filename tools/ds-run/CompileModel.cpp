// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "CompileModel.h"

#include "ExitCodes.h"
#include "Launcher.h"
#include "Progress.h"

#include "ds/Runtime/StatusMacros.h"

#include "absl/strings/str_cat.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace fs = std::filesystem;

namespace ds {

//===----------------------------------------------------------------------===//
// Where things are
//===----------------------------------------------------------------------===//

bool isPlanFile(const std::string &path) {
  const absl::StatusOr<File> file = File::open(path);
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

/// Where plans are kept; empty if the environment does not say.
static std::string cacheFolder() {
  const char *cache = std::getenv("XDG_CACHE_HOME");
  const char *home = std::getenv("HOME");
  if (cache && *cache == '/')
    return (fs::path(cache) / "ds-mlir").string();
  return home && *home == '/' ? (fs::path(home) / ".cache" / "ds-mlir").string() : "";
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
  return kExitDefect;
}

static std::vector<std::string> argumentsFor(const std::string &compiler, const CompileRequest &request) {
  std::vector<std::string> arguments = {compiler, request.model, "--ranks", absl::StrCat(request.ranks)};
  if (!request.config.empty())
    arguments.insert(arguments.end(), {"--config", request.config});
  arguments.insert(arguments.end(), {"--data", request.data});
  if (!request.tokenType.empty())
    arguments.insert(arguments.end(), {"--token-type", request.tokenType});
  if (const std::string folder = cacheFolder(); request.planOut.empty() && !folder.empty())
    arguments.insert(arguments.end(), {"--plan-cache", folder});
  if (request.isQuiet)
    arguments.push_back("--quiet");
  arguments.insert(arguments.end(), request.flags.begin(), request.flags.end());
  return arguments;
}

/// Becomes the compiler. Between fork and exec: nothing may be allocated.
[[noreturn]] static void becomeCompiler(char *const *argv, pid_t parent, int plan) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL); // it does not outlive ds-run
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  if (plan >= 0)
    ::fcntl(plan, F_SETFD, 0); // stays open
  if (::getppid() == parent)
    ::execv(argv[0], argv);
  ::_exit(kExitDefect);
}

/// Runs the compiler, which writes the plan to `output`; `plan`: the descriptor that this names, or -1.
static absl::StatusOr<int> runCompiler(std::vector<std::string> arguments, int plan) {
  std::vector<char *> argv;
  for (std::string &argument : arguments)
    argv.push_back(argument.data());
  argv.push_back(nullptr);
  const SignalGuard signals;
  const pid_t parent = ::getpid();
  const pid_t process = ::fork();
  if (process < 0)
    return absl::ResourceExhaustedError(absl::StrCat("cannot start ", arguments[0], ": ", std::strerror(errno)));
  if (process == 0)
    becomeCompiler(argv.data(), parent, plan);
  return waitForCompiler(process, signals);
}

/// Runs the compiler, which writes the plan into memory.
static absl::StatusOr<CompileResult> compileIntoMemory(std::vector<std::string> arguments, const std::string &title) {
  CompileResult result;
  DS_ASSIGN_OR_RETURN(result.plan, File::makeInMemory(title));
  arguments.insert(arguments.end(), {"-o", absl::StrCat("/dev/fd/", result.plan.descriptor())});
  DS_ASSIGN_OR_RETURN(result.exitCode, runCompiler(std::move(arguments), result.plan.descriptor()));
  return result;
}

absl::StatusOr<CompileResult> compileModel(const CompileRequest &request) {
  DS_ASSIGN_OR_RETURN(const std::string compiler, findCompiler());
  std::vector<std::string> arguments = argumentsFor(compiler, request);
  if (request.planOut.empty())
    return compileIntoMemory(std::move(arguments), absl::StrCat("the plan of ", request.model));
  arguments.insert(arguments.end(), {"-o", request.planOut});
  CompileResult result;
  DS_ASSIGN_OR_RETURN(result.exitCode, runCompiler(std::move(arguments), -1));
  if (result.exitCode == 0) {
    DS_ASSIGN_OR_RETURN(result.plan, File::open(request.planOut));
  }
  return result;
}

absl::StatusOr<CompileResult> compileMachineProbe() {
  DS_ASSIGN_OR_RETURN(const std::string compiler, findCompiler());
  return compileIntoMemory({compiler, "--machine-probe", "--machine", "cpu", "--quiet"},
                           "the plan that machines are measured with");
}

} // namespace ds
