// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "TemporaryFolder.h"

#include "ds/Files/CacheEntries.h"

#include <fcntl.h>
#include <sys/stat.h>

namespace ds {

/// Says that `path` was used `second` seconds after the clock's beginning.
static void setUsed(const std::string &path, time_t second) {
  const timespec times[2] = {{second, 0}, {second, 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
}

TEST(CacheEntries, WhatWasWrittenIsRead) {
  const TemporaryFolder folder;
  EXPECT_EQ(readCacheEntry(folder / "a.plan", 100), std::nullopt);
  ASSERT_TRUE(writeCacheEntry(folder / "a.plan", "first").ok());
  ASSERT_TRUE(writeCacheEntry(folder / "a.plan", "second").ok());
  EXPECT_EQ(readCacheEntry(folder / "a.plan", 100), "second");
  EXPECT_EQ(readCacheEntry(folder / "a.plan", 5), std::nullopt);
}

TEST(CacheEntries, WhatOthersMayWriteIsNotTaken) {
  const TemporaryFolder folder;
  ASSERT_TRUE(writeCacheEntry(folder / "a.plan", "code").ok());
  ASSERT_EQ(::chmod((folder / "a.plan").c_str(), 0666), 0);
  EXPECT_EQ(readCacheEntry(folder / "a.plan", 100), std::nullopt);
}

TEST(CacheEntries, TheOneUsedLastIsTheFirst) {
  const TemporaryFolder folder;
  for (const char *name : {"a.plan", "b.plan", "c.plan.7.part", "d.kernel"})
    ASSERT_TRUE(writeCacheEntry(folder / name, name).ok());
  setUsed(folder / "a.plan", 10);
  setUsed(folder / "b.plan", 30);
  setUsed(folder / "c.plan.7.part", 20);
  ASSERT_NE(readCacheEntry(folder / "a.plan", 100), std::nullopt);
  const std::vector<CacheEntry> entries = cacheEntries(folder / "", ".plan");
  ASSERT_EQ(entries.size(), 3u);
  EXPECT_EQ(readText(entries[0].path), "a.plan");
  EXPECT_EQ(readText(entries[1].path), "b.plan");
  EXPECT_EQ(entries[1].used, 30000000000);
  EXPECT_EQ(entries[2].bytes, 13);
  EXPECT_TRUE(cacheEntries(folder / "none", ".plan").empty());
}

} // namespace ds
