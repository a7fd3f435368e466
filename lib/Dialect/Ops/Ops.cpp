// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// The generated part of all ops: builders, parsers, printers, declarative checks.

#include "ds/Dialect/DsDialect.h"

#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace ds;

#define GET_OP_CLASSES
#include "ds/Dialect/DsOps.cpp.inc"
