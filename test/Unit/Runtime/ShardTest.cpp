// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// The casts that each rank does alone, on every rank of an axis; and Remap, with the ranks as threads.

#include "PlanProgram.h"

#include "ds/Plan/LayoutTables.h"

#include <condition_variable>
#include <limits>
#include <map>
#include <mutex>
#include <thread>

using namespace ds;
using namespace ds::runtime;
using namespace ds::runtime::test;

TEST(TakeShard, TakesEachRanksPart) {
  for (int64_t whole : {0, 1, 3, 8})
    for (int64_t rank = 0; rank < 3; ++rank) {
      PlanProgram program;
      program.addAxis("dp", 3);
      const std::vector<float> data = randomFloats(5 * whole * 2, 3);
      plan::TakeShardT shard;
      shard.input = program.buffer(data);
      shard.output = program.buffer<float>(5 * 3 * 2);
      shard.outer = program.extent(5);
      shard.whole = program.extent(whole);
      shard.inner = program.extent(2);
      const uint32_t output = shard.output;
      program.add(shard);
      ASSERT_TRUE(program.start({}, rank).ok());
      ASSERT_TRUE(program.run().ok());
      const int64_t block = (whole + 2) / 3, begin = std::min(whole, rank * block),
                    end = std::min(whole, begin + block);
      const std::vector<float> got = program.read<float>(output);
      for (int64_t i = 0; i < 5 * (end - begin) * 2; ++i)
        EXPECT_EQ(got[size_t(i)],
                  data[size_t(i / (2 * (end - begin)) * whole * 2 + begin * 2 + i % (2 * (end - begin)))]);
    }
}

TEST(ToPartial, KeepsTheValueOnOneRankOnly) {
  for (plan::ReduceKind reduce : {plan::ReduceKind::Sum, plan::ReduceKind::Max, plan::ReduceKind::Min})
    for (int64_t rank = 0; rank < 2; ++rank) {
      PlanProgram program;
      program.addAxis("dp", 2);
      const std::vector<float> data = randomFloats(1001, 3);
      plan::ToPartialT cast;
      cast.input = program.buffer(data);
      cast.output = program.buffer<float>(1001);
      cast.count = program.extent(1001);
      cast.reduce = reduce;
      const uint32_t output = cast.output;
      program.add(cast);
      ASSERT_TRUE(program.start({}, rank).ok());
      ASSERT_TRUE(program.run().ok());
      const float infinity = std::numeric_limits<float>::infinity();
      const float neutral = reduce == plan::ReduceKind::Sum   ? 0
                            : reduce == plan::ReduceKind::Max ? -infinity
                                                              : infinity;
      EXPECT_EQ(program.read<float>(output), rank == 0 ? data : std::vector<float>(1001, neutral));
    }
}

namespace {
/// Exchanges between threads of one process, by mailboxes.
class ThreadedWorld {
public:
  explicit ThreadedWorld(int64_t ranks) : ranks(ranks) {}

  class RankTransport : public Transport {
  public:
    RankTransport(ThreadedWorld &world, int64_t rank) : world(world), rank(rank) {}
    absl::StatusOr<std::unique_ptr<Communicator>> open(uint32_t, uint32_t axis) override {
      EXPECT_EQ(axis, Transport::kAllAxes);
      return std::make_unique<Member>(world, rank);
    }
    void abort() override {}

