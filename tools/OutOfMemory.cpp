// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "OutOfMemory.h"

#include "ExitCodes.h"

#include <exception>
#include <new>
#include <system_error>
#include <unistd.h>

namespace ds {

// Made beforehand, as nothing can be allocated any more.
static std::string lastWords;
static int lastDescriptor = -1;

[[noreturn]] static void endNow() {
  [[maybe_unused]] const ssize_t put = ::write(lastDescriptor, lastWords.data(), lastWords.size());
  ::_exit(kExitBadInput);
}

/// A thread that cannot be started is an exception of the standard library, which nobody catches.
[[noreturn]] static void endOnException() {
  try {
    if (const std::exception_ptr exception = std::current_exception())
      std::rethrow_exception(exception);
  } catch (const std::system_error &) {
    endNow();
  } catch (...) {
  }
  __gnu_cxx::__verbose_terminate_handler(); // says what it was, and aborts
  std::abort();
}

void endWhenOutOfMemory(int descriptor, const std::string &text) {
  lastWords = text;
  lastDescriptor = descriptor;
  std::set_new_handler(endNow);
  std::set_terminate(endOnException);
}

} // namespace ds
