// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// The element types of data files, a superset of those of a plan, and conversion between them.

#ifndef DS_RUNTIME_SESSION_ELEMENTTYPE_H
#define DS_RUNTIME_SESSION_ELEMENTTYPE_H

#include "absl/status/status.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace ds::runtime {

/// Element types that .npy, .safetensors and raw files may have; little-endian in memory and in files.
enum class ElementType : uint8_t { Bool, U8, I8, U16, I16, U32, I32, U64, I64, F16, BF16, F32, F64 };

/// Bytes of one element.
int64_t elementBytes(ElementType type);
/// The name that safetensors files use: `F32`, `I64`, `BOOL`.
std::string_view elementTypeName(ElementType type);
/// The type called `name` in safetensors files.
std::optional<ElementType> findElementType(std::string_view name);
/// Whether `type` is a floating-point type.
bool isFloat(ElementType type);

/// Whether convertElements may turn `from` into `to`: integers and booleans into each other, floats into each other.
bool isConvertible(ElementType from, ElementType to);

/// Converts `count` elements. Integers that do not fit are an error that names the value; floats round to nearest even.
/// isConvertible must hold.
absl::Status convertElements(ElementType from, const void *source, ElementType to, void *target, int64_t count);

} // namespace ds::runtime

#endif // DS_RUNTIME_SESSION_ELEMENTTYPE_H
