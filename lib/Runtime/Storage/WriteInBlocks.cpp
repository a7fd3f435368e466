// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Runtime/Storage/WriteInBlocks.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <mutex>
#include <thread>
#include <unistd.h>
#include <vector>

namespace ds::runtime {

/// Addresses, offsets and lengths of direct writes are multiples of this; no disk asks for more.
static constexpr int64_t kAlignment = 4096;

static int64_t roundUp(int64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

namespace {
class BlockWriter {
public:
  BlockWriter(int descriptor, const std::string &path, int64_t bytes, const BlockShare &share, const FillBlock &fill);
  ~BlockWriter();

  absl::Status run();

private:
  absl::Status reserve() const;
  void work();
  absl::Status writeBlock(int64_t begin, int64_t end, char *buffer);
  absl::Status writeDirectly(int64_t begin, int64_t end, char *buffer);
  absl::Status writeAll(int fd, int64_t offset, const char *data, int64_t count) const;
  absl::Status error(const char *what) const {
    return absl::ResourceExhaustedError(absl::StrCat(path, ": cannot ", what, ": ", std::strerror(errno)));
  }

  const int descriptor;
  const std::string &path;
  const int64_t bytes;
  const BlockShare share;
  const FillBlock &fill;
  int direct = -1; ///< the file, opened once more; -1: not possible
  std::atomic<bool> isDirect;
  std::atomic<int64_t> nextBlock;
  std::atomic<bool> hasFailed{false};
  std::mutex mutex;
  absl::Status failure; ///< the first; guarded by mutex
};
} // namespace

BlockWriter::BlockWriter(int descriptor, const std::string &path, int64_t bytes, const BlockShare &share,
                         const FillBlock &fill)
    : descriptor(descriptor), path(path), bytes(bytes), share(share), fill(fill), nextBlock(share.member) {
  // A file without a name is opened by its descriptor.
  direct = ::open(absl::StrCat("/proc/self/fd/", descriptor).c_str(), O_WRONLY | O_DIRECT | O_CLOEXEC);
  isDirect = direct >= 0;
}

BlockWriter::~BlockWriter() {
  if (direct >= 0)
    ::close(direct);
}

absl::Status BlockWriter::writeAll(int fd, int64_t offset, const char *data, int64_t count) const {
  while (count > 0) {
    const ssize_t put = ::pwrite(fd, data, static_cast<size_t>(count), offset);
    if (put < 0 && errno == EINTR)
      continue;
    if (put < 0)
      return error("write");
    data += put;
    offset += put;
    count -= put;
  }
  return absl::OkStatus();
}

/// The file's last block is padded to the alignment, and the file cut to its size again.
absl::Status BlockWriter::writeDirectly(int64_t begin, int64_t end, char *buffer) {
  const int64_t count = end - begin, padded = roundUp(count);
  std::memset(buffer + count, 0, static_cast<size_t>(padded - count));
  const absl::Status status = writeAll(direct, begin, buffer, padded);
  if (status.ok() && padded != count && ::ftruncate(descriptor, bytes) != 0)
    return error("cut to its size");
  return status;
}

absl::Status BlockWriter::writeBlock(int64_t begin, int64_t end, char *buffer) {
  fill(begin, end, buffer);
  if (isDirect) {
    errno = 0;
    const absl::Status status = writeDirectly(begin, end, buffer);
    if (status.ok() || errno != EINVAL)
      return status;
    isDirect = false; // some file systems open the file so and then refuse to write
  }
  return writeAll(descriptor, begin, buffer, end - begin);
}

void BlockWriter::work() {
  const std::unique_ptr<char, void (*)(void *)> buffer(static_cast<char *>(std::aligned_alloc(kAlignment, kBlockBytes)),
                                                       std::free);
  while (!hasFailed) {
    const int64_t begin = nextBlock.fetch_add(share.members) * kBlockBytes;
    if (begin >= bytes)
      return;
    const absl::Status status = buffer ? writeBlock(begin, std::min(bytes, begin + kBlockBytes), buffer.get())
                                       : absl::ResourceExhaustedError(absl::StrCat(path, ": no memory to write from"));
    if (status.ok())
      continue;
    const std::lock_guard<std::mutex> lock(mutex);
    failure.Update(status);
    hasFailed = true;
  }
}

/// Takes the room of the whole file: direct writes that make a file longer wait for each other.
absl::Status BlockWriter::reserve() const {
  if (bytes == 0 || ::fallocate(descriptor, 0, 0, bytes) == 0 || errno == EOPNOTSUPP || errno == EINTR)
    return absl::OkStatus();
  return error("take the room of the file");
}

absl::Status BlockWriter::run() {
  if (absl::Status status = reserve(); !status.ok())
    return status;
  const int64_t blocks = (bytes + kBlockBytes - 1) / kBlockBytes;
  const int64_t own = (blocks - share.member + share.members - 1) / share.members;
  std::vector<std::thread> threads;
  for (int64_t i = 1; i < std::min<int64_t>(share.threads, own); ++i)
    threads.emplace_back([this] { work(); });
  work();
  for (std::thread &thread : threads)
    thread.join();
  return failure;
}

absl::Status writeInBlocks(int descriptor, const std::string &path, int64_t bytes, const BlockShare &share,
                           const FillBlock &fill) {
  return BlockWriter(descriptor, path, bytes, share, fill).run();
}

} // namespace ds::runtime
