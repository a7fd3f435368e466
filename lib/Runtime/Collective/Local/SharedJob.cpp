// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Runtime/Collective/Local/SharedJob.h"

#include "ds/Runtime/ErrorCodes.h"
#include "ds/Runtime/StatusMacros.h"

#include "absl/strings/str_cat.h"

#include <cerrno>
#include <chrono>
#include <climits>
#include <cstring>
#include <linux/futex.h>
#include <new>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace ds::runtime {

static constexpr uint64_t kMagic = 0x31424f4a4c4d5344; // "DSMLJOB1"
static constexpr int64_t kPage = 4096, kHugePage = 2 << 20;
static constexpr int64_t kMaxRanks = 1024, kMaxQueues = 4096, kMaxAxes = 64;
static constexpr int64_t kMaxArenaBytes = int64_t(1) << 44;
static constexpr int kLooksPerClock = 8; // a pause takes up to 50 ns, and so does a look at the clock
static constexpr int kSleepSliceMs = 20; // how late an abort may be seen

namespace {
struct JobHeader {
  uint64_t magic = kMagic;
  JobShape shape;
  JobControl control;
};
} // namespace

static_assert(std::atomic<uint32_t>::is_always_lock_free && std::atomic<int64_t>::is_always_lock_free,
              "atomics in shared memory must not use locks of one process");

//===----------------------------------------------------------------------===//
// Waiting
//===----------------------------------------------------------------------===//

