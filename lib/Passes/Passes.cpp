// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Passes/Passes.h"

namespace ds {
#define GEN_PASS_REGISTRATION
#include "ds/Passes/Passes.h.inc"
} // namespace ds

void ds::registerPasses() { registerDsPasses(); }
