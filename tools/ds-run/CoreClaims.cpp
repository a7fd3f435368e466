// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "CoreClaims.h"

#include "absl/strings/str_cat.h"

#include <cstddef>
#include <cstring>
#include <sched.h>
#include <sys/socket.h>
#include <sys/un.h>

namespace ds {

/// The descriptor of a socket that has the name of `core`, or -1 if another process has it.
static int claim(int core) {
  const std::string name = absl::StrCat("ds-mlir/core/", core);
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, name.data(), name.size()); // behind a zero byte: no file
  const auto bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  File socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0), name);
  if (::bind(socket.descriptor(), reinterpret_cast<sockaddr *>(&address), bytes) != 0)
    return -1;
  return socket.release();
}

CoreClaims CoreClaims::take(const std::vector<int> &cores, size_t count) {
  CoreClaims claims;
  for (const int core : cores) {
    if (claims.claimed.size() == count)
      break;
    if (const int descriptor = claim(core); descriptor >= 0) {
      claims.claimed.push_back(core);
      claims.sockets.emplace_back(descriptor, "core");
    } else {
      ++claims.others;
    }
  }
  if (claims.claimed.size() < count) {
    claims.claimed.clear();
    claims.sockets.clear();
  }
  return claims;
}

std::vector<int> allowedCores() {
  cpu_set_t allowed;
  std::vector<int> cores;
  if (::sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
    return cores;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &allowed))
      cores.push_back(core);
  return cores;
}

void bindProcess(const std::vector<int> &cores) {
  if (cores.empty())
    return;
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int core : cores)
    CPU_SET(core, &set);
  (void)::sched_setaffinity(0, sizeof(set), &set);
}

} // namespace ds
