// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Runtime/Device/NonFinite.h"

using namespace ds;
using namespace ds::runtime;

namespace {
/// Where the bits of a float format are. A number is not finite if its exponent is all ones, and then infinite if its
/// mantissa is zero.
template <typename Bits, int MantissaBits, int ExponentBits> struct FloatBits {
  static constexpr Bits kMantissa = static_cast<Bits>((Bits(1) << MantissaBits) - 1);
  static constexpr Bits kExponent = static_cast<Bits>(((Bits(1) << ExponentBits) - 1) << MantissaBits);

  static NonFiniteCount count(const void *data, int64_t elements) {
    const auto *bits = static_cast<const Bits *>(data);
    NonFiniteCount found;
    for (int64_t i = 0; i < elements; ++i) { // without branches, so that it is vectorized
      const Bits magnitude = static_cast<Bits>(bits[i] & (kExponent | kMantissa));
      found.nans += magnitude > kExponent;
      found.infinities += magnitude == kExponent;
    }
    return found;
  }
};
} // namespace

NonFiniteCount ds::runtime::countNonFinite(plan::DataType type, const void *data, int64_t count) {
  switch (type) {
  case plan::DataType::F32:
    return FloatBits<uint32_t, 23, 8>::count(data, count);
  case plan::DataType::F64:
    return FloatBits<uint64_t, 52, 11>::count(data, count);
  case plan::DataType::F16:
    return FloatBits<uint16_t, 10, 5>::count(data, count);
  case plan::DataType::BF16:
    return FloatBits<uint16_t, 7, 8>::count(data, count);
  default:
    return {};
  }
}
