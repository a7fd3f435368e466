// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "SkylineOrder.h"

#include <algorithm>
#include <tuple>
#include <utility>

using namespace ds;

namespace {

/// Times [first, last] up to which the arena is filled equally high.
struct Part {
  uint32_t first = 0, last = 0;
  uint64_t height = 0; ///< bytes
};

class Skyline {
public:
  Skyline(const std::vector<ArenaBuffer> &buffers, uint32_t times, SkylineRule rule)
      : buffers(buffers), rule(rule), waiting(times), parts{{0, times - 1, 0}} {
    for (uint32_t id = 0; id < buffers.size(); ++id)
      waiting[buffers[id].first].push_back(id);
  }

  /// Looks so far.
  uint64_t steps() const { return looks; }
  /// Places a buffer and returns it, or raises a part.
  std::optional<uint32_t> advance();

private:
  size_t findLowest();
  std::optional<uint32_t> findBest(const Part &part);
  double score(const ArenaBuffer &buffer, const Part &part) const;
  void place(uint32_t id, size_t part);
  void raise(size_t part);
  void joinEqualParts(size_t changed);

  const std::vector<ArenaBuffer> &buffers;
  SkylineRule rule;
  std::vector<std::vector<uint32_t>> waiting; ///< per time: the buffers that begin there and are not placed
  std::vector<Part> parts;                    ///< all times in order; neighbours differ in height
  uint64_t looks = 0;
};

} // namespace

size_t Skyline::findLowest() {
  looks += parts.size();
  auto lowest =
      std::min_element(parts.begin(), parts.end(), [](const Part &a, const Part &b) { return a.height < b.height; });
  return lowest - parts.begin();
}

double Skyline::score(const ArenaBuffer &buffer, const Part &part) const {
  const uint32_t lifetime = buffer.last - buffer.first + 1, whole = part.last - part.first + 1;
  if (rule == SkylineRule::LargestArea)
    return double(buffer.bytes) * lifetime;
  const int flush = (buffer.first == part.first) + (buffer.last == part.last);
  return double(flush) * whole + lifetime;
}

std::optional<uint32_t> Skyline::findBest(const Part &part) {
  std::optional<uint32_t> best;
  double bestScore = 0;
  for (uint32_t first = part.first; first <= part.last; ++first) {
    looks += 1 + waiting[first].size();
    for (uint32_t id : waiting[first]) {
      if (buffers[id].last > part.last)
        continue;
      const double its = score(buffers[id], part);
      if (!best || its > bestScore)
        std::tie(best, bestScore) = std::pair(id, its);
    }
  }
  return best;
}

void Skyline::place(uint32_t id, size_t part) {
  const ArenaBuffer &buffer = buffers[id];
  const Part below = parts[part];
  std::vector<uint32_t> &begins = waiting[buffer.first];
  begins.erase(std::find(begins.begin(), begins.end(), id));
  parts[part] = {buffer.first, buffer.last, below.height + buffer.bytes};
  if (buffer.last < below.last)
    parts.insert(parts.begin() + part + 1, {buffer.last + 1, below.last, below.height});
  if (below.first < buffer.first)
    parts.insert(parts.begin() + part, {below.first, buffer.first - 1, below.height});
}

void Skyline::raise(size_t part) {
  uint64_t height = UINT64_MAX;
  if (part > 0)
    height = parts[part - 1].height;
  if (part + 1 < parts.size())
    height = std::min(height, parts[part + 1].height);
  parts[part].height = height;
}

/// Where `changed` was placed or raised: one part became at most three.
void Skyline::joinEqualParts(size_t changed) {
  const size_t first = changed > 0 ? changed : 1;
  for (size_t i = std::min(changed + 3, parts.size() - 1); i >= first; --i)
    if (parts[i].height == parts[i - 1].height) {
      parts[i - 1].last = parts[i].last;
      parts.erase(parts.begin() + i);
    }
}

std::optional<uint32_t> Skyline::advance() {
  const size_t lowest = findLowest();
  const std::optional<uint32_t> id = findBest(parts[lowest]);
  if (id)
    place(*id, lowest);
  else
    raise(lowest);
  joinEqualParts(lowest);
  return id;
}

std::optional<std::vector<uint32_t>> ds::findSkylineOrder(const std::vector<ArenaBuffer> &buffers, uint32_t times,
                                                          SkylineRule rule, uint64_t steps) {
  std::vector<uint32_t> order;
  if (buffers.empty())
    return order;
  // Each buffer that is live at all times is found by a look at all of them.
  const uint64_t alwaysLive = std::count_if(buffers.begin(), buffers.end(), [&](const ArenaBuffer &buffer) {
    return buffer.first == 0 && buffer.last == times - 1;
  });
  if (alwaysLive * times > steps)
    return std::nullopt;
  Skyline skyline(buffers, times, rule);
  while (order.size() < buffers.size()) {
    if (skyline.steps() > steps)
      return std::nullopt;
    if (std::optional<uint32_t> id = skyline.advance())
      order.push_back(*id);
  }
  return order;
}
