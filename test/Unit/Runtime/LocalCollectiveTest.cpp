// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// Collectives between processes against sums and copies written out by index.

#include "ForkedRanks.h"

#include "ds/Layout/Layout.h"
#include "ds/Plan/Extents.h"
#include "ds/Runtime/Device/Float16.h"

#include <chrono>
#include <cmath>
#include <cstring>
#include <fcntl.h>

namespace ds::runtime {

namespace {
struct Extents {
  int64_t outer = 1, whole = 1, middle = 1, scatterWhole = 1, inner = 1;
  bool scatterFirst = false;
};

/// A collective and the data of all members: element i of segment s of member m is value(m, s, i).
struct Case {
  plan::CollectiveKind kind = plan::CollectiveKind::AllGather;
  std::vector<Extents> segments;
  plan::ReduceKind reduce = plan::ReduceKind::Sum;
};

constexpr size_t kArenaBytes = 1 << 20, kLargeArenaBytes = 16 << 20;

/// A member's view of a case, on an axis.
class Checker {
public:
  Checker(const Case &test, const MeshAxis &axis, int64_t own) : test(test), axis(axis), own(own) {}

  /// Runs it on `communicator`, with its data in `memory`; empty if all elements are right.
  std::string run(Communicator &communicator, const Arena &memory);

private:
  struct Data {
    float *begin;
    int64_t count;
  };
  Interval part(int64_t whole, int64_t member) const { return split({0, whole}, axis, member); }
  int64_t inputSize(const Extents &e, int64_t member) const;
  int64_t outputSize(const Extents &e) const;
  /// A sum of such values depends on the order of the additions.
  static float value(int64_t member, size_t segment, int64_t index) {
    return static_cast<float>(std::sin(0.37 * index + 1.1 * member + 2.3 * segment) *
                              std::pow(10.0, (index + member) % 7));
  }
  float expected(size_t segment, int64_t index) const;
  float gathered(size_t segment, int64_t index) const;
  float transposed(size_t segment, int64_t index) const;
  float folded(size_t segment, int64_t index) const;

