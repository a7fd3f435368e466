// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Passes/Solvers/ArenaPacking.h"

#include "OccupiedSpace.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>

using namespace ds;

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

/// `buffers` have times below `times`. Gives up, with a packing of as many bytes, at `limit`.
static ArenaPacking packInOrder(const std::vector<ArenaBuffer> &buffers, uint32_t times,
                                const std::vector<uint32_t> &order, uint64_t limit) {
  ArenaPacking packing;
  packing.offsets.assign(buffers.size(), 0);
  OccupiedSpace space(times);
  for (uint32_t id : order) {
    const ArenaBuffer &buffer = buffers[id];
    const uint64_t offset = space.findGap(buffer.bytes, buffer.first, buffer.last);
    space.add({offset, offset + buffer.bytes}, buffer.first, buffer.last);
    packing.offsets[id] = offset;
    packing.bytes = std::max(packing.bytes, offset + buffer.bytes);
    if (packing.bytes >= limit)
      break;
  }
  return packing;
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

ArenaPacking ds::packArena(const std::vector<ArenaBuffer> &buffers) {
  std::vector<uint32_t> order(buffers.size());
  auto lifetime = [&](uint32_t id) { return uint64_t(buffers[id].last) - buffers[id].first + 1; };
  const std::function<bool(uint32_t, uint32_t)> orders[] = {
      [&](uint32_t a, uint32_t b) { return buffers[a].bytes > buffers[b].bytes; },
      [&](uint32_t a, uint32_t b) {
        return double(buffers[a].bytes) * lifetime(a) > double(buffers[b].bytes) * lifetime(b);
      },
      [&](uint32_t a, uint32_t b) { return lifetime(a) > lifetime(b); },
      [&](uint32_t a, uint32_t b) { return buffers[a].first < buffers[b].first; },
  };
  auto [lowerBound, peakTime] = largestLiveSet(buffers);
  std::vector<ArenaBuffer> compressed = buffers;
  const uint32_t times = compressTimes(compressed);
  ArenaPacking best;
  for (const auto &before : orders) {
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), before);
    ArenaPacking packing = packInOrder(compressed, times, order, best.offsets.empty() ? UINT64_MAX : best.bytes);
    if (best.offsets.empty() || packing.bytes < best.bytes)
      best = std::move(packing);
    if (best.bytes == lowerBound)
      break;
  }
  best.lowerBound = lowerBound;
  best.peakTime = peakTime;
  return best;
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
