// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Passes/Solvers/ArenaPacking.h"

#include "OccupiedSpace.h"
#include "SkylineOrder.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <tuple>

using namespace ds;

/// The search ends when the arena is at most half a percent larger than the bound: what is left to gain is less than
/// the time that trying further orders takes.
static constexpr uint64_t kGoodEnoughPart = 200;
/// How long to look for a skyline's order, and how many buffers to place in repairs: both less than greedy packing
/// takes where there are many buffers.
static constexpr uint64_t kMostSkylineSteps = 10'000'000, kMostRepairPlacements = 20'000;

/// Replaces times by their ranks among all that occur: what overlaps stays the same. Returns their number.
static uint32_t compressTimes(std::vector<ArenaBuffer> &buffers) {
  std::vector<uint32_t> times;
  for (const ArenaBuffer &buffer : buffers)
    times.insert(times.end(), {buffer.first, buffer.last});
  std::sort(times.begin(), times.end());
  times.erase(std::unique(times.begin(), times.end()), times.end());
  auto rankOf = [&](uint32_t time) {
    return static_cast<uint32_t>(std::lower_bound(times.begin(), times.end(), time) - times.begin());
  };
  for (ArenaBuffer &buffer : buffers)
    buffer = {buffer.bytes, rankOf(buffer.first), rankOf(buffer.last)};
  return static_cast<uint32_t>(times.size());
}

/// The largest sum of live bytes, and when.
static std::pair<uint64_t, uint32_t> largestLiveSet(const std::vector<ArenaBuffer> &buffers) {
  std::vector<std::pair<uint64_t, int64_t>> events; // 2 * time (+ 1 behind it), change
  for (const ArenaBuffer &buffer : buffers) {
    events.push_back({2 * uint64_t(buffer.first), static_cast<int64_t>(buffer.bytes)});
    events.push_back({2 * uint64_t(buffer.last) + 1, -static_cast<int64_t>(buffer.bytes)});
  }
  std::sort(events.begin(), events.end());
  uint64_t live = 0, peak = 0;
  uint32_t time = 0;
  for (size_t i = 0; i < events.size(); ++i) {
    live += events[i].second;
    bool isLastOfTime = i + 1 == events.size() || events[i + 1].first != events[i].first;
    if (isLastOfTime && live > peak) {
      peak = live;
      time = events[i].first / 2;
    }
  }
  return {peak, time};
}

namespace {

/// Tries orders of greedy best fit and keeps the best packing.
class PackingSearch {
public:
  explicit PackingSearch(const std::vector<ArenaBuffer> &buffers);

  void tryOrders();
  void repairOrders();
  ArenaPacking best;

private:
  struct Try {
    std::vector<uint32_t> order;
    size_t highest = 0; ///< the place in the order of the buffer that reached farthest
  };

  bool isGoodEnough() const { return best.bytes - best.lowerBound <= best.lowerBound / kGoodEnoughPart; }
  void pack(Try &attempt);
  void addTry(std::vector<uint32_t> order);
  void trySkyline(SkylineRule rule);
  void trySorted(const std::function<double(const ArenaBuffer &)> &key);

  const std::vector<ArenaBuffer> &given;
  std::vector<ArenaBuffer> buffers; ///< the same with times below `times`
  uint32_t times = 0;
  OccupiedSpace space; ///< of `pack`, kept for its memory
  std::vector<Try> tries;
  uint64_t placements = 0; ///< so far
};

} // namespace

PackingSearch::PackingSearch(const std::vector<ArenaBuffer> &buffers)
    : given(buffers), buffers(buffers), times(compressTimes(this->buffers)), space(times) {
  std::tie(best.lowerBound, best.peakTime) = largestLiveSet(given);
  best.bytes = UINT64_MAX;
}

/// Gives up where the packing is no better than the best.
void PackingSearch::pack(Try &attempt) {
  std::vector<uint64_t> offsets(buffers.size());
  uint64_t bytes = 0;
  space.clear();
  for (size_t place = 0; place < attempt.order.size() && bytes < best.bytes; ++place) {
    const ArenaBuffer &buffer = buffers[attempt.order[place]];
    const uint64_t offset = space.findGap(buffer.bytes, buffer.first, buffer.last), end = offset + buffer.bytes;
    space.add({offset, end}, buffer.first, buffer.last);
    offsets[attempt.order[place]] = offset;
    ++placements;
    if (end > bytes) {
      bytes = end;
      attempt.highest = place;
    }
  }
  if (bytes < best.bytes) {
    best.bytes = bytes;
    best.offsets = std::move(offsets);
  }
}

