// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// What a handler sees of a node: inputs, attributes, outputs, and a way to refuse.

#ifndef DS_IMPORT_ONNX_NODE_CONTEXT_H
#define DS_IMPORT_ONNX_NODE_CONTEXT_H

#include "Errors.h"
#include "OnnxProto.h"
#include "TensorBuilder.h"

namespace ds::onnx_import {

struct Variable;

/// The state of an import that some operators change or ask for beyond their inputs.
class ProgramState {
public:
  virtual ~ProgramState() = default;
  /// Assigns a variable at the end of the step.
  virtual void assign(const Variable &variable, const Tensor &value) = 0;
  /// ImportOptions::isTraining.
  virtual bool isTraining() const = 0;
  /// Whether a value of the graph is read by a node or is an output of it.
  virtual bool isUsed(llvm::StringRef name) const = 0;
};

/// How a node is called in messages: node 'name' (Op).
std::string describe(const onnx::NodeProto &node);

class NodeContext {
public:
  NodeContext(const onnx::NodeProto &node, TensorBuilder &build, ProgramState &state, ErrorSink &errors)
      : node(node), build(build), state(state), errors(errors) {}

  const onnx::NodeProto &node;
  TensorBuilder &build;
  ProgramState &state;
  std::vector<Tensor> inputs; ///< null where absent
  std::vector<Tensor> outputs;

  bool hasInput(unsigned i) const { return i < inputs.size() && inputs[i]; }
  const Tensor &input(unsigned i) const { return inputs[i]; }
  bool isOutputUsed(unsigned i) const;

  /// The values of an input that must be known at import, such as a shape; failure (reported) if it is not. `what`
  /// names it.
  mlir::FailureOr<HostTensor> known(unsigned i, llvm::StringRef what);
  /// The same as integers of a tensor of at most one dim.
  mlir::FailureOr<Dims> knownInts(unsigned i, llvm::StringRef what);
  /// What is an input since some opset, and before was an attribute: whether the node has it, and its integers.
  bool hasList(unsigned i, llvm::StringRef attribute) const { return hasInput(i) || hasAttribute(attribute); }
  mlir::FailureOr<Dims> listOf(unsigned i, llvm::StringRef attribute) {
    return hasInput(i) ? knownInts(i, attribute) : intsAttribute(attribute);
  }

  // Attributes; one of a wrong kind is reported and fails the node.
  bool hasAttribute(llvm::StringRef name) const { return findAttribute(name) != nullptr; }
  int64_t intAttribute(llvm::StringRef name, int64_t otherwise);
  double floatAttribute(llvm::StringRef name, double otherwise);
  std::string stringAttribute(llvm::StringRef name, llvm::StringRef otherwise);
  Dims intsAttribute(llvm::StringRef name, DimsRef otherwise = {});
  const onnx::AttributeProto *findAttribute(llvm::StringRef name) const;
  /// An attribute with a dim of a tensor of `rank` dims; negative ones count from the end.
  mlir::FailureOr<int64_t> dimAttribute(llvm::StringRef name, int64_t otherwise, int64_t rank);
  /// Dims in ascending order, each once, negative ones counted from the end.
  mlir::FailureOr<Dims> normalizeDims(DimsRef dims, int64_t rank);
  mlir::FailureOr<int64_t> normalizeDim(int64_t dim, int64_t rank);

  // Checks, each reported as malformed.
  mlir::LogicalResult expectSameElement(unsigned i, unsigned j);
  mlir::LogicalResult expectFloat(unsigned i);
  mlir::LogicalResult expectInteger(unsigned i);
  mlir::LogicalResult expectBool(unsigned i);
  mlir::LogicalResult expectNumber(unsigned i); ///< a float or an integer, no bool
  mlir::LogicalResult expectRank(unsigned i, int64_t least, int64_t most);
  /// That a shape has no negative dim and a number of elements that can be counted.
  mlir::LogicalResult expectShape(DimsRef shape);
  mlir::FailureOr<Dims> broadcast(DimsRef a, DimsRef b);

  mlir::LogicalResult malformed(const llvm::Twine &message);
  mlir::LogicalResult unsupported(const llvm::Twine &message);
  bool hasFailed() const { return failedOnce; }

  /// Sets the only output.
  mlir::LogicalResult finish(Tensor result) {
    outputs = {std::move(result)};
    return mlir::success();
  }

private:
  ErrorSink &errors;
  bool failedOnce = false;
};

/// A shape as text: [8, 32].
std::string textOf(DimsRef shape);

} // namespace ds::onnx_import

#endif // DS_IMPORT_ONNX_NODE_CONTEXT_H
