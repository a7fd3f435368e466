// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Plan/Plan.h"

#include "ds/Files/ContentHash.h"
#include "ds/Files/PendingFile.h"

#include "absl/strings/str_cat.h"

#include <zlib.h>

#include <cstring>

using namespace ds;
using namespace ds::plan;

/// FlatBuffers files hold signed 32-bit offsets.
static constexpr size_t kMaxFileBytes = FLATBUFFERS_MAX_BUFFER_SIZE - 1;

static absl::Status invalid(std::string_view reason) {
  return absl::InvalidArgumentError(absl::StrCat("invalid plan: ", absl::string_view(reason.data(), reason.size())));
}

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

static std::string pack(const PlanT &plan) {
  flatbuffers::FlatBufferBuilder builder(1 << 16);
  FinishPlanBuffer(builder, Plan::Pack(builder, &plan));
  return std::string(reinterpret_cast<const char *>(builder.GetBufferPointer()), builder.GetSize());
}

std::string ds::plan::fingerprintOf(const PlanT &plan) {
  PlanT unmarked = plan;
  unmarked.fingerprint.clear();
  ContentHash hash;
  hash.add(pack(unmarked));
  return hash.hex();
}

std::string ds::plan::writePlan(const PlanT &plan) {
  PlanT marked = plan;
  marked.fingerprint = fingerprintOf(plan);
  const std::string bytes = pack(marked);
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

absl::StatusOr<std::unique_ptr<PlanT>> ds::plan::loadPlan(const File &file) {
  const absl::StatusOr<MappedFile> content = MappedFile::map(file);
  if (!content.ok())
    return content.status();
  auto plan = readPlan(content->bytes());
  if (!plan.ok())
    return absl::Status(plan.status().code(), absl::StrCat(plan.status().message(), " (", file.path(), ")"));
  return plan;
}

absl::StatusOr<std::unique_ptr<PlanT>> ds::plan::loadPlan(const std::string &path) {
  const absl::StatusOr<File> file = File::open(path);
  return file.ok() ? loadPlan(*file) : file.status();
}

absl::Status ds::plan::savePlan(const PlanT &plan, const std::string &path) {
  return writeWholeFile(path, writePlan(plan));
}
