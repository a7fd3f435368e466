// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// Constants, shapes as values, and casts.

#include "ModelFile.h"
#include "Registry.h"

#include <cmath>

using namespace mlir;
using namespace ds::onnx_import;
using onnx::AttributeProto;

static HostTensor makeScalar(int64_t value) {
  HostTensor scalar = makeInts({value});
  scalar.shape.clear();
  return scalar;
}

static LogicalResult importTensorConstant(NodeContext &context, const onnx::TensorProto &proto) {
  std::string problem;
  std::optional<HostTensor> tensor = decodeTensor(proto, problem);
  return tensor ? context.finish(*tensor) : context.malformed(problem);
}

static LogicalResult importConstant(NodeContext &context) {
  if (context.node.attribute_size() != 1)
    return context.malformed("must have one value, got " + Twine(context.node.attribute_size()));
  const AttributeProto &value = context.node.attribute(0);
  if (value.name() == "value" && value.type() == AttributeProto::TENSOR)
    return importTensorConstant(context, value.t());
  if (value.name() == "value_int")
    return context.finish(makeScalar(value.i()));
  if (value.name() == "value_float")
    return context.finish(makeSplat(Element::F32, {}, value.f()));
  if (value.name() == "value_ints")
    return context.finish(makeInts(SmallVector<int64_t>(value.ints().begin(), value.ints().end())));
  if (value.name() == "value_floats") {
    HostTensor floats;
    floats.shape = {value.floats_size()};
    for (float number : value.floats())
      floats.data.push_back(roundTo(Element::F32, number));
    return context.finish(floats);
  }
  return context.unsupported("has a value of kind '" + value.name() + "'");
}

static LogicalResult importIdentity(NodeContext &context) { return context.finish(context.input(0)); }

static LogicalResult importShape(NodeContext &context) {
  int64_t rank = context.input(0).rank();
  auto clamp = [&](int64_t dim) { return std::clamp<int64_t>(dim < 0 ? dim + rank : dim, 0, rank); };
  int64_t start = clamp(context.intAttribute("start", 0)), end = clamp(context.intAttribute("end", rank));
  return context.finish(makeInts(context.input(0).shape().slice(start, std::max<int64_t>(end - start, 0))));
}

static LogicalResult importSize(NodeContext &context) { return context.finish(makeScalar(context.input(0).count())); }

static LogicalResult importConstantOfShape(NodeContext &context) {
  FailureOr<Dims> shape = context.knownInts(0, "a shape");
  if (failed(shape) || failed(context.expectShape(*shape)))
    return failure();
  HostTensor value = makeSplat(Element::F32, {}, 0);
  if (const AttributeProto *attribute = context.findAttribute("value")) {
    std::string problem;
    std::optional<HostTensor> decoded = decodeTensor(attribute->t(), problem);
    if (!decoded)
      return context.malformed("has a value that " + problem);
    if (decoded->count() != 1)
      return context.malformed("must have a value of one element, got shape " + textOf(decoded->shape));
    value = *decoded;
  }
  value.shape = *shape;
  return context.finish(value);
}

static LogicalResult importRange(NodeContext &context) {
  FailureOr<HostTensor> start = context.known(0, "limits"), limit = context.known(1, "limits"),
                        delta = context.known(2, "limits");
  if (failed(start) || failed(limit) || failed(delta))
    return failure();
  if (start->element != limit->element || start->element != delta->element || start->count() != 1 ||
      limit->count() != 1 || delta->count() != 1)
    return context.malformed("must have three scalars of one type");
  double first = start->real(0), step = delta->real(0), length = std::ceil((limit->real(0) - first) / step);
  if (step == 0 || std::isnan(length) || length > kMaxFoldedElements)
    return context.malformed("must have a step that leads to at most " + Twine(kMaxFoldedElements) + " elements, got " +
                             std::to_string(step));
  HostTensor range;
  range.element = start->element;
  range.shape = {static_cast<int64_t>(std::max(length, 0.0))};
  for (int64_t i = 0; i < range.shape[0]; ++i)
    range.data.push_back(isFloat(range.element) ? roundTo(range.element, first + static_cast<double>(i) * step)
                                                : wrapTo(range.element, start->integer(0) + i * delta->integer(0)));
  return context.finish(range);
}

static LogicalResult importCast(NodeContext &context) {
  std::optional<Element> element = elementOf(static_cast<int32_t>(context.intAttribute("to", 0)));
  if (!element)
    return context.unsupported("casts to data_type " + Twine(context.intAttribute("to", 0)));
  return context.finish(context.build.cast(context.input(0), *element));
}

static LogicalResult importCastLike(NodeContext &context) {
  return context.finish(context.build.cast(context.input(0), context.input(1).element()));
}

/// Before opset 12 the file does not say whether it is for training.
static LogicalResult importDropoutOfEitherMode(NodeContext &context) {
  const double ratio = context.floatAttribute("ratio", 0.5);
  if (context.state.isTraining() && ratio != 0)
    return context.unsupported("drops at random with ratio " + std::to_string(ratio));
  if (context.isOutputUsed(1))
    return context.unsupported("gives its mask away");
  return context.finish(context.input(0));
}

/// In training mode a dropout needs random numbers, which are made where it is; with ratio 0 it is the identity.
static LogicalResult importDropout(NodeContext &context) {
  double ratio = 0.5;
  bool isTraining = false;
  if (context.hasInput(2)) {
    FailureOr<HostTensor> mode = context.known(2, "a training mode");
    if (failed(mode) || mode->count() != 1)
      return failed(mode) ? failure() : context.malformed("must have one training mode");
    isTraining = mode->integer(0) != 0;
  }
  if (isTraining && context.hasInput(1)) {
    FailureOr<HostTensor> known = context.known(1, "a ratio");
    if (failed(known) || known->count() != 1)
      return failed(known) ? failure() : context.malformed("must have one ratio");
    ratio = known->real(0);
  }
  if (isTraining && ratio != 0)
    return context.unsupported("drops at random with ratio " + std::to_string(ratio));
  context.outputs = {context.input(0), makeSplat(Element::Bool, context.input(0).shape(), 1)};
  return success();
}

void ds::onnx_import::addConstantOps(Registry &registry) {
  registry.add("Constant", 1, 0, 0, importConstant);
  registry.add("Identity", 1, 1, 1, importIdentity);
  registry.add("Shape", 1, 1, 1, importShape);
  registry.add("Size", 1, 1, 1, importSize);
  registry.add("ConstantOfShape", 9, 1, 1, importConstantOfShape);
  registry.add("Range", 11, 3, 3, importRange);
  registry.add("Cast", 6, 1, 1, importCast);
  registry.add("CastLike", 15, 2, 2, importCastLike);
  registry.add("Dropout", 7, 1, 1, importDropoutOfEitherMode);
  registry.add("Dropout", 12, 1, 3, importDropout);
}
