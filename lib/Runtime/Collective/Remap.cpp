// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// Any change of layout, as runs of elements that follow each other on both sides. A rank takes what it needs and has
// from itself, and what it lacks from the lowest rank that has it. Nothing is packed: runs are sent from where they
// lie.

#include "ds/Runtime/Remap.h"

#include "ds/Runtime/Session/OwnedRuns.h"
#include "ds/Runtime/StatusMacros.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cstring>

using namespace ds;
using namespace ds::runtime;

namespace {
/// By global element, ascending. `local` counts in the buffer of the rank whose runs they are.
using Runs = std::vector<OwnedRun>;

/// `length` elements at `from` of one buffer that are those at `to` of another.
struct CommonRun {
  int64_t from = 0, to = 0, length = 0;
};

/// Runs of `length` elements, `stride` elements apart, from `begin` on.
struct StridedRun {
  int64_t begin = 0, length = 0, stride = 0, rows = 1;
};

struct RemapTask : Task {
  absl::Status run(const TaskContext &) override {
    for (const CommonRun &run : kept)
      std::memcpy(output + run.to * width, input + run.from * width, static_cast<size_t>(run.length * width));
    return world->exchange(sends, receives);
  }

  Communicator *world = nullptr;
  const char *input = nullptr;
  char *output = nullptr;
  int64_t width = 0;           ///< bytes of an element
  std::vector<CommonRun> kept; ///< what the rank has and needs
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
  Runs runsBefore(int64_t rank) const { return runsOf(from, rank); }
  Runs runsAfter(int64_t rank) const { return runsOf(to, rank); }

private:
  Runs runsOf(const Layout &layout, int64_t rank) const {
    Runs runs;
    (void)forEachOwnedRun(layout, shape, mesh, rank, [&](const OwnedRun &run) {
      runs.push_back(run);
      return absl::OkStatus();
    });
    return runs;
  }
};
} // namespace

/// What both have: the places in the buffers of `a` and `b`.
static std::vector<CommonRun> intersect(const Runs &a, const Runs &b) {
  std::vector<CommonRun> common;
  for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const int64_t begin = std::max(a[i].global, b[j].global);
    const int64_t endA = a[i].global + a[i].length, endB = b[j].global + b[j].length, end = std::min(endA, endB);
    if (begin < end)
      common.push_back({a[i].local + begin - a[i].global, b[j].local + begin - b[j].global, end - begin});
    endA < endB ? ++i : ++j;
  }
  return common;
}

/// What of `runs` is not in `taken`.
static Runs subtract(const Runs &runs, const Runs &taken) {
  Runs rest;
  size_t j = 0;
  for (const OwnedRun &run : runs) {
    const int64_t end = run.global + run.length;
    int64_t begin = run.global;
    const auto add = [&](int64_t upTo) {
      if (begin < upTo)
        rest.push_back({begin, run.local + begin - run.global, upTo - begin});
    };
    while (j < taken.size() && taken[j].global + taken[j].length <= begin)
      ++j;
    for (size_t k = j; k < taken.size() && taken[k].global < end; ++k) {
      add(taken[k].global);
      begin = std::max(begin, taken[k].global + taken[k].length);
    }
    add(end);
  }
  return rest;
}

/// The sides `place` of `runs`, in order, joined to strided ones where they are of one length and equally far apart.
static std::vector<StridedRun> stridedRuns(const std::vector<CommonRun> &runs, int64_t CommonRun::*place) {
  std::vector<StridedRun> strided;
  for (const CommonRun &run : runs) {
    const int64_t begin = run.*place;
    if (!strided.empty() && strided.back().length == run.length) {
      StridedRun &last = strided.back();
      const int64_t stride = begin - (last.begin + (last.rows - 1) * last.stride);
      if (last.rows == 1 || stride == last.stride) {
        last.stride = stride;
        ++last.rows;
        continue;
      }
    }
    strided.push_back({begin, run.length, 0, 1});
  }
  return strided;
}

/// The elements that `rank` gives to those who lack them: it is the lowest of its partners that has them.
static Runs findGivenBy(const RemapProblem &problem, int64_t rank) {
  Runs given = problem.runsBefore(rank);
  for (int64_t lower = 0; lower < rank; ++lower)
    if (problem.isExchangePair(rank, lower))
      given = subtract(given, problem.runsBefore(lower));
  return given;
}

static void addSends(const RemapProblem &problem, int64_t rank, RemapTask &task) {
  const Runs given = findGivenBy(problem, rank);
  for (int64_t target = 0; target < problem.mesh.numRanks(); ++target) {
    if (target == rank || !problem.isExchangePair(rank, target))
      continue;
    const Runs missing = subtract(problem.runsAfter(target), problem.runsBefore(target));
    for (const StridedRun &run : stridedRuns(intersect(given, missing), &CommonRun::from))
      task.sends.push_back(
          {target, task.input + run.begin * task.width, run.length * task.width, run.rows, run.stride * task.width});
  }
}

static absl::Status addReceives(const RemapProblem &problem, int64_t rank, RemapTask &task) {
  const Runs needed = problem.runsAfter(rank), had = problem.runsBefore(rank);
  task.kept = intersect(had, needed);
  Runs missing = subtract(needed, had);
  for (int64_t source = 0; source < problem.mesh.numRanks() && !missing.empty(); ++source) {
    if (source == rank || !problem.isExchangePair(rank, source))
      continue;
    const Runs there = problem.runsBefore(source);
    for (const StridedRun &run : stridedRuns(intersect(there, missing), &CommonRun::to))
      task.receives.push_back(
          {source, task.output + run.begin * task.width, run.length * task.width, run.rows, run.stride * task.width});
    missing = subtract(missing, there);
  }
  if (missing.empty())
    return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "invalid plan: remap must find each element on some rank, got none for element ", missing.front().global));
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
  DS_RETURN_IF_ERROR(addReceives(problem, rank, *task));
  addSends(problem, rank, *task);
  return task;
}
