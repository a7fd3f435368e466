// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Sizes as people write them.

#ifndef DS_TOOLS_DS_COMPILE_BYTESIZE_H
#define DS_TOOLS_DS_COMPILE_BYTESIZE_H

#include "llvm/ADT/StringRef.h"

#include <optional>

namespace ds {

/// The bytes that `text` means: a whole number alone or with a unit. K, M, G, T and KiB, MiB, GiB, TiB are powers of
/// 1024, kB, MB, GB, TB are powers of 1000, B is one byte. Nothing if it is none of these or does not fit.
std::optional<uint64_t> findByteSize(llvm::StringRef text);

} // namespace ds

#endif // DS_TOOLS_DS_COMPILE_BYTESIZE_H
