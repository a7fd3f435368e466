// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Runs ds-run as its users do.

#ifndef DS_TEST_UNIT_RUNTIME_TOOLRUN_H
#define DS_TEST_UNIT_RUNTIME_TOOLRUN_H

#include "../Files/TemporaryFolder.h"

#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace ds::runtime {

/// A process of ds-run whose output goes to files.
class ToolRun {
public:
  ToolRun(const TemporaryFolder &folder, const std::vector<std::string> &arguments,
          const std::string &program = DS_RUN_PATH)
      : out(folder / "stdout"), err(folder / "stderr") {
    std::vector<std::string> words = {program};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char *> argv;
    for (std::string &word : words)
      argv.push_back(word.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_addopen(&actions, 2, err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (posix_spawn(&process, program.c_str(), &actions, nullptr, argv.data(), environ) != 0)
      process = -1;
    posix_spawn_file_actions_destroy(&actions);
  }

  /// The exit code, or minus the signal; -1000 if it does not end within `seconds` and had to be killed.
  int wait(int seconds = 60) {
    for (int i = 0; i < seconds * 100; ++i) {
      int status = 0;
      if (::waitpid(process, &status, WNOHANG) == process)
        return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
      ::usleep(10000);
    }
    ::kill(process, SIGKILL);
    ::waitpid(process, nullptr, 0);
    return -1000;
  }

  /// The processes that this one has started and that have not ended.
  std::vector<pid_t> children() const {
    std::vector<pid_t> found;
    std::istringstream list(
        readText("/proc/" + std::to_string(process) + "/task/" + std::to_string(process) + "/children"));
    for (pid_t child; list >> child;)
      found.push_back(child);
    return found;
  }
  /// Waits until standard output contains `text`.
  bool waitForOutput(const std::string &text) const {
    for (int i = 0; i < 3000; ++i) {
      if (readText(out).find(text) != std::string::npos)
        return true;
      ::usleep(10000);
    }
    return false;
  }

  pid_t process = -1;
  std::string out, err;
};

/// Whether the process has ended.
inline bool isGone(pid_t process) {
  return ::kill(process, 0) != 0 ||
         readText("/proc/" + std::to_string(process) + "/stat").find(") Z") != std::string::npos;
}

/// Runs to the end.
struct ToolResult {
  int code;
  std::string out, err;
};
inline ToolResult runTool(const TemporaryFolder &folder, const std::vector<std::string> &arguments,
                          const std::string &program = DS_RUN_PATH) {
  ToolRun run(folder, arguments, program);
  const int code = run.wait();
  return {code, readText(run.out), readText(run.err)};
}

} // namespace ds::runtime

#endif // DS_TEST_UNIT_RUNTIME_TOOLRUN_H
