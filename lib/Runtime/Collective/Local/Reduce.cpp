// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "Reduce.h"

#include "SumFloats.h"

#include "ds/Runtime/Device/Float16.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace ds::runtime {

static constexpr int64_t kBlock = 1024; // elements folded at a time, in first-level cache

namespace {
/// How elements are stored, and the type that they are folded in.
template <typename T> struct Same {
  using Stored = T;
  using Folded = T;
  static Folded widen(Stored value) { return value; }
  static Stored narrow(Folded value) { return value; }
};
template <typename T> struct Widened {
  using Stored = T;
  using Folded = float;
  static Folded widen(Stored value) { return value; }
  static Stored narrow(Folded value) { return Stored(value); }
};

struct Add {
  template <typename T> static T fold(T a, T b) {
    if constexpr (std::is_integral_v<T>) { // wraps, as unsigned arithmetic does
      using Unsigned = std::make_unsigned_t<T>;
      return static_cast<T>(static_cast<Unsigned>(a) + static_cast<Unsigned>(b));
    } else {
      return a + b;
    }
  }
};
struct Max {
  template <typename T> static T fold(T a, T b) { return a > b || a != a ? a : b; }
};
struct Min {
  template <typename T> static T fold(T a, T b) { return a < b || a != a ? a : b; }
};
struct And {
  template <typename T> static T fold(T a, T b) { return static_cast<T>(a & b); }
};
struct Or {
  template <typename T> static T fold(T a, T b) { return static_cast<T>(a | b); }
};
} // namespace

template <typename Element, typename Fold>
static void foldBlocks(absl::Span<const char *const> sources, absl::Span<char *const> targets, int64_t bytes) {
  using Stored = typename Element::Stored;
  typename Element::Folded sum[kBlock];
  const int64_t count = bytes / static_cast<int64_t>(sizeof(Stored));
  for (int64_t begin = 0; begin < count; begin += kBlock) {
    const int64_t n = std::min(kBlock, count - begin);
    const auto *first = reinterpret_cast<const Stored *>(sources[0]) + begin;
    for (int64_t i = 0; i < n; ++i)
      sum[i] = Element::widen(first[i]);
    for (size_t k = 1; k < sources.size(); ++k) {
      const auto *next = reinterpret_cast<const Stored *>(sources[k]) + begin;
      for (int64_t i = 0; i < n; ++i)
        sum[i] = Fold::fold(sum[i], Element::widen(next[i]));
    }
    for (char *target : targets) {
      auto *out = reinterpret_cast<Stored *>(target) + begin;
      for (int64_t i = 0; i < n; ++i)
        out[i] = Element::narrow(sum[i]);
    }
  }
}

template <typename Element>
static void foldBy(plan::ReduceKind kind, absl::Span<const char *const> sources, absl::Span<char *const> targets,
                   int64_t bytes) {
  switch (kind) {
  case plan::ReduceKind::Sum:
    return foldBlocks<Element, Add>(sources, targets, bytes);
  case plan::ReduceKind::Max:
    return foldBlocks<Element, Max>(sources, targets, bytes);
  case plan::ReduceKind::Min:
    return foldBlocks<Element, Min>(sources, targets, bytes);
  case plan::ReduceKind::And:
  case plan::ReduceKind::Or:
    break;
  }
  if constexpr (std::is_integral_v<typename Element::Folded>) {
    if (kind == plan::ReduceKind::And)
      foldBlocks<Element, And>(sources, targets, bytes);
    else
      foldBlocks<Element, Or>(sources, targets, bytes);
  }
}

absl::Status checkReduction(plan::ReduceKind kind, plan::DataType type) {
  const bool isLogical = kind == plan::ReduceKind::And || kind == plan::ReduceKind::Or;
  const bool isInteger = type == plan::DataType::I64 || type == plan::DataType::I32 || type == plan::DataType::I8;
  const bool isBool = type == plan::DataType::Bool;
  if ((isLogical && !isInteger && !isBool) || (kind == plan::ReduceKind::Sum && isBool))
    return absl::InvalidArgumentError(
        absl::StrCat("cannot reduce ", plan::EnumNameDataType(type), " by ", plan::EnumNameReduceKind(kind)));
  return absl::OkStatus();
}

void reduceElements(plan::ReduceKind kind, plan::DataType type, absl::Span<const char *const> sources,
                    absl::Span<char *const> targets, int64_t bytes, bool isStreamed) {
  switch (type) {
  case plan::DataType::F32:
    if (kind == plan::ReduceKind::Sum)
      return sumFloats(sources, targets, bytes / static_cast<int64_t>(sizeof(float)), isStreamed);
    return foldBy<Same<float>>(kind, sources, targets, bytes);
  case plan::DataType::F64:
    return foldBy<Same<double>>(kind, sources, targets, bytes);
  case plan::DataType::F16:
    return foldBy<Widened<Float16>>(kind, sources, targets, bytes);
  case plan::DataType::BF16:
    return foldBy<Widened<BFloat16>>(kind, sources, targets, bytes);
  case plan::DataType::I64:
    return foldBy<Same<int64_t>>(kind, sources, targets, bytes);
  case plan::DataType::I32:
    return foldBy<Same<int32_t>>(kind, sources, targets, bytes);
  case plan::DataType::I8:
    return foldBy<Same<int8_t>>(kind, sources, targets, bytes);
  case plan::DataType::Bool:
    return foldBy<Same<uint8_t>>(kind, sources, targets, bytes);
  }
}

} // namespace ds::runtime
