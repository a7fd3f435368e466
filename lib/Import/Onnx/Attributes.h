// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Which attributes an operator has in an opset, also in opsets that are newer than the ONNX library.

#ifndef DS_IMPORT_ONNX_ATTRIBUTES_H
#define DS_IMPORT_ONNX_ATTRIBUTES_H

#include "OnnxProto.h"

#include "llvm/ADT/StringMap.h"

#include <map>
#include <optional>
#include <string>

namespace ds::onnx_import {

struct AttributeRule {
  onnx::AttributeProto::AttributeType type = onnx::AttributeProto::UNDEFINED;
  bool isRequired = false;
};

/// An operator as an opset has it.
struct OperatorSchema {
  std::map<std::string, AttributeRule> attributes;
  int leastOutputs = 1, mostOutputs = 1;
};

/// The operators of an opset, each made when it is first asked for.
class OpsetSchemas {
public:
  explicit OpsetSchemas(int64_t opset) : opset(opset) {}

  /// Null if the opset has no such operator, or one that is newer than the library and not known here.
  const OperatorSchema *find(const std::string &op);

  const int64_t opset;

private:
  llvm::StringMap<std::optional<OperatorSchema>> known;
};

} // namespace ds::onnx_import

#endif // DS_IMPORT_ONNX_ATTRIBUTES_H
