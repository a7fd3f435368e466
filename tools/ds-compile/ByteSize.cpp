// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ByteSize.h"

#include "llvm/ADT/StringExtras.h"

using namespace ds;

/// The bytes of a unit. The case of its letters is of no matter: nobody means bits here.
static std::optional<uint64_t> findUnit(llvm::StringRef unit) {
  if (unit.empty() || unit.equals_insensitive("B"))
    return 1;
  const size_t power = llvm::StringRef("kmgt").find(llvm::toLower(unit.front()));
  const bool isDecimal = unit.drop_front().equals_insensitive("B");
  if (power == llvm::StringRef::npos || !(isDecimal || unit.size() == 1 || unit.drop_front().equals_insensitive("iB")))
    return std::nullopt;
  uint64_t bytes = 1;
  for (size_t i = 0; i <= power; ++i)
    bytes *= isDecimal ? 1000 : 1024;
  return bytes;
}

std::optional<uint64_t> ds::findByteSize(llvm::StringRef text) {
  const llvm::StringRef digits = text.take_while(llvm::isDigit);
  const std::optional<uint64_t> unit = findUnit(text.drop_front(digits.size()).ltrim(' '));
  uint64_t number = 0, bytes = 0;
  if (!unit || digits.getAsInteger(10, number) || __builtin_mul_overflow(number, *unit, &bytes))
    return std::nullopt;
  return bytes;
}
