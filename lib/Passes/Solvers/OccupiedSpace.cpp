// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "OccupiedSpace.h"

#include <algorithm>

using namespace ds;

void ByteSet::add(ByteRange range) {
  if (range.begin == range.end)
    return;
  auto from = std::lower_bound(all.begin(), all.end(), range.begin,
                               [](const ByteRange &other, uint64_t begin) { return other.end < begin; });
  auto to = from;
  for (; to != all.end() && to->begin <= range.end; ++to)
    range = {std::min(range.begin, to->begin), std::max(range.end, to->end)};
  if (from == to) {
    all.insert(from, range);
    return;
  }
  *from = range;
  all.erase(from + 1, to);
}

OccupiedSpace::OccupiedSpace(uint32_t times) {
  while (leaves < times)
    leaves *= 2;
  always.resize(2 * size_t(leaves));
  anytime.resize(2 * size_t(leaves));
}

void OccupiedSpace::clear() {
  for (std::vector<ByteSet> *sets : {&always, &anytime})
    for (ByteSet &set : *sets)
      set.clear();
}

/// Calls `visit` for the fewest nodes that make up the leaves [first, last].
template <typename Visit> static void forEachNode(uint32_t leaves, uint32_t first, uint32_t last, Visit visit) {
  uint32_t low = leaves + first, high = leaves + last + 1;
  for (; low < high; low /= 2, high /= 2) {
    if (low % 2)
      visit(low++);
    if (high % 2)
      visit(--high);
  }
}

/// Calls `visit` for the leaves `first` and `last` and all above them, each once.
template <typename Visit> static void forEachAbove(uint32_t leaves, uint32_t first, uint32_t last, Visit visit) {
  uint32_t low = leaves + first, high = leaves + last;
  for (; low != high; low /= 2, high /= 2) {
    visit(low);
    visit(high);
  }
  for (; low > 0; low /= 2)
    visit(low);
}

// A range may be stored both at a node and at one below it. That is harmless, as sets are united when they are read.
void OccupiedSpace::add(ByteRange range, uint32_t first, uint32_t last) {
  forEachNode(leaves, first, last, [&](uint32_t node) {
    always[node].add(range);
    anytime[node].add(range);
  });
  forEachAbove(leaves, first, last, [&](uint32_t node) { anytime[node].add(range); });
}

/// Fills `all` with what is in `a` or `b`, both as in a ByteSet.
static void unite(const std::vector<ByteRange> &a, const std::vector<ByteRange> &b, std::vector<ByteRange> &all) {
  all.clear();
  for (size_t i = 0, j = 0; i < a.size() || j < b.size();) {
    const bool takesA = j == b.size() || (i < a.size() && a[i].begin < b[j].begin);
    const ByteRange range = takesA ? a[i++] : b[j++];
    if (!all.empty() && range.begin <= all.back().end)
      all.back().end = std::max(all.back().end, range.end);
    else
      all.push_back(range);
  }
}

const std::vector<ByteRange> &OccupiedSpace::takenDuring(uint32_t first, uint32_t last) {
  sets.clear();
  auto append = [&](const ByteSet &set) {
    if (!set.ranges().empty())
      sets.push_back(&set.ranges());
  };
  forEachNode(leaves, first, last, [&](uint32_t node) { append(anytime[node]); });
  forEachAbove(leaves, first, last, [&](uint32_t node) { append(always[node]); });
  std::sort(sets.begin(), sets.end(), [](const auto *a, const auto *b) { return a->size() < b->size(); });
  taken.clear();
  for (const std::vector<ByteRange> *set : sets) {
    unite(taken, *set, united);
    std::swap(taken, united);
  }
  return taken;
}

uint64_t OccupiedSpace::findGap(uint64_t bytes, uint32_t first, uint32_t last) {
  uint64_t end = 0, best = UINT64_MAX, bestRoom = UINT64_MAX;
  for (const ByteRange &taken : takenDuring(first, last)) {
    if (taken.begin > end && taken.begin - end >= bytes && taken.begin - end < bestRoom) {
      best = end;
      bestRoom = taken.begin - end;
    }
    end = std::max(end, taken.end);
  }
  return best == UINT64_MAX ? end : best;
}