void SharedCounter::advance(uint32_t to) {
  value.store(to, std::memory_order_seq_cst); // ordered before the look at `waiters`
  if (waiters.load(std::memory_order_seq_cst) != 0)
    ::syscall(SYS_futex, &value, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void SharedCounter::sleepBelow(uint32_t target, int milliseconds) {
  waiters.fetch_add(1, std::memory_order_seq_cst);
  const uint32_t seen = value.load(std::memory_order_seq_cst);
  if (static_cast<int32_t>(seen - target) < 0) {
    const timespec limit = {milliseconds / 1000, (milliseconds % 1000) * 1000000L};
    ::syscall(SYS_futex, &value, FUTEX_WAIT, seen, &limit, nullptr, 0);
  }
  waiters.fetch_sub(1, std::memory_order_seq_cst);
}

static void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

WaitResult waitFor(SharedCounter &counter, uint32_t target, const SharedJob &job, int spinMicroseconds,
                   int64_t timeoutMs) {
  const auto result = [&] { return job.isAborted() ? WaitResult::Aborted : WaitResult::Reached; };
  if (counter.reached(target))
    return result();
  const int spin = job.isCrowded() ? 0 : spinMicroseconds; // others need the core to get on
  const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(spin);
  do {
    for (int i = 0; i < kLooksPerClock; ++i) {
      relax();
      if (counter.reached(target))
        return result();
    }
  } while (std::chrono::steady_clock::now() < end);
  // Counts slices, not a clock: a job that was stopped and continued from its terminal has not stalled.
  for (int64_t slept = 0; !counter.reached(target); slept += kSleepSliceMs) {
    if (job.isAborted())
      return WaitResult::Aborted;
    if (timeoutMs > 0 && slept >= timeoutMs)
      return WaitResult::TimedOut;
    counter.sleepBelow(target, kSleepSliceMs);
  }
  return result();
}

//===----------------------------------------------------------------------===//
// RankState
//===----------------------------------------------------------------------===//

void RankState::setName(const std::string &text) {
  nameVersion.fetch_add(1, std::memory_order_acq_rel);
  const size_t count = std::min(text.size(), kNameBytes - 1);
  std::memcpy(name, text.data(), count);
  name[count] = '\0';
  nameVersion.fetch_add(1, std::memory_order_release);
}

std::string RankState::readName() const {
  const uint32_t before = nameVersion.load(std::memory_order_acquire);
  char copy[kNameBytes];
  std::memcpy(copy, name, kNameBytes);
  copy[kNameBytes - 1] = '\0';
  std::atomic_thread_fence(std::memory_order_acquire);
  return before % 2 == 0 && nameVersion.load(std::memory_order_relaxed) == before ? copy : std::string();
}

//===----------------------------------------------------------------------===//
// SharedJob
//===----------------------------------------------------------------------===//

// The object is: header, rank states, channel states, slots, arenas; each part begins on a page, each arena on a huge
// one.
static int64_t roundUp(int64_t bytes, int64_t unit = kPage) { return (bytes + unit - 1) / unit * unit; }
static int64_t numChannels(const JobShape &shape) {
  return static_cast<int64_t>(shape.queues) * (shape.axes + 1) * shape.ranks;
}
static int64_t rankStatesOffset() { return roundUp(sizeof(JobHeader)); }
static int64_t channelsOffset(const JobShape &shape) {
  return rankStatesOffset() + roundUp(shape.ranks * static_cast<int64_t>(sizeof(RankState)));
}
static int64_t slotsOffset(const JobShape &shape) {
  return channelsOffset(shape) + roundUp(numChannels(shape) * static_cast<int64_t>(sizeof(ChannelState)));
}
static int64_t arenasOffset(const JobShape &shape) {
  return roundUp(slotsOffset(shape) + numChannels(shape) * 2 * shape.slotBytes, kHugePage);
}
static int64_t totalBytes(const JobShape &shape) {
  return arenasOffset(shape) + shape.ranks * roundUp(shape.arenaBytes, kHugePage);
}

static absl::Status checkShape(const JobShape &shape) {
  if (shape.ranks < 1 || shape.ranks > kMaxRanks)
    return absl::InvalidArgumentError(
        absl::StrCat("ranks on one machine must be 1 to ", kMaxRanks, ", got ", shape.ranks));
  if (shape.queues > kMaxQueues || shape.axes > kMaxAxes)
    return absl::InvalidArgumentError(absl::StrCat("queues and mesh axes must be at most ", kMaxQueues, " and ",
                                                   kMaxAxes, ", got ", shape.queues, " and ", shape.axes));
  if (shape.slotBytes < kPage || shape.slotBytes > (1 << 26) || shape.slotBytes % kPage != 0)
    return absl::InvalidArgumentError(absl::StrCat("slot bytes must be a multiple of 4096, got ", shape.slotBytes));
  if (shape.arenaBytes < 0 || shape.arenaBytes > kMaxArenaBytes)
    return absl::InvalidArgumentError(
        absl::StrCat("arena bytes must be 0 to ", kMaxArenaBytes, ", got ", shape.arenaBytes));
  return absl::OkStatus();
}

/// Cores that this process may use; 0 if the system does not say.
static int64_t coresAllowed() {
  cpu_set_t allowed;
  return ::sched_getaffinity(0, sizeof(allowed), &allowed) == 0 ? CPU_COUNT(&allowed) : 0;
}

SharedJob::SharedJob(SharedJob &&other) noexcept
    : fd(other.fd), base(other.base), mappedBytes(other.mappedBytes), crowded(other.crowded) {
  other.fd = -1;
  other.base = nullptr;
}

SharedJob::~SharedJob() {
  if (base)
    ::munmap(base, mappedBytes);
  if (fd >= 0)
    ::close(fd);
}

/// Maps the object at a multiple of kHugePage, without which its arenas could not be on huge pages.
static absl::StatusOr<char *> mapShared(int fd, int64_t bytes) {
  void *room = ::mmap(nullptr, bytes + kHugePage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room != MAP_FAILED) {
    char *begin = static_cast<char *>(room);
    const int64_t lead = -reinterpret_cast<intptr_t>(begin) & (kHugePage - 1);
    void *memory = ::mmap(begin + lead, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE | MAP_FIXED, fd, 0);
    if (lead > 0)
      ::munmap(begin, lead);
    const int64_t end = lead + roundUp(bytes);
    if (end < bytes + kHugePage)
      ::munmap(begin + end, bytes + kHugePage - end);
    if (memory != MAP_FAILED)
      return static_cast<char *>(memory);
  }
  return memoryError(absl::StrCat("cannot map ", bytes, " bytes of shared memory: ", std::strerror(errno)));
}

absl::StatusOr<SharedJob> SharedJob::create(const JobShape &shape) {
  DS_RETURN_IF_ERROR(checkShape(shape));
  const int fd = ::memfd_create("ds-run", MFD_CLOEXEC);
  if (fd < 0)
    return memoryError(absl::StrCat("cannot create shared memory: ", std::strerror(errno)));
  const int64_t bytes = totalBytes(shape);
  SharedJob job(fd, nullptr, bytes);
  if (::ftruncate(fd, bytes) != 0)
    return memoryError(absl::StrCat("cannot size shared memory to ", bytes, " bytes: ", std::strerror(errno)));
  const absl::StatusOr<char *> memory = mapShared(fd, bytes);
  if (!memory.ok())
    return memory.status();
  job.base = *memory;
  auto *header = new (job.base) JobHeader;
  header->shape = shape;
  job.crowded = coresAllowed() < shape.ranks;
  for (int64_t rank = 0; rank < shape.ranks; ++rank)
    new (&job.rankState(rank)) RankState; // channel states are all zero already
  return job;
}

absl::StatusOr<SharedJob> SharedJob::attach(int descriptor) {
  SharedJob job(descriptor, nullptr, 0);
  JobHeader *header = nullptr;
  struct stat status;
  if (::fstat(descriptor, &status) != 0 || status.st_size < static_cast<off_t>(sizeof(JobHeader)))
    return absl::InvalidArgumentError(absl::StrCat("descriptor ", descriptor, " must be a job's shared memory"));
  const absl::StatusOr<char *> memory = mapShared(descriptor, status.st_size);
  if (!memory.ok())
    return memory.status();
  job.base = *memory;
  job.mappedBytes = status.st_size;
  header = reinterpret_cast<JobHeader *>(job.base);
  if (header->magic != kMagic || !checkShape(header->shape).ok() || totalBytes(header->shape) != status.st_size)
    return absl::InvalidArgumentError(absl::StrCat("descriptor ", descriptor, " must be a job's shared memory"));
  job.crowded = coresAllowed() < header->shape.ranks;
  return job;
}

const JobShape &SharedJob::shape() const { return reinterpret_cast<const JobHeader *>(base)->shape; }

JobControl &SharedJob::control() const { return reinterpret_cast<JobHeader *>(base)->control; }

RankState &SharedJob::rankState(int64_t rank) const {
  return reinterpret_cast<RankState *>(base + rankStatesOffset())[rank];
}

int64_t SharedJob::channelIndex(uint32_t queue, uint32_t axis, int64_t rank) const {
  return (static_cast<int64_t>(queue) * (shape().axes + 1) + axis) * shape().ranks + rank;
}

ChannelState &SharedJob::channel(uint32_t queue, uint32_t axis, int64_t rank) const {
  return reinterpret_cast<ChannelState *>(base + channelsOffset(shape()))[channelIndex(queue, axis, rank)];
}

char *SharedJob::slot(uint32_t queue, uint32_t axis, int64_t rank, uint32_t parity) const {
  return base + slotsOffset(shape()) + (channelIndex(queue, axis, rank) * 2 + parity) * shape().slotBytes;
}

char *SharedJob::arena(int64_t rank) const {
  return base + arenasOffset(shape()) + rank * roundUp(shape().arenaBytes, kHugePage);
}

} // namespace ds::runtime
