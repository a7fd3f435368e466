// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// A model file, mapped into memory, and its initializers.

#ifndef DS_IMPORT_ONNX_MODEL_FILE_H
#define DS_IMPORT_ONNX_MODEL_FILE_H

#include "Errors.h"
#include "HostTensor.h"
#include "OnnxProto.h"
#include "WireWalk.h"

#include "ds/Files/File.h"

#include "llvm/ADT/StringMap.h"

#include <memory>

namespace ds::onnx_import {

/// A tensor of the model file.
struct Initializer {
  std::string name;
  Element element = Element::F32;
  Dims shape;
  std::string file;      ///< of the data, relative to the model's folder; empty if the data is in `typed`
  ByteRange range;       ///< in that file, little-endian and packed
  llvm::StringRef bytes; ///< the same, mapped
  std::vector<int64_t>
      typed; ///< data of int32_data, int64_data or uint64_data, one entry per element (bits of 16-bit floats)

  HostTensor decode() const;
  /// Whether all elements are equal bit by bit.
  bool isUniform() const;
};

/// Decodes a tensor that stands in an attribute.
std::optional<HostTensor> decodeTensor(const onnx::TensorProto &tensor, std::string &problem);

class ModelFile {
public:
  /// Maps and parses `path`; null and an error if it is malformed.
  static std::unique_ptr<ModelFile> open(llvm::StringRef path, ErrorSink &errors);

  onnx::ModelProto model;
  std::vector<Initializer> initializers;

private:
  mlir::LogicalResult addInitializer(const WireTensor &wire, ErrorSink &errors);
  mlir::LogicalResult setData(Initializer &tensor, const WireTensor &wire, ErrorSink &errors);
  mlir::LogicalResult setTyped(Initializer &tensor, const WireTensor &wire, ErrorSink &errors);
  mlir::LogicalResult setExternal(Initializer &tensor, const onnx::TensorProto &header, ErrorSink &errors);
  const MappedFile *openExternal(llvm::StringRef location, std::string &problem);

  std::string modelPath, folder, fileName; ///< the last two are its parts
  std::optional<MappedFile> content;
  llvm::StringMap<MappedFile> externals;
};

} // namespace ds::onnx_import

#endif // DS_IMPORT_ONNX_MODEL_FILE_H
