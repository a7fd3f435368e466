// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Runtime/Remap.h"

#include "ds/Runtime/StatusMacros.h"

#include "absl/strings/str_cat.h"

#include <cstring>

using namespace ds;
using namespace ds::runtime;

namespace {
/// Elements that go to, or come from, one rank, by their places in the local block.
struct Piece {
  int64_t peer = 0;
  std::vector<int64_t> places;
  std::vector<char> packed;
};

struct RemapTask : Task {
  absl::Status run(const TaskContext &) override {
    for (Piece &piece : outgoing)
      forEachElement(piece,
                     [&](char *packed, int64_t place) { std::memcpy(packed, input + place * width, size_t(width)); });
    for (size_t i = 0; i < ownFrom.size(); ++i)
      std::memcpy(output + ownTo[i] * width, input + ownFrom[i] * width, static_cast<size_t>(width));
    DS_RETURN_IF_ERROR(world->exchange(sends, receives));
    for (Piece &piece : incoming)
      forEachElement(piece,
                     [&](char *packed, int64_t place) { std::memcpy(output + place * width, packed, size_t(width)); });
    return absl::OkStatus();
  }

  template <typename Body> void forEachElement(Piece &piece, const Body &body) const {
    char *packed = piece.packed.data();
    for (size_t i = 0; i < piece.places.size(); ++i)
      body(packed + static_cast<int64_t>(i) * width, piece.places[i]);
  }

  Communicator *world = nullptr;
  const char *input = nullptr;
  char *output = nullptr;
  int64_t width = 0;
  std::vector<int64_t> ownFrom, ownTo; ///< places of elements that stay
  std::vector<Piece> outgoing, incoming;
  std::vector<SendPiece> sends;
  std::vector<ReceivePiece> receives;
};

/// The two layouts, and who may give to whom.
struct RemapProblem {
  Layout from, to;
  Shape shape;
  const Mesh &mesh;

  /// Ranks hold summands of one tensor only if they agree on the partial axes.
  bool isExchangePair(int64_t rank, int64_t other) const {
    for (const auto &[axis, reduce] : from.partial)
      if (mesh.coordinate(rank, axis) != mesh.coordinate(other, axis))
        return false;
    return true;
  }
};
} // namespace

static constexpr int32_t kNobody = -1;

/// For each element of the tensor, the lowest rank among `rank`'s partners that has it.
static std::vector<int32_t> findOwners(const RemapProblem &problem, int64_t rank) {
  std::vector<int32_t> owners(static_cast<size_t>(productOf(problem.shape)), kNobody);
  for (int64_t other = problem.mesh.numRanks(); other-- > 0;)
    if (problem.isExchangePair(rank, other))
      for (int64_t element : ownedIndices(problem.from, problem.shape, problem.mesh, other))
        owners[static_cast<size_t>(element)] = static_cast<int32_t>(other);
  return owners;
}

/// For each element of the tensor, its place in `rank`'s block before the cast, or -1.
static std::vector<int64_t> findPlaces(const RemapProblem &problem, int64_t rank) {
  std::vector<int64_t> places(static_cast<size_t>(productOf(problem.shape)), -1);
  int64_t next = 0;
  for (int64_t element : ownedIndices(problem.from, problem.shape, problem.mesh, rank))
    places[static_cast<size_t>(element)] = next++;
  return places;
}

/// What `rank` sends to `target`: what that needs, does not have, and finds first here.
static Piece findOutgoing(const RemapProblem &problem, int64_t rank, int64_t target, const std::vector<int32_t> &owners,
                          const std::vector<int64_t> &places) {
  Piece piece{target, {}, {}};
  const std::vector<int64_t> targetPlaces = findPlaces(problem, target);
  for (int64_t element : ownedIndices(problem.to, problem.shape, problem.mesh, target)) {
    const size_t at = static_cast<size_t>(element);
    if (owners[at] == rank && targetPlaces[at] < 0)
      piece.places.push_back(places[at]);
  }
  return piece;
}

/// Sorts what `rank` needs into what it has and what comes from others.
static absl::Status sortNeeds(const RemapProblem &problem, int64_t rank, const std::vector<int32_t> &owners,
                              const std::vector<int64_t> &places, RemapTask &task) {
  std::vector<Piece> bySource(static_cast<size_t>(problem.mesh.numRanks()));
  int64_t next = 0;
  for (int64_t element : ownedIndices(problem.to, problem.shape, problem.mesh, rank)) {
    const size_t at = static_cast<size_t>(element);
    if (places[at] >= 0) {
      task.ownFrom.push_back(places[at]);
      task.ownTo.push_back(next);
    } else if (owners[at] == kNobody) {
      return absl::InvalidArgumentError(
          absl::StrCat("invalid plan: remap must find each element on some rank, got none for element ", element));
    } else {
      bySource[static_cast<size_t>(owners[at])].places.push_back(next);
    }
    ++next;
  }
  for (size_t source = 0; source < bySource.size(); ++source)
    if (!bySource[source].places.empty()) {
      bySource[source].peer = static_cast<int64_t>(source);
      task.incoming.push_back(std::move(bySource[source]));
    }
  return absl::OkStatus();
}

static int64_t allocatePacked(Piece &piece, int64_t width) {
  piece.packed.resize(piece.places.size() * static_cast<size_t>(width));
  return static_cast<int64_t>(piece.packed.size());
}

TaskOr ds::runtime::buildRemap(const plan::RemapT &remap, const Bindings &bindings, Communicator &world) {
  if (!remap.from || !remap.to)
    return absl::InvalidArgumentError("invalid plan: remap must have two layouts, got none");
  const int64_t rank = bindings.rank();
  const RemapProblem problem{plan::layoutOf(bindings.plan(), *remap.from), plan::layoutOf(bindings.plan(), *remap.to),
                             remap.shape, bindings.mesh()};
  auto task = std::make_unique<RemapTask>();
  task->world = &world;
  task->width = static_cast<int64_t>(plan::sizeOf(remap.type));
  DS_ASSIGN_OR_RETURN(
      task->input,
      bindings.elements(remap.input, ownedElements(problem.from, problem.shape, problem.mesh, rank), remap.type));
  DS_ASSIGN_OR_RETURN(
      task->output,
      bindings.elements(remap.output, ownedElements(problem.to, problem.shape, problem.mesh, rank), remap.type));
  const std::vector<int32_t> owners = findOwners(problem, rank);
  const std::vector<int64_t> places = findPlaces(problem, rank);
  DS_RETURN_IF_ERROR(sortNeeds(problem, rank, owners, places, *task));
  for (int64_t target = 0; target < problem.mesh.numRanks(); ++target)
    if (target != rank && problem.isExchangePair(rank, target))
      if (Piece piece = findOutgoing(problem, rank, target, owners, places); !piece.places.empty())
        task->outgoing.push_back(std::move(piece));
  for (Piece &piece : task->outgoing) {
    const int64_t bytes = allocatePacked(piece, task->width);
    task->sends.push_back({piece.peer, piece.packed.data(), bytes});
  }
  for (Piece &piece : task->incoming) {
    const int64_t bytes = allocatePacked(piece, task->width);
    task->receives.push_back({piece.peer, piece.packed.data(), bytes});
  }
  return task;
}
