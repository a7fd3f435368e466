// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DS_TEST_UNIT_PASSES_OPCONTEXT_H
#define DS_TEST_UNIT_PASSES_OPCONTEXT_H

#include "mlir/IR/MLIRContext.h"

namespace ds::test {

/// One context for all tests of a program, with the dialects of programs and the rules for gradients. It has no
/// threads, as a forked rank would not have them.
mlir::MLIRContext &contextWithRules();

} // namespace ds::test

#endif // DS_TEST_UNIT_PASSES_OPCONTEXT_H
