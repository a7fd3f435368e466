// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "NodeContext.h"

#include "Variables.h"

#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace ds::onnx_import;
using onnx::AttributeProto;

std::string ds::onnx_import::describe(const onnx::NodeProto &node) {
  const std::string &name = !node.name().empty() ? node.name() : node.output_size() ? node.output(0) : std::string();
  std::string op =
      node.domain().empty() || node.domain() == "ai.onnx" ? node.op_type() : node.domain() + "." + node.op_type();
  return "node '" + name + "' (" + op + ")";
}

std::string ds::onnx_import::textOf(DimsRef shape) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << '[';
  llvm::interleaveComma(shape, stream);
  stream << ']';
  return text;
}

LogicalResult NodeContext::malformed(const Twine &message) {
  failedOnce = true;
  return errors.malformed(describe(node) + " " + message);
}

LogicalResult NodeContext::unsupported(const Twine &message) {
  failedOnce = true;
  return errors.unsupported(describe(node) + " " + message);
}

bool NodeContext::isOutputUsed(unsigned i) const {
  return static_cast<int>(i) < node.output_size() && !node.output(i).empty() && state.isUsed(node.output(i));
}

//===----------------------------------------------------------------------===//
// Known inputs
//===----------------------------------------------------------------------===//

FailureOr<HostTensor> NodeContext::known(unsigned i, StringRef what) {
  const Tensor &tensor = inputs[i];
  if (tensor.isHost())
    return tensor.getHost();
  if (tensor.getWeight()) {
    tensor.getWeight()->isKnown = true;
    return tensor.getWeight()->data->decode();
  }
  return unsupported("must have " + what + " that are known at import");
}

FailureOr<Dims> NodeContext::knownInts(unsigned i, StringRef what) {
  FailureOr<HostTensor> tensor = known(i, what);
  if (failed(tensor))
    return failure();
  if (isFloat(tensor->element) || tensor->shape.size() > 1)
    return malformed("must have a list of integers as " + what + ", got " + nameOf(tensor->element) + " of shape " +
                     textOf(tensor->shape));
  if (tensor->count() > 1024)
    return malformed("must have at most 1024 integers as " + what);
  Dims values;
  for (int64_t at = 0, count = tensor->count(); at < count; ++at)
    values.push_back(tensor->integer(at));
  return values;
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

const AttributeProto *NodeContext::findAttribute(StringRef name) const {
  for (const AttributeProto &attribute : node.attribute())
    if (attribute.name() == name)
      return &attribute;
  return nullptr;
}

/// The attribute if it is there and of the right kind.
static const AttributeProto *checkKind(NodeContext &context, StringRef name, AttributeProto::AttributeType kind) {
  const AttributeProto *attribute = context.findAttribute(name);
  if (!attribute || attribute->type() == kind)
    return attribute;
  (void)context.malformed("must have attribute '" + name + "' of kind " +
                          onnx::AttributeProto_AttributeType_Name(kind) + ", got " +
                          onnx::AttributeProto_AttributeType_Name(attribute->type()));
  return nullptr;
}

int64_t NodeContext::intAttribute(StringRef name, int64_t otherwise) {
  const AttributeProto *attribute = checkKind(*this, name, AttributeProto::INT);
  return attribute ? attribute->i() : otherwise;
}

double NodeContext::floatAttribute(StringRef name, double otherwise) {
  const AttributeProto *attribute = checkKind(*this, name, AttributeProto::FLOAT);
  return attribute ? attribute->f() : otherwise;
}

std::string NodeContext::stringAttribute(StringRef name, StringRef otherwise) {
  const AttributeProto *attribute = checkKind(*this, name, AttributeProto::STRING);
  return attribute ? attribute->s() : otherwise.str();
}

Dims NodeContext::intsAttribute(StringRef name, DimsRef otherwise) {
  const AttributeProto *attribute = checkKind(*this, name, AttributeProto::INTS);
  return attribute ? Dims(attribute->ints().begin(), attribute->ints().end()) : Dims(otherwise);
}

FailureOr<int64_t> NodeContext::normalizeDim(int64_t dim, int64_t rank) {
  if (dim < -rank || dim >= rank)
    return malformed("must have dims in [" + Twine(-rank) + ", " + Twine(rank) + "), got " + Twine(dim));
  return dim < 0 ? dim + rank : dim;
}

FailureOr<int64_t> NodeContext::dimAttribute(StringRef name, int64_t otherwise, int64_t rank) {
  return normalizeDim(intAttribute(name, otherwise), rank);
}

FailureOr<Dims> NodeContext::normalizeDims(DimsRef dims, int64_t rank) {
  Dims result;
  for (int64_t dim : dims) {
    FailureOr<int64_t> normal = normalizeDim(dim, rank);
    if (failed(normal))
      return failure();
    if (llvm::is_contained(result, *normal))
      return malformed("must name each dim once, got " + textOf(dims));
    result.push_back(*normal);
  }
  llvm::sort(result);
  return result;
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

LogicalResult NodeContext::expectSameElement(unsigned i, unsigned j) {
  if (inputs[i].element() == inputs[j].element())
    return success();
  return malformed("must have inputs of one element type, got " + nameOf(inputs[i].element()) + " and " +
                   nameOf(inputs[j].element()));
}

LogicalResult NodeContext::expectFloat(unsigned i) {
  if (isFloat(inputs[i].element()))
    return success();
  return malformed("must have floats as input " + Twine(i) + ", got " + nameOf(inputs[i].element()));
}

LogicalResult NodeContext::expectInteger(unsigned i) {
  if (!isFloat(inputs[i].element()) && inputs[i].element() != Element::Bool)
    return success();
  return malformed("must have integers as input " + Twine(i) + ", got " + nameOf(inputs[i].element()));
}

LogicalResult NodeContext::expectBool(unsigned i) {
  if (inputs[i].element() == Element::Bool)
    return success();
  return malformed("must have bools as input " + Twine(i) + ", got " + nameOf(inputs[i].element()));
}

LogicalResult NodeContext::expectNumber(unsigned i) {
  if (inputs[i].element() != Element::Bool)
    return success();
  return malformed("must have numbers as input " + Twine(i) + ", got bool");
}

LogicalResult NodeContext::expectRank(unsigned i, int64_t least, int64_t most) {
  if (inputs[i].rank() >= least && inputs[i].rank() <= most)
    return success();
  return malformed("must have " + Twine(least) + (least == most ? Twine() : " to " + Twine(most)) + " dims in input " +
                   Twine(i) + ", got shape " + textOf(inputs[i].shape()));
}

LogicalResult NodeContext::expectShape(DimsRef shape) {
  if (countOf(shape))
    return success();
  return malformed("has a result whose shape overflows or is negative: " + textOf(shape));
}

FailureOr<Dims> NodeContext::broadcast(DimsRef a, DimsRef b) {
  if (std::optional<Dims> shape = broadcastShapes(a, b))
    return *shape;
  return malformed("must have shapes that broadcast, got " + textOf(a) + " and " + textOf(b));
}
