// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Analysis/TensorSizes.h"

using namespace mlir;
using namespace ds;

uint64_t ds::elementBytes(Type type) { return llvm::divideCeil(type.isIndex() ? 64 : type.getIntOrFloatBitWidth(), 8); }

uint64_t ds::globalBytes(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return tensor.getNumElements() * elementBytes(tensor.getElementType());
}

uint64_t ds::maxLocalBytes(Type type, const Mesh &mesh) {
  auto tensor = cast<RankedTensorType>(type);
  return maxOwnedElements(layoutOf(type), shapeOf(type), mesh) * elementBytes(tensor.getElementType());
}
