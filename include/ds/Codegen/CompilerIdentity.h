// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Which compiler this is.

#ifndef DS_CODEGEN_COMPILERIDENTITY_H
#define DS_CODEGEN_COMPILERIDENTITY_H

#include <string>

namespace ds {

/// The build ids of this program and of all libraries that it has loaded, in hexadecimal: our version, LLVM's and
/// MLIR's. What one build compiled may be kept for the same one only. Empty if an object has no build id, so that its
/// changes would not be seen.
std::string compilerIdentity();

} // namespace ds

#endif // DS_CODEGEN_COMPILERIDENTITY_H
