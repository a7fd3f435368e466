// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Proves that the buffers of a step hold what its ops read.

#ifndef DS_ANALYSIS_BUFFERUSE_H
#define DS_ANALYSIS_BUFFERUSE_H

#include "ds/Analysis/AssignedStorage.h"

namespace ds {

/// Runs through `function` in program order with the value that each buffer holds. Fails, with an error on the op, if
/// an op
/// - reads a value whose buffer holds another value by then, or reads it outside of the buffer's lifetime;
/// - reads or writes the destination of a collective, or writes its source, between start and wait;
/// - writes a result over an operand although `mayShareBuffer` forbids it;
/// or if at the end a variable's buffer does not hold what was assigned. A loop's body is run through twice, as the
/// second iteration finds what the first one left in the buffers. O(uses).
llvm::LogicalResult verifyBufferUse(mlir::func::FuncOp function, const AssignedStorage &storage);

} // namespace ds

#endif // DS_ANALYSIS_BUFFERUSE_H