void PackingSearch::addTry(std::vector<uint32_t> order) {
  tries.push_back({std::move(order)});
  pack(tries.back());
}

void PackingSearch::trySkyline(SkylineRule rule) {
  if (auto order = findSkylineOrder(buffers, times, rule, kMostSkylineSteps))
    addTry(std::move(*order));
}

/// Buffers with a large key come first.
void PackingSearch::trySorted(const std::function<double(const ArenaBuffer &)> &key) {
  std::vector<double> keys(buffers.size());
  std::transform(given.begin(), given.end(), keys.begin(), key);
  std::vector<uint32_t> order(buffers.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return keys[a] > keys[b]; });
  addTry(std::move(order));
}

void PackingSearch::tryOrders() {
  auto lifetime = [](const ArenaBuffer &buffer) { return double(buffer.last) - buffer.first + 1; };
  const std::function<void()> orders[] = {
      [&] { trySorted([](const ArenaBuffer &buffer) { return double(buffer.bytes); }); },
      [&] { trySkyline(SkylineRule::MostFlush); },
      [&] { trySkyline(SkylineRule::LargestArea); },
      [&] { trySorted([&](const ArenaBuffer &buffer) { return buffer.bytes * lifetime(buffer); }); },
      [&] { trySorted(lifetime); },
      [&] { trySorted([](const ArenaBuffer &buffer) { return -double(buffer.first); }); },
  };
  for (const auto &tryOrder : orders) {
    tryOrder();
    if (isGoodEnough())
      return;
  }
}

/// Packs each order in turn again with the buffer that reached too far at its front, as long as steps are left.
void PackingSearch::repairOrders() {
  const uint64_t most = placements + kMostRepairPlacements;
  size_t stuck = 0;
  for (size_t turn = 0; stuck < tries.size() && placements + buffers.size() <= most && !isGoodEnough(); ++turn) {
    Try &attempt = tries[turn % tries.size()];
    if (attempt.highest == 0) {
      ++stuck;
      continue;
    }
    stuck = 0;
    const auto highest = attempt.order.begin() + attempt.highest;
    std::rotate(attempt.order.begin(), highest, highest + 1);
    attempt.highest = 0;
    pack(attempt);
  }
}

ArenaPacking ds::packArena(const std::vector<ArenaBuffer> &buffers) {
  PackingSearch search(buffers);
  search.tryOrders();
  search.repairOrders();
  return std::move(search.best);
}

/// A sweep over time with the live buffers by offset. O(n log n).
static std::optional<std::pair<uint32_t, uint32_t>> findOverlap(const std::vector<ArenaBuffer> &buffers,
                                                                const std::vector<uint64_t> &offsets) {
  std::vector<uint32_t> births;
  for (uint32_t id = 0; id < buffers.size(); ++id)
    if (buffers[id].bytes > 0)
      births.push_back(id);
  std::vector<uint32_t> deaths = births;
  std::sort(births.begin(), births.end(), [&](uint32_t a, uint32_t b) { return buffers[a].first < buffers[b].first; });
  std::sort(deaths.begin(), deaths.end(), [&](uint32_t a, uint32_t b) { return buffers[a].last < buffers[b].last; });
  std::map<uint64_t, uint32_t> live; // by offset; disjoint
  size_t dead = 0;
  for (uint32_t id : births) {
    for (; buffers[deaths[dead]].last < buffers[id].first; ++dead)
      live.erase(offsets[deaths[dead]]);
    const auto next = live.lower_bound(offsets[id]);
    if (next != live.end() && next->first < offsets[id] + buffers[id].bytes)
      return std::minmax(id, next->second);
    if (next != live.begin()) {
      const uint32_t before = std::prev(next)->second;
      if (offsets[before] + buffers[before].bytes > offsets[id])
        return std::minmax(id, before);
    }
    live.emplace(offsets[id], id);
  }
  return std::nullopt;
}

std::optional<std::string> ds::findPackingFault(const std::vector<ArenaBuffer> &buffers, const ArenaPacking &packing) {
  if (packing.offsets.size() != buffers.size())
    return "a packing must have one offset per buffer";
  for (size_t id = 0; id < buffers.size(); ++id)
    if (buffers[id].bytes > packing.bytes || packing.offsets[id] > packing.bytes - buffers[id].bytes)
      return "buffer " + std::to_string(id) + " must end inside the arena";
  if (auto overlap = findOverlap(buffers, packing.offsets))
    return "buffers " + std::to_string(overlap->first) + " and " + std::to_string(overlap->second) +
           " overlap while both are live";
  return std::nullopt;
}
