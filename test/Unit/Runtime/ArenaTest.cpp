// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Runtime/Device/Arena.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <sys/mman.h>

using namespace ds::runtime;

TEST(Arena, IsZeroedAlignedAndExact) {
  const size_t bytes = (size_t(5) << 20) + 4096;
  absl::StatusOr<std::unique_ptr<Arena>> arena = Arena::create(bytes);
  ASSERT_TRUE(arena.ok()) << arena.status();
  EXPECT_EQ((*arena)->bytes(), bytes);
  EXPECT_EQ(reinterpret_cast<uintptr_t>((*arena)->data()) % (2 << 20), 0u);
  EXPECT_TRUE(std::all_of((*arena)->data(), (*arena)->data() + bytes, [](char byte) { return byte == 0; }));
}

TEST(Arena, AdoptsMemoryThatStaysWhenItGoes) {
  const size_t bytes = (size_t(4) << 20) + 4096;
  char *room = static_cast<char *>(
      mmap(nullptr, bytes + Arena::kHugePage, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  char *begin = room + (-reinterpret_cast<uintptr_t>(room) & (Arena::kHugePage - 1));
  {
    absl::StatusOr<std::unique_ptr<Arena>> arena = Arena::adopt(begin, bytes);
    ASSERT_TRUE(arena.ok()) << arena.status();
    EXPECT_EQ((*arena)->data(), begin);
    EXPECT_EQ((*arena)->bytes(), bytes);
    EXPECT_TRUE(std::all_of(begin, begin + bytes, [](char byte) { return byte == 0; }));
    begin[bytes - 1] = 7;
  }
  EXPECT_EQ(begin[bytes - 1], 7);
  munmap(room, bytes + Arena::kHugePage);
}

TEST(Arena, MayBeEmpty) {
  absl::StatusOr<std::unique_ptr<Arena>> arena = Arena::create(0);
  ASSERT_TRUE(arena.ok());
  EXPECT_EQ((*arena)->bytes(), 0u);
}

TEST(Arena, RefusesWhatTheMachineDoesNotHave) {
  absl::StatusOr<std::unique_ptr<Arena>> arena = Arena::create(std::numeric_limits<size_t>::max() / 4);
  ASSERT_EQ(arena.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(arena.status().message().find("must fit into memory"), std::string::npos) << arena.status();
}
