// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Runtime/Device/Float16.h"

using namespace ds::runtime;

Float16::Float16(float value) {
  uint32_t wide;
  std::memcpy(&wide, &value, sizeof(wide));
  const uint16_t sign = static_cast<uint16_t>((wide >> 16) & 0x8000);
  const uint32_t magnitude = wide & 0x7FFFFFFF;
  if (magnitude >= 0x47800000) { // 65536 and above, infinities, NaN
    bits = static_cast<uint16_t>(sign | (magnitude > 0x7F800000 ? 0x7E00 : 0x7C00));
  } else if (magnitude < 0x38800000) { // below the least normal number: let the f32 adder round
    float shifted;
    std::memcpy(&shifted, &magnitude, sizeof(shifted));
    shifted += 0.5f;
    uint32_t sum;
    std::memcpy(&sum, &shifted, sizeof(sum));
    bits = static_cast<uint16_t>(sign | (sum - 0x3F000000));
  } else {
    const uint32_t rounded = magnitude - 0x38000000 + 0xFFF + ((magnitude >> 13) & 1);
    bits = static_cast<uint16_t>(sign | (rounded >> 13));
  }
}

Float16::operator float() const {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
  const uint32_t magnitude = bits & 0x7FFF;
  uint32_t wide;
  if (magnitude >= 0x7C00) {
    wide = sign | 0x7F800000 | (magnitude & 0x3FF) << 13;
  } else if (magnitude < 0x400) { // subnormal: exact in f32
    const float value = static_cast<float>(magnitude) * 5.9604644775390625e-8f;
    std::memcpy(&wide, &value, sizeof(wide));
    wide |= sign;
  } else {
    wide = sign | ((magnitude << 13) + 0x38000000);
  }
  float value;
  std::memcpy(&value, &wide, sizeof(value));
  return value;
}
