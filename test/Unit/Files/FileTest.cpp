// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "TemporaryFolder.h"

#include "ds/Files/Folder.h"
#include "ds/Files/PendingFile.h"

#include <sys/stat.h>
#include <unistd.h>

namespace ds {

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

TEST(File, OpensRegularFilesAloneAndNeverWaits) {
  const TemporaryFolder folder;
  writeText(folder / "file", "text");
  std::filesystem::create_symlink(folder / "file", folder / "link");
  std::filesystem::create_symlink(folder / "loop", folder / "loop");
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  for (const std::string &path : {folder / "file", folder / "link"})
    EXPECT_EQ(*readWholeFile(path, 10), "text");
  const std::string longName(300, 'x');
  for (const std::string &path : {folder / "pipe", std::string("/dev/zero"), folder.path, folder / "loop",
                                  folder / "none", folder / longName, std::string()}) {
    const absl::Status status = readWholeFile(path, 10).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << path << ": " << status;
    EXPECT_EQ(status.message().find(path), 0u) << status;
    EXPECT_FALSE(MappedFile::open(path).ok()) << path;
  }
  EXPECT_TRUE(absl::IsInvalidArgument(readWholeFile(folder / "file", 3).status()));
}

TEST(File, MapsFilesOfAnySize) {
  const TemporaryFolder folder;
  for (const size_t size : {0, 1, 5000}) {
    writeText(folder / "file", std::string(size, 'x'));
    absl::StatusOr<MappedFile> mapped = MappedFile::open(folder / "file");
    ASSERT_TRUE(mapped.ok()) << mapped.status();
    const MappedFile moved = *std::move(mapped);
    EXPECT_EQ(moved.bytes(), std::string(size, 'x'));
  }
}

TEST(File, StaysBelowItsFolder) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "model");
  writeText(folder / "secret", "x");
  writeText(folder / "model/weights", "x");
  std::filesystem::create_symlink(folder / "secret", folder / "model/link");
  EXPECT_TRUE(File::openBelow(folder / "model", "weights").ok());
  EXPECT_TRUE(File::openBelow(folder / "model", "./weights").ok());
  for (const std::string &path :
       {std::string("../secret"), std::string("./../secret"), folder / "secret", std::string("."), std::string("none")})
    EXPECT_TRUE(absl::IsInvalidArgument(File::openBelow(folder / "model", path).status())) << path;
  // A model may be a link; where it may lead was checked when it was compiled.
  EXPECT_TRUE(File::openBelow(folder / "model", "link").ok());
}

