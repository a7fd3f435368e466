// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Files/ContentHash.h"

#include "absl/strings/str_format.h"

#include <xxhash.h>

#include <algorithm>
#include <new>
#include <vector>

using namespace ds;

ContentHash::ContentHash() : state(XXH3_createState(), [](XXH3_state_t *owned) { XXH3_freeState(owned); }) {
  if (!state)
    throw std::bad_alloc();
  XXH3_128bits_reset(state.get());
}

void ContentHash::add(std::string_view bytes) {
  XXH3_128bits_update(state.get(), bytes.data(), bytes.size());
  const uint64_t size = bytes.size(); // where the addition ends
  XXH3_128bits_update(state.get(), &size, sizeof(size));
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
  const XXH128_hash_t digest = XXH3_128bits_digest(state.get());
  return absl::StrFormat("%016x%016x", digest.high64, digest.low64);
}
