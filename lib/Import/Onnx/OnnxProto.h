// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// The protobuf messages of ONNX.

#ifndef DS_IMPORT_ONNX_ONNX_PROTO_H
#define DS_IMPORT_ONNX_ONNX_PROTO_H

#include <onnx/onnx_pb.h>

#endif // DS_IMPORT_ONNX_ONNX_PROTO_H