TEST(File, IsOwnUnlessOthersMayWrite) {
  const TemporaryFolder folder;
  writeText(folder / "file", "x");
  const File file = *File::open(folder / "file");
  for (const mode_t mode : {0600, 0644})
    EXPECT_TRUE(::chmod((folder / "file").c_str(), mode) == 0 && file.isOwn()) << mode;
  for (const mode_t mode : {0660, 0602})
    EXPECT_TRUE(::chmod((folder / "file").c_str(), mode) == 0 && !file.isOwn()) << mode;
  if (::geteuid() != 0 || ::chmod((folder / "file").c_str(), 0600) != 0)
    GTEST_SKIP() << "only root can give a file away";
  ASSERT_EQ(::chown((folder / "file").c_str(), 12345, -1), 0);
  EXPECT_FALSE(file.isOwn());
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

TEST(PendingFile, AppearsOnCommitOnly) {
  const TemporaryFolder folder;
  writeText(folder / "out", "old");
  {
    absl::StatusOr<PendingFile> pending = PendingFile::create(folder / "out");
    ASSERT_TRUE(pending.ok()) << pending.status();
    ASSERT_TRUE(pending->file().writeAt(0, "newer", 5).ok());
    EXPECT_EQ(readText(folder / "out"), "old");
  }
  EXPECT_EQ(folder.names(), (std::vector<std::string>{"out"}));
  for (const std::string &name : {folder / "out", folder / "new"}) {
    ASSERT_TRUE(writeWholeFile(name, "newer").ok());
    EXPECT_EQ(readText(name), "newer");
  }
  EXPECT_EQ(folder.names(), (std::vector<std::string>{"new", "out"}));
}

TEST(PendingFile, ReplacesRegularFilesAlone) {
  const TemporaryFolder folder;
  writeText(folder / "file", "x");
  std::filesystem::create_directory(folder / "folder");
  std::filesystem::create_symlink(folder / "file", folder / "link");
  std::filesystem::create_symlink(folder / "none", folder / "dangling");
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  const std::vector<std::string> before = folder.names();
  for (const auto &[path, kind] :
       std::vector<std::pair<std::string, std::string>>{{folder / "folder", "is a folder"},
                                                        {folder / "link", "is a symbolic link"},
                                                        {folder / "dangling", "is a symbolic link"},
                                                        {folder / "pipe", "is a named pipe"},
                                                        {"/dev/null", "is a device"},
                                                        {folder / "file/x", "is no folder"},
                                                        {folder / "none/x", "is no folder"},
                                                        {folder / std::string(300, 'x'), "File name too long"}}) {
    const absl::Status status = writeWholeFile(path, "y");
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << path << ": " << status;
    EXPECT_NE(status.message().find(kind), std::string::npos) << status;
  }
  EXPECT_EQ(folder.names(), before);
  EXPECT_EQ(readText(folder / "file"), "x");
}

TEST(PendingFile, TakesItsRoomBeforeTheWork) {
  const TemporaryFolder folder;
  absl::StatusOr<PendingFile> pending = PendingFile::create(folder / "out");
  ASSERT_TRUE(pending.ok()) << pending.status();
  EXPECT_TRUE(pending->reserve(0).ok());
  EXPECT_TRUE(pending->reserve(100000).ok());
  EXPECT_EQ(*pending->file().size(), 100000);
  const absl::Status full = pending->reserve(int64_t(1) << 60);
  EXPECT_TRUE(absl::IsResourceExhausted(full)) << full;
  EXPECT_EQ(full.message().find(folder / "out"), 0u) << full;
}

TEST(PendingFile, EntriesOfACacheAreTheUsersOwn) {
  const TemporaryFolder folder;
  const mode_t before = ::umask(0);
  absl::StatusOr<PendingFile> pending = PendingFile::create(folder / "entry");
  ::umask(before);
  ASSERT_TRUE(pending.ok() && pending->commitToCache().ok());
  EXPECT_TRUE(File::open(folder / "entry")->isOwn());
}

//===----------------------------------------------------------------------===//
// Folders
//===----------------------------------------------------------------------===//

TEST(Folder, NamesAreSortedAndFaultsAreNone) {
  const TemporaryFolder folder;
  EXPECT_TRUE(namesIn(folder.path).empty());
  writeText(folder / "b", "");
  writeText(folder / "a", "");
  EXPECT_EQ(namesIn(folder.path), (std::vector<std::string>{"a", "b"}));
  for (const std::string &none : {folder / "a", folder / "none", folder / std::string(300, 'x')})
    EXPECT_TRUE(namesIn(none).empty());
}

TEST(Folder, CachesBelongToOneUser) {
  const TemporaryFolder folder;
  EXPECT_TRUE(makeCacheFolder(folder / "x/y").ok());
  ASSERT_EQ(::chmod((folder / "x/y").c_str(), 0777), 0);
  EXPECT_TRUE(absl::IsPermissionDenied(makeCacheFolder(folder / "x/y")));
  writeText(folder / "file", "");
  EXPECT_TRUE(absl::IsInvalidArgument(makeCacheFolder(folder / "file/y")));
  if (::geteuid() != 0)
    GTEST_SKIP() << "only root can give a folder away";
  ASSERT_TRUE(::chmod((folder / "x/y").c_str(), 0755) == 0 && ::chown((folder / "x/y").c_str(), 12345, -1) == 0);
  EXPECT_TRUE(absl::IsPermissionDenied(makeCacheFolder(folder / "x/y")));
}

} // namespace ds
