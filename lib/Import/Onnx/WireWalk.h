// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// A light walk over the protobuf wire format of a model file, which tells where the data of each initializer lies, so
/// that weights are never copied. Everything else is left to protobuf.

#ifndef DS_IMPORT_ONNX_WIRE_WALK_H
#define DS_IMPORT_ONNX_WIRE_WALK_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ds::onnx_import {

/// Bytes of the model file.
struct ByteRange {
  uint64_t offset = 0;
  uint64_t length = 0;
};

/// An initializer without its data, and where the data lies. Several ranges of one field belong together in order.
struct WireTensor {
  std::string header; ///< a serialized TensorProto without data
  llvm::SmallVector<ByteRange, 1> raw, floats, ints32, ints64, doubles, unsigneds;
};

/// A model without the initializers of its graph, and those.
struct WireModel {
  std::string model; ///< a serialized ModelProto
  std::vector<WireTensor> initializers;
};

/// Walks the bytes of a model file. Returns an empty string, or what is wrong and at which byte.
std::string walkModel(llvm::StringRef bytes, WireModel &result);

/// Decodes packed varints. Returns false if they are cut off.
bool decodeVarints(llvm::StringRef bytes, std::vector<int64_t> &values);

} // namespace ds::onnx_import

#endif // DS_IMPORT_ONNX_WIRE_WALK_H