  private:
    ThreadedWorld &world;
    int64_t rank;
  };

private:
  struct Member : Communicator {
    Member(ThreadedWorld &world, int64_t rank) : world(world), rank(rank) {}
    int64_t size() const override { return world.ranks; }
    int64_t ownMember() const override { return rank; }
    absl::Status run(const CollectiveCall &) override { return absl::UnimplementedError("no collectives here"); }
    absl::Status barrier() override { return absl::OkStatus(); }
    absl::Status exchange(absl::Span<const SendPiece> sends, absl::Span<const ReceivePiece> receives) override {
      std::unique_lock<std::mutex> lock(world.mutex);
      std::map<int64_t, std::vector<char>> letters;
      for (const SendPiece &piece : sends)
        for (int64_t row = 0; row < piece.rows; ++row) {
          const char *data = static_cast<const char *>(piece.data) + row * piece.stride;
          letters[piece.peer].insert(letters[piece.peer].end(), data, data + piece.bytes);
        }
      for (auto &[peer, letter] : letters) {
        const auto key = std::make_pair(rank, peer);
        world.changed.wait(lock, [&] { return world.mail.count(key) == 0; }); // The peer may still be a step behind.
        world.mail[key] = std::move(letter);
        world.changed.notify_all();
      }
      std::map<int64_t, size_t> read; // bytes, by peer
      for (const ReceivePiece &piece : receives) {
        const auto key = std::make_pair(piece.peer, rank);
        world.changed.wait(lock, [&] { return world.mail.count(key) > 0; });
        for (int64_t row = 0; row < piece.rows; ++row) {
          const size_t begin = read[piece.peer], bytes = static_cast<size_t>(piece.bytes);
          if (begin + bytes > world.mail[key].size())
            return absl::InternalError("a peer must send as much as is received");
          std::memcpy(static_cast<char *>(piece.data) + row * piece.stride, world.mail[key].data() + begin, bytes);
          read[piece.peer] += bytes;
        }
      }
      for (const auto &[peer, bytes] : read) {
        EXPECT_EQ(world.mail[std::make_pair(peer, rank)].size(), bytes);
        world.mail.erase(std::make_pair(peer, rank));
      }
      world.changed.notify_all();
      return absl::OkStatus();
    }

    ThreadedWorld &world;
    int64_t rank;
  };

  int64_t ranks;
  std::mutex mutex;
  std::condition_variable changed;
  std::map<std::pair<int64_t, int64_t>, std::vector<char>> mail;
};
} // namespace

/// Remaps a tensor of its own element numbers on all ranks, and checks what each rank gets.
static void checkRemap(const Layout &from, const Layout &to, const Shape &shape) {
  const Mesh mesh({{"dp", 2, {}}, {"tp", 3, {}}});
  ThreadedWorld world(mesh.numRanks());
  std::vector<std::thread> threads;
  for (int64_t rank = 0; rank < mesh.numRanks(); ++rank)
    threads.emplace_back([&, rank] {
      PlanProgram program;
      program.plan.mesh = plan::toPlanMesh(mesh);
      const std::vector<int64_t> have = ownedIndices(from, shape, mesh, rank),
                                 want = ownedIndices(to, shape, mesh, rank);
      plan::RemapT remap;
      remap.input = program.buffer(have);
      remap.output = program.buffer<int64_t>(static_cast<int64_t>(want.size()));
      remap.shape = shape;
      remap.from = plan::toPlanLayout(from, shape, mesh);
      remap.to = plan::toPlanLayout(to, shape, mesh);
      remap.type = plan::DataType::I64;
      const uint32_t output = remap.output;
      program.add(std::move(remap));
      ThreadedWorld::RankTransport transport(world, rank);
      const absl::Status started = program.start({}, rank, &transport);
      ASSERT_TRUE(started.ok()) << started;
      for (int step = 0; step < 2; ++step)
        ASSERT_TRUE(program.run().ok());
      EXPECT_EQ(program.read<int64_t>(output), want) << "rank " << rank << ": " << from.str() << " -> " << to.str();
    });
  for (std::thread &thread : threads)
    thread.join();
}

TEST(Remap, LeadsFromAnyLayoutToAnyOther) {
  const auto layout = [&](AxisList rows, AxisList columns, AxisList flat) {
    Layout result = Layout::replicated(2);
    result.dims[0][0].axes = std::move(rows);
    result.dims[1][0].axes = std::move(columns);
    result.flat = std::move(flat);
    return result;
  };
  const std::vector<Layout> layouts = {
      layout({}, {}, {}),     layout({"dp"}, {}, {}),     layout({}, {"dp", "tp"}, {}), layout({"tp"}, {"dp"}, {}),
      layout({}, {}, {"tp"}), layout({"dp"}, {}, {"tp"}), layout({}, {"tp"}, {"dp"}),   layout({}, {}, {"dp", "tp"})};
  for (const Layout &from : layouts)
    for (const Layout &to : layouts)
      checkRemap(from, to, {5, 3});
  Layout major = Layout::replicated(2), minor = major;
  major.dims[0] = {Factor{3, {"tp"}}, Factor{4, {}}};
  minor.dims[0] = {Factor{4, {}}, Factor{3, {"tp"}}};
  minor.dims[1] = {Factor{2, {"dp"}}, Factor{2, {}}};
  checkRemap(major, minor, {12, 4});
  checkRemap(minor, major, {12, 4});
  checkRemap(layouts[1], layouts[2], {0, 3});
  checkRemap(layouts[5], layouts[3], {1, 1});
}
