// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// What ONNX itself says about the form of a node.

#ifndef DS_IMPORT_ONNX_SCHEMA_CHECK_H
#define DS_IMPORT_ONNX_SCHEMA_CHECK_H

#include "Attributes.h"
#include "Errors.h"
#include "OnnxProto.h"

namespace ds::onnx_import {

/// Checks a node of a standard operator against its schema (Attributes.h): it has no attribute that the operator does
/// not have in the opset, each once and of its kind, those that it must have, and a right number of outputs. An
/// attribute of another opset would else be passed over, and the result would be another. Faults are reported.
void checkSchema(const onnx::NodeProto &node, OpsetSchemas &schemas, ErrorSink &errors);

} // namespace ds::onnx_import

#endif // DS_IMPORT_ONNX_SCHEMA_CHECK_H
