// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// The nodes that a graph's outputs depend on, in an order in which they can be computed.

#ifndef DS_IMPORT_ONNX_GRAPH_H
#define DS_IMPORT_ONNX_GRAPH_H

#include "Errors.h"
#include "ModelFile.h"

#include "llvm/ADT/StringSet.h"

namespace ds::onnx_import {

class Graph {
public:
  /// Checks that every value is defined once and none depends on itself; failure is reported.
  static mlir::FailureOr<Graph> create(ModelFile &file, ErrorSink &errors);

  std::vector<onnx::NodeProto *> nodes; ///< each after those that it reads, else as in the file
  llvm::StringSet<> used;               ///< values that these nodes read, and outputs of the graph

private:
  mlir::LogicalResult define(const ModelFile &file, ErrorSink &errors);
  mlir::LogicalResult checkUses(const onnx::GraphProto &graph, ErrorSink &errors);
  void markUsed(const onnx::GraphProto &graph);
  mlir::LogicalResult sort(onnx::GraphProto &graph, ErrorSink &errors);

  llvm::StringMap<int> producers; ///< value -> its node; -1: an input or initializer
  std::vector<bool> isNeeded;     ///< by node
};

} // namespace ds::onnx_import

#endif // DS_IMPORT_ONNX_GRAPH_H
