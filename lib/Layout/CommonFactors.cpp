// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Layout/CommonFactors.h"

#include <algorithm>
#include <numeric>

using namespace ds;

namespace {
/// One shape, of which factors are taken from the minor end.
class Side {
public:
  Side(const Shape &shape, std::vector<std::vector<size_t>> &factors) : shape(shape), factors(factors) {
    dim = shape.size();
    factors.resize(shape.size());
  }

  /// The elements of the current dim that are not taken; 1 if all dims are.
  int64_t rest() {
    while (left == 1 && dim > 0)
      left = shape[--dim];
    return left;
  }
  /// Takes factor `number` of `size` elements, which divides the rest.
  void take(size_t number, int64_t size) {
    factors[dim].insert(factors[dim].begin(), number);
    left /= size;
  }

private:
  const Shape &shape;
  std::vector<std::vector<size_t>> &factors;
  size_t dim;
  int64_t left = 1;
};

class Cutter {
public:
  Cutter(const Shape &a, const Shape &b) : a(a, result.a), b(b, result.b) {}

  CommonFactors run() {
    while (a.rest() > 1 || b.rest() > 1) {
      const int64_t size = std::gcd(a.rest(), b.rest());
      if (size == 1) {
        takeApart();
        continue;
      }
      const size_t number = add(size, true);
      a.take(number, size);
      b.take(number, size);
    }
    return std::move(result);
  }

private:
  size_t add(int64_t size, bool isShared) {
    result.factors.push_back({size, isShared});
    return result.factors.size() - 1;
  }

  int64_t takeRest(Side &side) {
    const int64_t size = side.rest();
    side.take(add(size, false), size);
    return size;
  }

  /// Gives each side factors of its own up to the next common boundary.
  void takeApart() {
    int64_t ofA = takeRest(a), ofB = takeRest(b);
    while (ofA != ofB) {
      const bool takesA = ofA < ofB;
      (takesA ? ofA : ofB) *= takeRest(takesA ? a : b);
    }
  }

  CommonFactors result;
  Side a, b;
};
} // namespace

/// Without elements there are no boundaries to compare: each dim is a factor of its own.
static CommonFactors factorsWithoutElements(const Shape &a, const Shape &b) {
  CommonFactors result;
  for (auto [shape, factors] : {std::pair(&a, &result.a), std::pair(&b, &result.b)})
    for (int64_t size : *shape) {
      factors->push_back({result.factors.size()});
      result.factors.push_back({size, false});
    }
  return result;
}

CommonFactors ds::commonFactors(const Shape &a, const Shape &b) {
  const bool isEmpty = std::find(a.begin(), a.end(), 0) != a.end();
  return isEmpty ? factorsWithoutElements(a, b) : Cutter(a, b).run();
}
