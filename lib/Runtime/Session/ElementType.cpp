// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Runtime/Session/ElementType.h"

#include "ds/Runtime/Device/Float16.h"

#include "absl/strings/str_cat.h"

#include <cstring>
#include <limits>
#include <type_traits>

namespace ds::runtime {

namespace {
struct TypeEntry {
  std::string_view name;
  int64_t bytes;
};
} // namespace

static constexpr TypeEntry kTypes[] = {{"BOOL", 1}, {"U8", 1},  {"I8", 1},  {"U16", 2}, {"I16", 2},
                                       {"U32", 4},  {"I32", 4}, {"U64", 8}, {"I64", 8}, {"F16", 2},
                                       {"BF16", 2}, {"F32", 4}, {"F64", 8}};

int64_t elementBytes(ElementType type) { return kTypes[static_cast<int>(type)].bytes; }

std::string_view elementTypeName(ElementType type) { return kTypes[static_cast<int>(type)].name; }

std::optional<ElementType> findElementType(std::string_view name) {
  for (size_t i = 0; i < std::size(kTypes); ++i)
    if (kTypes[i].name == name)
      return static_cast<ElementType>(i);
  return std::nullopt;
}

bool isFloat(ElementType type) { return type >= ElementType::F16; }

bool isConvertible(ElementType from, ElementType to) { return isFloat(from) == isFloat(to); }

namespace {
/// Reads element i of an array of any integer type as a 128-bit number, of any float type as a double.
template <typename T> struct Plain {
  using Value = std::conditional_t<std::is_floating_point_v<T>, double, __int128>;
  static Value load(const char *at) {
    T value;
    std::memcpy(&value, at, sizeof(T));
    return value;
  }
  static bool store(Value value, char *at) {
    if constexpr (std::is_integral_v<T>)
      if (value < std::numeric_limits<T>::min() || value > std::numeric_limits<T>::max())
        return false;
    const T narrow = static_cast<T>(value);
    std::memcpy(at, &narrow, sizeof(T));
    return true;
  }
  static constexpr int64_t kBytes = sizeof(T);
};

/// Stored as one byte, any bits but zero are true.
struct Boolean {
  using Value = __int128;
  static Value load(const char *at) { return *at != 0; }
  static bool store(Value value, char *at) {
    *at = value != 0;
    return true;
  }
  static constexpr int64_t kBytes = 1;
};

/// Float16 or BFloat16.
template <typename T> struct Half {
  using Value = double;
  static Value load(const char *at) {
    T half;
    std::memcpy(&half, at, sizeof(T));
    return static_cast<float>(half);
  }
  static bool store(Value value, char *at) {
    const T half(static_cast<float>(value));
    std::memcpy(at, &half, sizeof(T));
    return true;
  }
  static constexpr int64_t kBytes = sizeof(T);
};
} // namespace

/// Calls `visit` with the access class of `type`.
template <typename Visit> static absl::Status withAccess(ElementType type, Visit visit) {
  switch (type) {
  case ElementType::Bool:
    return visit(Boolean{});
  case ElementType::U8:
    return visit(Plain<uint8_t>{});
  case ElementType::I8:
    return visit(Plain<int8_t>{});
  case ElementType::U16:
    return visit(Plain<uint16_t>{});
  case ElementType::I16:
    return visit(Plain<int16_t>{});
  case ElementType::U32:
    return visit(Plain<uint32_t>{});
  case ElementType::I32:
    return visit(Plain<int32_t>{});
  case ElementType::U64:
    return visit(Plain<uint64_t>{});
  case ElementType::I64:
    return visit(Plain<int64_t>{});
  case ElementType::F16:
    return visit(Half<Float16>{});
  case ElementType::BF16:
    return visit(Half<BFloat16>{});
  case ElementType::F32:
    return visit(Plain<float>{});
  case ElementType::F64:
    return visit(Plain<double>{});
  }
  return absl::InternalError("unknown element type");
}

template <typename From, typename To>
static absl::Status convertLoop(const char *source, char *target, int64_t count, std::string_view targetName) {
  for (int64_t i = 0; i < count; ++i) {
    const auto value = From::load(source + i * From::kBytes);
    if (!To::store(value, target + i * To::kBytes))
      return absl::InvalidArgumentError(
          absl::StrCat("value must fit ", std::string(targetName), ", got ", static_cast<double>(value)));
  }
  return absl::OkStatus();
}

absl::Status convertElements(ElementType from, const void *source, ElementType to, void *target, int64_t count) {
  if (from == to && from != ElementType::Bool) { // of booleans, only 0 and 1 are left
    if (count > 0)
      std::memcpy(target, source, count * elementBytes(from));
    return absl::OkStatus();
  }
  const auto *in = static_cast<const char *>(source);
  auto *out = static_cast<char *>(target);
  return withAccess(from, [&](auto fromAccess) {
    return withAccess(to, [&](auto toAccess) -> absl::Status {
      using From = decltype(fromAccess);
      using To = decltype(toAccess);
      if constexpr (std::is_same_v<typename From::Value, typename To::Value>)
        return convertLoop<From, To>(in, out, count, elementTypeName(to));
      else
        return absl::InvalidArgumentError(absl::StrCat("cannot convert ", std::string(elementTypeName(from)), " to ",
                                                       std::string(elementTypeName(to))));
    });
  });
}

} // namespace ds::runtime
