// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Plan/Plan.h"

#include "absl/strings/str_cat.h"

#include <zlib.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace ds::plan;

/// FlatBuffers files hold signed 32-bit offsets.
static constexpr size_t kMaxFileBytes = FLATBUFFERS_MAX_BUFFER_SIZE - 1;

static absl::Status invalid(std::string_view reason) {
  return absl::InvalidArgumentError(absl::StrCat("invalid plan: ", absl::string_view(reason.data(), reason.size())));
}

static absl::Status systemError(const std::string &action, const std::string &path) {
  return absl::ErrnoToStatus(errno, absl::StrCat("cannot ", action, " ", path));
}

namespace {
/// An open file, closed at the end of its scope.
struct File {
  int descriptor;
  explicit File(int descriptor) : descriptor(descriptor) {}
  File(const File &) = delete;
  ~File() {
    if (descriptor >= 0)
      close(descriptor);
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Bytes
//===----------------------------------------------------------------------===//

/// A plan file ends with these four bytes and the CRC-32 of all bytes before them, little-endian.
static constexpr std::string_view kTrailerMagic = "DSCK";
static constexpr size_t kTrailerBytes = 8;

static std::string trailerOf(std::string_view content) {
  const auto *bytes = reinterpret_cast<const Bytef *>(content.data());
  const uint32_t sum = static_cast<uint32_t>(crc32_z(0, bytes, content.size()));
  std::string trailer(kTrailerMagic);
  for (int shift = 0; shift < 32; shift += 8)
    trailer.push_back(static_cast<char>(sum >> shift));
  return trailer;
}

std::string ds::plan::writePlan(const PlanT &plan) {
  flatbuffers::FlatBufferBuilder builder(1 << 16);
  FinishPlanBuffer(builder, Plan::Pack(builder, &plan));
  std::string bytes(reinterpret_cast<const char *>(builder.GetBufferPointer()), builder.GetSize());
  return bytes + trailerOf(bytes);
}

/// The bytes before the trailer, whose checksum must be theirs.
static absl::StatusOr<std::string_view> contentOf(std::string_view bytes) {
  if (bytes.size() < kTrailerBytes + 8)
    return invalid(absl::StrCat("file must hold at least ", kTrailerBytes + 8, " bytes, got ", bytes.size()));
  if (!PlanBufferHasIdentifier(bytes.data()))
    return invalid(absl::StrCat("file must have the identifier \"", PlanIdentifier(), "\" at byte 4"));
  const std::string_view content = bytes.substr(0, bytes.size() - kTrailerBytes);
  const std::string_view trailer = bytes.substr(content.size());
  if (trailer.substr(0, kTrailerMagic.size()) != kTrailerMagic)
    return absl::DataLossError("invalid plan: file is cut off: it must end with a checksum; compile the model again");
  if (trailer != trailerOf(content))
    return absl::DataLossError("invalid plan: file is damaged: its bytes do not have the checksum at its end; compile "
                               "the model again");
  return content;
}

/// Verifies the offsets; a checksum only tells that the bytes are those that someone wrote. A table takes at least 8
/// bytes, so more tables than that are shared ones, which would grow when unpacked: the limit bounds the memory that a
/// hostile file can ask for.
static absl::Status verifyBytes(std::string_view bytes) {
  if (bytes.size() > kMaxFileBytes)
    return invalid(absl::StrCat("file must hold at most ", kMaxFileBytes, " bytes, got ", bytes.size()));
  flatbuffers::Verifier::Options options;
  options.max_tables = static_cast<uint32_t>(bytes.size() / 8 + 1);
  flatbuffers::Verifier verifier(reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size(), options);
  if (!VerifyPlanBuffer(verifier))
    return invalid("file has offsets that lead nowhere");
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<PlanT>> ds::plan::readPlan(std::string_view bytes) {
  // Offsets in the file are aligned relative to its start.
  if (reinterpret_cast<uintptr_t>(bytes.data()) % 8 != 0) {
    std::vector<uint64_t> aligned(bytes.size() / 8 + 1);
    std::memcpy(aligned.data(), bytes.data(), bytes.size());
    return readPlan({reinterpret_cast<const char *>(aligned.data()), bytes.size()});
  }
  absl::StatusOr<std::string_view> content = contentOf(bytes);
  if (!content.ok())
    return content.status();
  if (absl::Status status = verifyBytes(*content); !status.ok())
    return status;
  const Plan *plan = GetPlan(bytes.data());
  if (plan->version() != kPlanVersion)
    return invalid(absl::StrCat("version must be ", kPlanVersion, ", got ", plan->version(),
                                "; compile the model again with this version's compiler"));
  return std::unique_ptr<PlanT>(plan->UnPack());
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

absl::StatusOr<std::unique_ptr<PlanT>> ds::plan::loadPlan(const std::string &path) {
  File file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.descriptor < 0)
    return systemError("open plan", path);
  struct stat info;
  if (fstat(file.descriptor, &info) != 0)
    return systemError("read plan", path);
  if (!S_ISREG(info.st_mode))
    return absl::InvalidArgumentError(absl::StrCat("invalid plan: ", path, " must be a regular file"));
  size_t size = static_cast<size_t>(info.st_size);
  if (size == 0)
    return readPlan({});
  void *data = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.descriptor, 0);
  if (data == MAP_FAILED)
    return systemError("map plan", path);
  auto plan = readPlan({static_cast<const char *>(data), size});
  munmap(data, size);
  if (!plan.ok())
    return absl::Status(plan.status().code(), absl::StrCat(plan.status().message(), " (", path, ")"));
  return plan;
}

static absl::Status writeAll(int descriptor, std::string_view bytes, const std::string &path) {
  while (!bytes.empty()) {
    ssize_t written = write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      return systemError("write", path);
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  // A rename that survives a crash while the data does not would leave a partial file.
  return fsync(descriptor) == 0 ? absl::OkStatus() : systemError("write", path);
}

absl::Status ds::plan::savePlan(const PlanT &plan, const std::string &path) {
  std::string bytes = writePlan(plan);
  std::string temporary = absl::StrCat(path, ".tmp", getpid());
  absl::Status status;
  {
    File file(open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
    if (file.descriptor < 0)
      return systemError("create", path);
    status = writeAll(file.descriptor, bytes, path);
  }
  if (status.ok() && std::rename(temporary.c_str(), path.c_str()) != 0)
    status = systemError("rename the temporary file to", path);
  if (!status.ok())
    unlink(temporary.c_str());
  return status;
}
