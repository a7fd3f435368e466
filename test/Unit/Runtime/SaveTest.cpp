// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// Files that several ranks write together, in blocks.

#include "../Files/TemporaryFolder.h"

#include "ds/Plan/Extents.h"
#include "ds/Runtime/Session/OwnedRuns.h"
#include "ds/Runtime/Session/VariableFiles.h"
#include "ds/Runtime/Storage/WriteInBlocks.h"

#include <cstring>
#include <fcntl.h>
#include <map>
#include <unistd.h>

namespace ds::runtime {

/// Byte `at` of the test files.
static char byteAt(int64_t at) { return static_cast<char>(at * 31 + at / 4096); }

static std::string bytesUpTo(int64_t count) {
  std::string text(static_cast<size_t>(count), '\0');
  for (int64_t i = 0; i < count; ++i)
    text[i] = byteAt(i);
  return text;
}

/// A file in `folder` that `members` have written together.
static std::string writtenIn(const std::string &folder, int64_t bytes, int64_t members, int threads) {
  std::string name = folder + "/ds-save-XXXXXX";
  const File file(::mkstemp(name.data()), name);
  EXPECT_GE(file.descriptor(), 0) << name;
  for (int64_t member = members; member-- > 0;) {
    const absl::Status status = writeInBlocks(file.descriptor(), name, bytes, {member, members, threads},
                                              [](int64_t begin, int64_t end, char *target) {
                                                for (int64_t i = begin; i < end; ++i)
                                                  target[i - begin] = byteAt(i);
                                              });
    EXPECT_TRUE(status.ok()) << status;
  }
  std::string text = readText(name);
  ::unlink(name.c_str());
  return text;
}

TEST(WriteInBlocks, WritesAllBytesWhateverTheSize) {
  const TemporaryFolder folder;
  for (const int64_t bytes : {int64_t(0), int64_t(1), int64_t(4096), int64_t(4097), kBlockBytes - 1, kBlockBytes,
                              kBlockBytes + 1, 3 * kBlockBytes + 5000})
    for (const int64_t members : {1, 3})
      EXPECT_TRUE(writtenIn(folder.path, bytes, members, 2) == bytesUpTo(bytes)) << bytes << " by " << members;
}

TEST(WriteInBlocks, WritesWhereThereIsNoDirectWriting) {
  if (!std::filesystem::is_directory("/dev/shm"))
    GTEST_SKIP() << "no file system in memory";
  const int64_t bytes = kBlockBytes + 12345;
  EXPECT_TRUE(writtenIn("/dev/shm", bytes, 2, 2) == bytesUpTo(bytes));
}

TEST(WriteInBlocks, SaysWhatFails) {
  const absl::Status status = writeInBlocks(1 << 20, "gone", 10, {}, [](int64_t, int64_t, char *) {});
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_NE(status.message().find("gone: cannot "), std::string::npos) << status;
}

//===----------------------------------------------------------------------===//
// Models
//===----------------------------------------------------------------------===//

/// A plan of variables only, and the memory of its ranks.
class RanksOfVariables {
public:
  explicit RanksOfVariables(std::vector<MeshAxis> axes) : mesh(axes) {
    for (const MeshAxis &axis : axes) {
      auto table = std::make_unique<plan::MeshAxisT>();
      table->name = axis.name;
      table->size = static_cast<uint32_t>(axis.size);
      plan.mesh.push_back(std::move(table));
    }
  }

  void add(const std::string &name, plan::DataType type, const Shape &shape, const Layout &layout) {
    auto variable = std::make_unique<plan::VariableT>();
    variable->name = name;
    variable->role = plan::VariableRole::Parameter;
    variable->type = type;
    variable->shape = shape;
    variable->layout = plan::toPlanLayout(layout, shape, mesh);
    variable->buffer = static_cast<uint32_t>(plan.variables.size());
    const auto width = static_cast<int64_t>(plan::sizeOf(type));
    for (int64_t rank = 0; rank < mesh.numRanks(); ++rank) {
      const std::vector<int64_t> owned = ownedIndices(layout, shape, mesh, rank);
      std::string bytes;
      for (const int64_t index : owned)
        for (int64_t i = 0; i < width; ++i)
          bytes += byteAt(index * width + i + variable->buffer);
      memory[{rank, variable->buffer}] = bytes;
      room = std::max(room, bytes.size());
    }
    plan.variables.push_back(std::move(variable));
  }

  RankMemory memoryOf(int64_t rank) {
    return {plan, mesh, rank,
            [this, rank](uint32_t id) {
              return BufferView{memory[{rank, id}].data(), room};
            },
            [this](int64_t other, uint32_t id) {
              return memory[{other, id}].data();
            }};
  }

  plan::PlanT plan;
  const Mesh mesh;
  std::map<std::pair<int64_t, uint32_t>, std::string> memory;
  size_t room = 0;
};

static Layout layoutOf(size_t dims, const std::vector<AxisList> &cuts, AxisList flat = {}) {
  Layout layout = Layout::replicated(dims);
  for (size_t i = 0; i < cuts.size(); ++i)
    layout.dims[i][0].axes = cuts[i];
  layout.flat = std::move(flat);
  return layout;
}

TEST(SaveVariables, GathersWhatAllRanksHold) {
  RanksOfVariables ranks({{"dp", 3, {}}, {"tp", 2, {}}});
  ranks.add("odd", plan::DataType::Bool, {13}, layoutOf(1, {}, {"dp"}));
  ranks.add("columns", plan::DataType::F32, {700, 1001}, layoutOf(2, {{}, {"tp"}}));
  ranks.add("both", plan::DataType::F32, {1100, 1003}, layoutOf(2, {{"tp"}}, {"dp"}));
  ranks.add("whole", plan::DataType::I64, {5, 3}, layoutOf(2, {}));
  ranks.add("scalar", plan::DataType::F32, {}, layoutOf(0, {}));
  ranks.add("halves", plan::DataType::BF16, {7, 3}, layoutOf(2, {{"dp"}}));
  const TemporaryFolder folder;
  writeText(folder / "out", "");
  const File file(::open((folder / "out").c_str(), O_RDWR), folder / "out");
  for (int64_t rank = 0; rank < 6; ++rank) {
    const absl::Status status = saveVariables(ranks.memoryOf(rank), {plan::VariableRole::Parameter}, file);
    ASSERT_TRUE(status.ok()) << status;
  }
  const auto tensors = readSafetensorsHeader(file);
  ASSERT_TRUE(tensors.ok()) << tensors.status();
  const std::string text = readText(folder / "out");
  for (const auto &variable : ranks.plan.variables) {
    const StoredTensor &stored = tensors->at(variable->name);
    for (int64_t i = 0; i < stored.bytes(); ++i)
      ASSERT_EQ(text[stored.offset + i], byteAt(i + variable->buffer)) << variable->name << " " << i;
  }
}

} // namespace ds::runtime
