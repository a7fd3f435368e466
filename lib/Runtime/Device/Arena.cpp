// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Runtime/Device/Arena.h"

#include "ds/Runtime/Device/AvailableMemory.h"
#include "ds/Runtime/ErrorCodes.h"
#include "ds/Runtime/StatusMacros.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

using namespace ds::runtime;

static constexpr size_t kHugePage = Arena::kHugePage;
static size_t roundUp(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

/// Maps `size` bytes at a multiple of kHugePage: takes one huge page more and gives the ends back.
static char *mapAligned(size_t size) {
  void *mapped = mmap(nullptr, size + kHugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED)
    return nullptr;
  char *raw = static_cast<char *>(mapped);
  const size_t lead = roundUp(reinterpret_cast<uintptr_t>(raw), kHugePage) - reinterpret_cast<uintptr_t>(raw);
  if (lead > 0)
    munmap(raw, lead);
  munmap(raw + lead + size, kHugePage - lead);
  return raw + lead;
}

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25 // Linux 6.1
#endif

/// Puts memory on huge pages. Where the system gives them to private memory only, shared memory must ask for each one
/// that has a page already. Advice only: without huge pages the program is slower, not wrong.
static void useHugePages(char *begin, size_t size, bool isShared) {
  madvise(begin, size, MADV_HUGEPAGE);
  const size_t whole = size / kHugePage * kHugePage;
  if (!isShared || whole == 0)
    return;
  for (size_t offset = 0; offset < whole; offset += kHugePage)
    static_cast<volatile char *>(begin)[offset] = 0;
  madvise(begin, whole, MADV_COLLAPSE);
}

/// Makes all pages present, so that no step pays for a page fault.
static void faultIn(char *begin, size_t size, size_t page) {
#ifdef MADV_POPULATE_WRITE
  if (madvise(begin, size, MADV_POPULATE_WRITE) == 0)
    return;
#endif
  for (size_t offset = 0; offset < size; offset += page)
    static_cast<volatile char *>(begin)[offset] = 0;
}

static absl::Status checkRoom(size_t bytes) {
  return checkAvailable(static_cast<int64_t>(std::min<size_t>(bytes, INT64_MAX)), "arena");
}

absl::StatusOr<std::unique_ptr<Arena>> Arena::create(size_t bytes) {
  if (bytes == 0)
    return std::unique_ptr<Arena>(new Arena(nullptr, 0, /*isOwned=*/false));
  DS_RETURN_IF_ERROR(checkRoom(bytes));
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t size = roundUp(bytes, page);
  char *begin = mapAligned(size);
  if (!begin)
    return memoryError(absl::StrCat("cannot map an arena of ", bytes, " bytes: ", std::strerror(errno)));
  useHugePages(begin, size, /*isShared=*/false);
  faultIn(begin, size, page);
  return std::unique_ptr<Arena>(new Arena(begin, size, /*isOwned=*/true));
}

absl::StatusOr<std::unique_ptr<Arena>> Arena::adopt(char *begin, size_t bytes) {
  DS_RETURN_IF_ERROR(checkRoom(bytes));
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t size = roundUp(bytes, page);
  if (size > 0) {
    useHugePages(begin, size, /*isShared=*/true);
    faultIn(begin, size, page);
  }
  return std::unique_ptr<Arena>(new Arena(begin, size, /*isOwned=*/false));
}

Arena::~Arena() {
  if (isOwned)
    munmap(begin, size);
}
