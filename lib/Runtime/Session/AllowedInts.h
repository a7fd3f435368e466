// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Which integers an input may hold.

#ifndef DS_LIB_RUNTIME_SESSION_ALLOWEDINTS_H
#define DS_LIB_RUNTIME_SESSION_ALLOWEDINTS_H

#include "ElementIO.h"

namespace ds::runtime {

/// Fails with InvalidArgument at the first element of this rank's part of an input that is not `allowed`; says where it
/// stands in the input of the step, counting dim 0 as samples. Linear in the elements.
absl::Status checkAllowed(const plan::IntSetT &allowed, const Mesh &mesh, int64_t rank, const HeldTensor &held);

} // namespace ds::runtime

#endif // DS_LIB_RUNTIME_SESSION_ALLOWEDINTS_H
