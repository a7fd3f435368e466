// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "OpChecks.h"

using namespace mlir;
using namespace ds;

LogicalResult ds::verifyDim(Operation *op, int64_t dim, int64_t rank) {
  if (dim >= 0 && dim < rank)
    return success();
  return op->emitOpError("dim must be in [0, ") << rank << "), got " << dim;
}

LogicalResult ds::verifyAscendingDims(Operation *op, ArrayRef<int64_t> dims, int64_t rank) {
  int64_t last = -1;
  for (int64_t dim : dims) {
    if (dim <= last || dim >= rank)
      return op->emitOpError("dims must be ascending and in [0, ") << rank << "), got " << dim << " after " << last;
    last = dim;
  }
  return success();
}

LogicalResult ds::verifyShape(Operation *op, StringRef what, ArrayRef<int64_t> shape, ArrayRef<int64_t> expected) {
  if (shape == expected)
    return success();
  InFlightDiagnostic diagnostic = op->emitOpError();
  diagnostic << what << " must have shape [";
  llvm::interleaveComma(expected, diagnostic);
  diagnostic << "], got [";
  llvm::interleaveComma(shape, diagnostic);
  return diagnostic << "]";
}

LogicalResult ds::verifyLength(Operation *op, StringRef what, size_t length, size_t expected) {
  if (length == expected)
    return success();
  return op->emitOpError() << what << " must have " << expected << " entries, got " << length;
}
