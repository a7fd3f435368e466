// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Files/ContentHash.h"

#include "absl/strings/str_format.h"

#include <algorithm>
#include <cstring>
#include <vector>

using namespace ds;

static constexpr size_t kStripeBytes = 32;

static uint64_t rotateLeft(uint64_t value, int bits) { return value << bits | value >> (64 - bits); }

/// Spreads each bit over all others. Source: the finalizer of SplitMix64.
static uint64_t mix(uint64_t value) {
  value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9;
  value = (value ^ (value >> 27)) * 0x94D049BB133111EB;
  return value ^ (value >> 31);
}

/// The round of XXH64, which is a bijection of the lane for each word and of the word for each lane.
void ContentHash::addStripe(const char *bytes) {
  for (int lane = 0; lane < 4; ++lane) {
    uint64_t word;
    std::memcpy(&word, bytes + 8 * lane, 8);
    lanes[lane] = rotateLeft(lanes[lane] + word * 0xC2B2AE3D27D4EB4F, 31) * 0x9E3779B185EBCA87;
  }
}

void ContentHash::add(std::string_view bytes) {
  const uint64_t size = bytes.size();
  for (; bytes.size() >= kStripeBytes; bytes.remove_prefix(kStripeBytes))
    addStripe(bytes.data());
  char last[kStripeBytes] = {};
  std::memcpy(last, bytes.data(), bytes.size());
  addStripe(last);
  char end[kStripeBytes] = "end of an addition";
  std::memcpy(end + kStripeBytes - sizeof(size), &size, sizeof(size));
  addStripe(end);
}

void ContentHash::add(int64_t number) { add({reinterpret_cast<const char *>(&number), sizeof(number)}); }

absl::Status ContentHash::add(const File &file) {
  constexpr int64_t chunkBytes = 1 << 20;
  const absl::StatusOr<int64_t> size = file.size();
  if (!size.ok())
    return size.status();
  std::vector<char> chunk(static_cast<size_t>(std::min(chunkBytes, *size)));
  for (int64_t at = 0; at < *size; at += chunkBytes) {
    const int64_t count = std::min(chunkBytes, *size - at);
    if (absl::Status status = file.readAt(at, chunk.data(), count); !status.ok())
      return status;
    add({chunk.data(), static_cast<size_t>(count)});
  }
  add(*size);
  return absl::OkStatus();
}

std::string ContentHash::hex() const {
  uint64_t low = 0, high = 0;
  for (const uint64_t lane : lanes) {
    low = mix(low ^ lane) + 0x9E3779B97F4A7C15;
    high = mix(high + lane * 0xD6E8FEB86659FD93) ^ low;
  }
  return absl::StrFormat("%016x%016x", low, high);
}
