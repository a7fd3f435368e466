// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// The 16-bit formats as element types that compute in f32.

#ifndef DS_RUNTIME_DEVICE_FLOAT16_H
#define DS_RUNTIME_DEVICE_FLOAT16_H

#include <cstdint>
#include <cstring>

namespace ds::runtime {

/// bfloat16: the upper half of an f32. Rounds to nearest, ties to even.
struct BFloat16 {
  uint16_t bits = 0;

  BFloat16() = default;
  BFloat16(float value) {
    uint32_t wide;
    std::memcpy(&wide, &value, sizeof(wide));
    const bool isNan = (wide & 0x7FFFFFFF) > 0x7F800000;
    bits = static_cast<uint16_t>(isNan ? (wide >> 16) | 0x40 : (wide + 0x7FFF + ((wide >> 16) & 1)) >> 16);
  }
  operator float() const {
    const uint32_t wide = static_cast<uint32_t>(bits) << 16;
    float value;
    std::memcpy(&value, &wide, sizeof(value));
    return value;
  }
};

/// IEEE binary16. Rounds to nearest, ties to even.
struct Float16 {
  uint16_t bits = 0;

  Float16() = default;
  Float16(float value);
  operator float() const;
};

} // namespace ds::runtime

#endif // DS_RUNTIME_DEVICE_FLOAT16_H
