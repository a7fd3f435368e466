// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "TemporaryFolder.h"

#include "ds/Files/ContentHash.h"

#include <set>

namespace ds {

static std::string hashOf(const std::vector<std::string> &parts) {
  ContentHash hash;
  for (const std::string &part : parts)
    hash.add(part);
  return hash.hex();
}

TEST(ContentHash, EveryByteCounts) {
  std::set<std::string> seen;
  for (size_t size : {0, 1, 31, 32, 33, 64, 1000}) {
    const std::string text(size, 'a');
    seen.insert(hashOf({text}));
    for (size_t at = 0; at < size; ++at) {
      std::string changed = text;
      changed[at] = 'b';
      EXPECT_TRUE(seen.insert(hashOf({changed})).second) << size << " bytes, at " << at;
    }
  }
  EXPECT_EQ(seen.begin()->size(), 32u);
}

TEST(ContentHash, EndsOfAdditionsCount) {
  const std::vector<std::vector<std::string>> additions = {{},
                                                           {""},
                                                           {"", ""},
                                                           {"ab"},
                                                           {"a", "b"},
                                                           {"ab", ""},
                                                           {"", "ab"},
                                                           {std::string("ab\0", 3)},
                                                           {std::string(32, '\0')}};
  std::set<std::string> seen;
  for (const auto &parts : additions)
    EXPECT_TRUE(seen.insert(hashOf(parts)).second);
}

TEST(ContentHash, FilesAreReadInPieces) {
  const TemporaryFolder folder;
  std::set<std::string> seen;
  for (const size_t size : {0, 1, 1 << 20, (1 << 20) + 1}) {
    writeText(folder / "file", std::string(size, 'x'));
    const absl::StatusOr<File> file = File::open(folder / "file");
    ContentHash hash, again;
    ASSERT_TRUE(hash.add(*file).ok() && again.add(*file).ok());
    EXPECT_EQ(hash.hex(), again.hex());
    EXPECT_TRUE(seen.insert(hash.hex()).second);
  }
}

} // namespace ds