  const Case &test;
  const MeshAxis &axis;
  int64_t own;
};
} // namespace

int64_t Checker::inputSize(const Extents &e, int64_t member) const {
  switch (test.kind) {
  case plan::CollectiveKind::AllGather:
    return e.outer * part(e.whole, member).length() * e.inner;
  case plan::CollectiveKind::AllToAll:
    return e.outer * part(e.whole, member).length() * e.middle * e.scatterWhole * e.inner;
  default:
    return e.outer * e.whole * e.inner;
  }
}

int64_t Checker::outputSize(const Extents &e) const {
  switch (test.kind) {
  case plan::CollectiveKind::ReduceScatter:
    return e.outer * part(e.whole, own).length() * e.inner;
  case plan::CollectiveKind::AllToAll:
    return e.outer * e.whole * e.middle * part(e.scatterWhole, own).length() * e.inner;
  default:
    return e.outer * e.whole * e.inner;
  }
}

/// The member that owns place x of `whole`, and the place in its piece.
static std::pair<int64_t, int64_t> ownerOf(int64_t whole, int64_t x, const MeshAxis &axis) {
  for (int64_t member = 0; member < axis.size; ++member) {
    const Interval piece = split({0, whole}, axis, member);
    if (x >= piece.begin && x < piece.end)
      return {member, x - piece.begin};
  }
  return {-1, -1};
}

float Checker::gathered(size_t segment, int64_t index) const {
  const Extents &e = test.segments[segment];
  const int64_t k = index % e.inner, x = index / e.inner % e.whole, o = index / e.inner / e.whole;
  const auto [member, place] = ownerOf(e.whole, x, axis);
  return value(member, segment, (o * part(e.whole, member).length() + place) * e.inner + k);
}

float Checker::transposed(size_t segment, int64_t index) const {
  const Extents &e = test.segments[segment];
  const Interval mine = part(e.scatterWhole, own);
  int64_t rest = index;
  const auto take = [&](int64_t extent) {
    const int64_t at = rest % extent;
    rest /= extent;
    return at;
  };
  const int64_t k = take(e.inner);
  int64_t x, m, y;
  if (e.scatterFirst) { // [outer, scatter_piece, middle, whole, inner]
    x = take(e.whole), m = take(e.middle), y = take(mine.length());
  } else { // [outer, whole, middle, scatter_piece, inner]
    y = take(mine.length()), m = take(e.middle), x = take(e.whole);
  }
  const int64_t o = rest;
  const auto [member, place] = ownerOf(e.whole, x, axis);
  const int64_t pieceLength = part(e.whole, member).length();
  const int64_t source =
      e.scatterFirst ? (((o * e.scatterWhole + mine.begin + y) * e.middle + m) * pieceLength + place) * e.inner + k
                     : (((o * pieceLength + place) * e.middle + m) * e.scatterWhole + mine.begin + y) * e.inner + k;
  return value(member, segment, source);
}

float Checker::folded(size_t segment, int64_t index) const {
  const Extents &e = test.segments[segment];
  int64_t source = index;
  if (test.kind == plan::CollectiveKind::ReduceScatter) {
    const Interval mine = part(e.whole, own);
    const int64_t k = index % e.inner, x = index / e.inner % mine.length(), o = index / e.inner / mine.length();
    source = (o * e.whole + mine.begin + x) * e.inner + k;
  }
  float sum = value(0, segment, source);
  for (int64_t member = 1; member < axis.size; ++member) {
    const float next = value(member, segment, source);
    sum = test.reduce == plan::ReduceKind::Sum   ? sum + next
          : test.reduce == plan::ReduceKind::Max ? std::max(sum, next)
                                                 : std::min(sum, next);
  }
  return sum;
}

float Checker::expected(size_t segment, int64_t index) const {
  switch (test.kind) {
  case plan::CollectiveKind::AllGather:
    return gathered(segment, index);
  case plan::CollectiveKind::AllToAll:
    return transposed(segment, index);
  default:
    return folded(segment, index);
  }
}

std::string Checker::run(Communicator &communicator, const Arena &memory) {
  CollectiveCall call;
  call.kind = test.kind;
  call.reduce = test.reduce;
  call.name = "test";
  auto *next = reinterpret_cast<float *>(memory.data());
  std::vector<Data> outputs;
  for (size_t s = 0; s < test.segments.size(); ++s) {
    const Extents &e = test.segments[s];
    const bool isInPlace = test.kind == plan::CollectiveKind::AllReduce && s % 2 == 1;
    const Data input{next, inputSize(e, own)};
    next += isInPlace ? 0 : input.count;
    outputs.push_back({next, outputSize(e)});
    std::fill_n(outputs[s].begin, outputs[s].count + 1, -77.0f); // one more, which must stay
    next += outputs[s].count + 1;
    for (int64_t i = 0; i < input.count; ++i)
      input.begin[i] = value(own, s, i);
    call.segments.push_back(
        {input.begin, outputs[s].begin, e.outer, e.whole, e.middle, e.scatterWhole, e.inner, e.scatterFirst});
  }
  if (const absl::Status status = communicator.run(call); !status.ok())
    return status.ToString();
  for (size_t s = 0; s < test.segments.size(); ++s) {
    for (int64_t i = 0; i < outputs[s].count; ++i)
      if (outputs[s].begin[i] != expected(s, i))
        return "segment " + std::to_string(s) + " element " + std::to_string(i) + ": expected " +
               std::to_string(expected(s, i)) + ", got " + std::to_string(outputs[s].begin[i]);
    if (outputs[s].begin[outputs[s].count] != -77.0f)
      return "wrote beyond segment " + std::to_string(s);
  }
  return "";
}

static std::vector<Case> allCases() {
  const std::vector<Extents> small = {
      {1, 1, 1, 1, 1}, {1, 7, 1, 1, 1}, {3, 5, 1, 1, 2}, {2, 0, 1, 1, 4}, {1, 2, 1, 1, 3}};
  const std::vector<Extents> large = {{1, 3001, 1, 1, 1}, {5, 33, 1, 1, 17}, {1, 1, 1, 1, 5000}, {2, 4, 1, 1, 1000}};
  const std::vector<Extents> crossed = {{2, 5, 3, 7, 2, false},   {2, 5, 3, 7, 2, true},   {1, 1, 1, 1, 1, false},
                                        {1, 40, 2, 50, 3, false}, {3, 13, 5, 31, 1, true}, {1, 0, 1, 4, 1, true}};
  std::vector<Case> cases;
  for (const auto &segments : {small, large}) {
    cases.push_back({plan::CollectiveKind::AllGather, segments, plan::ReduceKind::Sum});
    for (const plan::ReduceKind reduce : {plan::ReduceKind::Sum, plan::ReduceKind::Max, plan::ReduceKind::Min}) {
      cases.push_back({plan::CollectiveKind::ReduceScatter, segments, reduce});
      cases.push_back({plan::CollectiveKind::AllReduce, segments, reduce});
    }
  }
  cases.push_back({plan::CollectiveKind::AllToAll, crossed, plan::ReduceKind::Sum});
  cases.push_back({plan::CollectiveKind::AllGather, {}, plan::ReduceKind::Sum});
  cases.push_back({plan::CollectiveKind::AllReduce, {{1, 0, 1, 1, 1}}, plan::ReduceKind::Sum});
  return cases;
}

/// All cases, twice, so that the slots' reuse between calls is seen too.
static std::string runCases(const std::vector<Case> &cases, Communicator &communicator, const MeshAxis &axis,
                            const Arena &memory) {
  for (int round = 0; round < 2; ++round)
    for (size_t i = 0; i < cases.size(); ++i) {
      const std::string fault = Checker(cases[i], axis, communicator.ownMember()).run(communicator, memory);
      if (!fault.empty())
        return "case " + std::to_string(i) + ", " + fault;
    }
  return "";
}

static std::string openAndRun(const std::vector<Case> &cases, Transport &transport, const Mesh &mesh, uint32_t axis,
                              size_t arenaBytes = kArenaBytes) {
  absl::StatusOr<std::unique_ptr<Communicator>> communicator = transport.open(0, axis);
  if (!communicator.ok())
    return communicator.status().ToString();
  const absl::StatusOr<std::unique_ptr<Arena>> memory = transport.takeArena(arenaBytes);
  return memory.ok() ? runCases(cases, **communicator, mesh.axes()[axis], **memory) : memory.status().ToString();
}

/// Each byte from one arena to another.
static LocalOptions alwaysDirect() {
  LocalOptions options;
  options.directBytes = options.directRunBytes = 0;
  return options;
}

/// Once with all through slots, as without arenas that are shared, and once with all from arena to arena.
static void expectAgreement(const Mesh &mesh, int64_t slotBytes) {
  const auto run = [&](int64_t, Transport &transport) { return openAndRun(allCases(), transport, mesh, 0); };
  expectOnAllRanks(mesh, slotBytes, run);
  expectOnAllRanks(mesh, slotBytes, run, alwaysDirect(), kArenaBytes);
}

TEST(LocalCollective, AgreesWithLoopsOnOneAxis) {
  for (const int64_t ranks : {1, 2, 3, 4})
    expectAgreement(Mesh({{"dp", ranks, {}}}), 1 << 20);
}

TEST(LocalCollective, AgreesWithLoopsInManyChunks) {
  for (const int64_t ranks : {2, 3, 4})
    expectAgreement(Mesh({{"dp", ranks, {}}}), 4096);
}

TEST(LocalCollective, AgreesWithLoopsOnWeightedAxes) { expectAgreement(Mesh({{"dp", 3, {1, 5, 2}}}), 4096); }

/// Large enough to go from arena to arena, past the caches.
static std::vector<Case> largeCases() {
  const std::vector<Extents> segments = {{1, 300001, 1, 1, 1}, {3, 5, 1, 1, 70000}};
  const std::vector<Extents> crossed = {{2, 5, 3, 301, 64, false}, {2, 301, 3, 5, 128, true}};
  return {{plan::CollectiveKind::AllGather, segments, plan::ReduceKind::Sum},
          {plan::CollectiveKind::ReduceScatter, segments, plan::ReduceKind::Sum},
          {plan::CollectiveKind::AllReduce, segments, plan::ReduceKind::Sum},
          {plan::CollectiveKind::AllToAll, crossed, plan::ReduceKind::Sum}};
}

TEST(LocalCollective, AgreesWithLoopsOnManyBytes) {
  for (const int64_t ranks : {2, 3}) {
    const Mesh mesh({{"dp", ranks, {}}});
    const auto run = [&](int64_t, Transport &transport) {
      return openAndRun(largeCases(), transport, mesh, 0, kLargeArenaBytes);
    };
    expectOnAllRanks(mesh, 1 << 20, run, LocalOptions(), kLargeArenaBytes);
  }
}

TEST(LocalCollective, RefusesBuffersOutsideOfTheArenas) {
  const Mesh mesh({{"dp", 2, {}}});
  JobShape shape = jobShapeOf(mesh, 4096);
  shape.arenaBytes = 4096;
  absl::StatusOr<SharedJob> job = SharedJob::create(shape);
  const auto transport = createLocalTransport(*job, mesh, 1, alwaysDirect());
  float outside = 0;
  CollectiveCall call;
  call.segments.push_back({&outside, &outside, 1, 2, 1, 1, 1, false});
  EXPECT_EQ((*transport->open(0, 0))->prepare(call).message(),
            "buffers of collectives must be in the arenas of rank 1");
  EXPECT_TRUE(transport->takeArena(4096).ok());
  EXPECT_EQ(transport->takeArena(1).status().message(),
            "the arenas of a rank must fit into the job's 4096 bytes, got 1 more after 2097152");
}

TEST(LocalCollective, GroupsOfTwoAxesDoNotMix) {
  const Mesh mesh({{"dp", 2, {}}, {"tp", 2, {}}});
  const auto run = [&](int64_t, Transport &transport) {
    const std::string fault = openAndRun(allCases(), transport, mesh, 0);
    return fault.empty() ? openAndRun(allCases(), transport, mesh, 1) : fault;
  };
  expectOnAllRanks(mesh, 8192, run);
  expectOnAllRanks(mesh, 8192, run, alwaysDirect(), 2 * arenaStride(kArenaBytes));
}

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

/// Runs one all-reduce of `count` equal elements.
static absl::Status reduceEqual(Communicator &communicator, plan::DataType type, plan::ReduceKind reduce,
                                std::vector<char> &data) {
  CollectiveCall call;
  call.kind = plan::CollectiveKind::AllReduce;
  call.type = type;
  call.reduce = reduce;
  CollectiveSegment segment;
  segment.input = segment.output = data.data();
  segment.whole = static_cast<int64_t>(data.size() / plan::sizeOf(type));
  call.segments = {segment};
  return communicator.run(call);
}

template <typename T>
static std::string expectFold(Communicator &communicator, plan::DataType type, plan::ReduceKind reduce,
                              const std::vector<T> &ofMember, T expected) {
  constexpr size_t kCount = 2500;
  std::vector<char> data(kCount * sizeof(T));
  for (size_t i = 0; i < kCount; ++i)
    std::memcpy(&data[i * sizeof(T)], &ofMember[communicator.ownMember()], sizeof(T));
  if (const absl::Status status = reduceEqual(communicator, type, reduce, data); !status.ok())
    return status.ToString();
  for (size_t i = 0; i < kCount; ++i)
    if (std::memcmp(&data[i * sizeof(T)], &expected, sizeof(T)) != 0)
      return std::string(plan::EnumNameDataType(type)) + " " + plan::EnumNameReduceKind(reduce) + " is wrong";
  return "";
}

TEST(LocalCollective, FoldsEveryElementType) {
  using plan::DataType;
  using plan::ReduceKind;
  const Mesh mesh({{"dp", 3, {}}});
  expectOnAllRanks(mesh, 4096, [&](int64_t, Transport &transport) {
    auto opened = transport.open(0, 0);
    Communicator &c = **opened;
    std::string fault;
    fault += expectFold<double>(c, DataType::F64, ReduceKind::Sum, {1e16, 1.0, -1e16}, (1e16 + 1.0) - 1e16);
    fault += expectFold<int64_t>(c, DataType::I64, ReduceKind::Sum, {INT64_MAX, 1, 5}, INT64_MIN + 5);
    fault += expectFold<int32_t>(c, DataType::I32, ReduceKind::And, {7, 13, 5}, 5);
    fault += expectFold<int32_t>(c, DataType::I32, ReduceKind::Or, {1, 8, 2}, 11);
    fault += expectFold<int8_t>(c, DataType::I8, ReduceKind::Min, {3, -100, 5}, -100);
    fault += expectFold<uint8_t>(c, DataType::Bool, ReduceKind::Or, {0, 1, 0}, 1);
    fault += expectFold<uint8_t>(c, DataType::Bool, ReduceKind::And, {1, 1, 0}, 0);
    const float big = 256.0f, tiny = 1.0f; // 256 + 1 is 256 in bfloat16, but not in f32
    fault +=
        expectFold<uint16_t>(c, DataType::BF16, ReduceKind::Sum,
                             {BFloat16(big).bits, BFloat16(tiny).bits, BFloat16(tiny).bits}, BFloat16(258.0f).bits);
    fault +=
        expectFold<uint16_t>(c, DataType::F16, ReduceKind::Sum,
                             {Float16(2048.0f).bits, Float16(1.0f).bits, Float16(1.0f).bits}, Float16(2050.0f).bits);
    return fault;
  });
}

TEST(LocalCollective, NanStaysInMaxAndMin) {
  const Mesh mesh({{"dp", 3, {}}});
  expectOnAllRanks(mesh, 4096, [&](int64_t rank, Transport &transport) -> std::string {
    auto opened = transport.open(0, 0);
    for (const plan::ReduceKind reduce : {plan::ReduceKind::Max, plan::ReduceKind::Min})
      for (int64_t place = 0; place < 3; ++place) {
        std::vector<char> data(sizeof(float));
        const float mine = rank == place ? NAN : static_cast<float>(rank);
        std::memcpy(data.data(), &mine, sizeof(float));
        float result = 0;
        if (!reduceEqual(**opened, plan::DataType::F32, reduce, data).ok())
          return "failed";
        std::memcpy(&result, data.data(), sizeof(float));
        if (!std::isnan(result))
          return "lost a NaN at " + std::to_string(place);
      }
    return "";
  });
}

TEST(LocalCollective, RefusesReductionsWithoutMeaning) {
  const Mesh mesh({{"dp", 1, {}}});
  absl::StatusOr<SharedJob> job = SharedJob::create(jobShapeOf(mesh, 4096));
  const auto transport = createLocalTransport(*job, mesh, 0);
  CollectiveCall call;
  call.kind = plan::CollectiveKind::AllReduce;
  call.reduce = plan::ReduceKind::And;
  EXPECT_EQ((*transport->open(0, 0))->prepare(call).message(), "cannot reduce F32 by And");
  EXPECT_FALSE(transport->open(0, 1).ok());
  EXPECT_FALSE(transport->open(1, 0).ok());
}

//===----------------------------------------------------------------------===//
// Exchange
//===----------------------------------------------------------------------===//

/// Bytes from one rank to another: none, few, or many chunks.
static int64_t pieceBytes(int64_t from, int64_t to, int round) {
  return (from * 7919 + to * 104729 + round * 31) % 5 * 3001;
}

TEST(LocalCollective, ExchangeMovesPiecesOfAllSizes) {
  const Mesh mesh({{"dp", 2, {}}, {"tp", 2, {}}});
  expectOnAllRanks(mesh, 4096, [&](int64_t rank, Transport &transport) -> std::string {
    auto opened = transport.open(0, Transport::kAllAxes);
    for (int round = 0; round < 20; ++round) {
      std::vector<std::vector<char>> out(4), in(4);
      std::vector<SendPiece> sends;
      std::vector<ReceivePiece> receives;
      for (int64_t peer = 0; peer < 4; ++peer) {
        out[peer].assign(pieceBytes(rank, peer, round), static_cast<char>(rank * 16 + peer + round));
        in[peer].assign(pieceBytes(peer, rank, round), 0);
        if (!out[peer].empty())
          sends.push_back({peer, out[peer].data(), static_cast<int64_t>(out[peer].size())});
        if (!in[peer].empty())
          receives.push_back({peer, in[peer].data(), static_cast<int64_t>(in[peer].size())});
      }
      if (const absl::Status status = (*opened)->exchange(sends, receives); !status.ok())
        return status.ToString();
      for (int64_t peer = 0; peer < 4; ++peer)
        for (const char byte : in[peer])
          if (byte != static_cast<char>(peer * 16 + rank + round))
            return "wrong byte from " + std::to_string(peer);
      if (!(*opened)->barrier().ok())
        return "barrier failed";
    }
    return "";
  });
}

//===----------------------------------------------------------------------===//
// Ranks that die
//===----------------------------------------------------------------------===//

/// All-reduces until the job ends; rank 1 kills itself after some.
static std::string reduceUntilAborted(int64_t rank, Transport &transport) {
  auto opened = transport.open(0, 0);
  const auto memory = transport.takeArena(40000);
  CollectiveCall call;
  call.kind = plan::CollectiveKind::AllReduce;
  call.segments.push_back({(*memory)->data(), (*memory)->data(), 1, 10000, 1, 1, 1, false});
  for (int i = 0;; ++i) {
    const absl::Status status = (*opened)->run(call);
    // The abort may come while a survivor waits for the other one, or for nobody.
    if (!status.ok())
      return absl::IsUnavailable(status) ? "" : status.ToString();
    if (rank == 1 && i == 100)
      ::raise(SIGKILL);
  }
}

static void expectSoonEndAfterKill(const LocalOptions &options, int64_t arenaBytes) {
  const Mesh mesh({{"dp", 3, {}}});
  JobShape shape = jobShapeOf(mesh, 4096);
  shape.arenaBytes = arenaBytes;
  absl::StatusOr<SharedJob> job = SharedJob::create(shape);
  ASSERT_TRUE(job.ok());
  const std::vector<pid_t> processes = forkRanks(*job, mesh, reduceUntilAborted, options);
  EXPECT_EQ(waitForExit(processes[1]), -SIGKILL);
  const auto begin = std::chrono::steady_clock::now();
  job->abort(); // as the launcher does
  EXPECT_EQ(waitForExit(processes[0]), 0);
  EXPECT_EQ(waitForExit(processes[2]), 0);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(2));
}

TEST(LocalCollective, KilledRankEndsTheOthersSoonAfterTheAbort) {
  expectSoonEndAfterKill(LocalOptions(), 0);
  expectSoonEndAfterKill(alwaysDirect(), 40000);
}

TEST(SharedJob, AttachRefusesOtherObjects) {
  const absl::StatusOr<SharedJob> job = SharedJob::attach(::open("/dev/null", O_RDWR));
  EXPECT_TRUE(absl::IsInvalidArgument(job.status()));
  JobShape shape;
  shape.ranks = 0;
  EXPECT_TRUE(absl::IsInvalidArgument(SharedJob::create(shape).status()));
}

TEST(SharedJob, NamesAreReadWhole) {
  absl::StatusOr<SharedJob> job = SharedJob::create(JobShape());
  RankState &state = job->rankState(0);
  EXPECT_EQ(state.readName(), "");
  state.setName(std::string(1000, 'x'));
  EXPECT_EQ(state.readName(), std::string(RankState::kNameBytes - 1, 'x'));
}

} // namespace ds::runtime
