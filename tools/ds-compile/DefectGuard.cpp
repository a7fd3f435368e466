// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "DefectGuard.h"

#include "ExitCodes.h"

#include "ds/Files/PendingFile.h"

#include "llvm/ADT/Twine.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"

#include <climits>
#include <csignal>
#include <cstring>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace ds;

namespace {
/// How a child ended.
struct End {
  int code = 0;   ///< its exit code
  int signal = 0; ///< that killed it; 0: none

  /// Nobody sends these.
  bool isCrash() const {
    return llvm::is_contained({SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS}, signal);
  }
  /// Sanitizers and runtimes of languages end a process with codes that are none of ours.
  bool isDefect() const {
    return isCrash() || (signal == 0 && !llvm::is_contained({kExitOk, kExitBadInput, kExitUnsupported, kExitStorage,
                                                             kExitIntegrity, kExitInterrupted},
                                                            code));
  }
};
} // namespace

/// Runs `work` in a child; nothing if there can be none.
static std::optional<End> runInChild(llvm::function_ref<int()> work) {
  llvm::outs().flush();
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0)
    return std::nullopt;
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) // which died before
      ::_exit(kExitInterrupted);
    const int code = work();
    llvm::outs().flush();
    ::_exit(code); // to free what the work was done on takes as long as a pass
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFSIGNALED(status) ? End{0, WTERMSIG(status)} : End{WEXITSTATUS(status), 0};
}

//===----------------------------------------------------------------------===//
// The report
//===----------------------------------------------------------------------===//

static std::string describe(const End &end) {
  if (end.signal != 0)
    return "ds-compile crashed: signal " + std::to_string(end.signal) + " (" + ::strsignal(end.signal) + ")";
  return "ds-compile ended with exit code " + std::to_string(end.code);
}

static std::string contentOf(const File &file) { return file.readAll(INT_MAX).value_or(""); }

static std::string commented(llvm::StringRef text) {
  std::string lines;
  for (llvm::StringRef rest = text.rtrim(); !rest.empty();) {
    auto [line, more] = rest.split('\n');
    lines += ("//   " + llvm::Twine(line) + "\n").str();
    rest = more;
  }
  return lines;
}

/// Repeats the work and writes the report. Its path, or why there is none.
static absl::Status writeReport(llvm::function_ref<int(const File &)> repeat, const DefectReport &report,
                                const End &end) {
  const absl::StatusOr<File> program = File::makeInMemory("reproducer"), words = File::makeInMemory("messages");
  if (!program.ok() || !words.ok())
    return program.ok() ? words.status() : program.status();
  const std::optional<End> again = runInChild([&] {
    ::dup2(words->descriptor(), STDOUT_FILENO);
    ::dup2(words->descriptor(), STDERR_FILENO);
    llvm::sys::PrintStackTraceOnErrorSignal("ds-compile");
    ::alarm(600); // seconds: what crashed once may wait for ever now
    return repeat(*program);
  });
  std::string text = "// A defect of ds-mlir, " + report.version + ": " + describe(end) + ".\n// The command:\n" +
                     commented(report.command);
  text += "// Repeated, " + (again ? describe(*again) : "it could not be started") + ", and said:\n" +
          commented(contentOf(*words));
  text += "// Below is the program that it worked on, if it came so far. If a pipeline stands at its end,\n"
          "// ds-opt --run-reproducer THIS_FILE runs the pass.\n\n";
  return writeWholeFile(report.path, text + contentOf(*program));
}

int ds::runGuarded(llvm::function_ref<int()> work, llvm::function_ref<int(const File &)> repeat,
                   const DefectReport &report) {
  const std::optional<End> end = runInChild(work);
  if (!end)
    return work();
  if (end->signal == SIGKILL) {
    llvm::errs() << "error: ds-compile was killed (signal 9), as the system does when it has too little memory\n";
    return kExitBadInput;
  }
  if (!end->isDefect())
    return end->signal != 0 ? 128 + end->signal : end->code;
  if (end->code != kExitDefect) // else it has said so
    llvm::errs() << "error: " << describe(*end) << "\n";
  const absl::Status written = writeReport(repeat, report, *end);
  llvm::errs() << "note: this is a defect of ds-mlir, not of your input. Please open an issue with the project and ";
  if (written.ok())
    llvm::errs() << "attach " << report.path << ", which has what repeats it, and the model if you may share it\n";
  else
    llvm::errs() << "send the command line and the model; a file with more could not be written: "
                 << std::string(written.message()) << "\n";
  return kExitDefect;
}
