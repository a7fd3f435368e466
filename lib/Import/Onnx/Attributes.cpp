// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// The library of Debian 12 knows opsets up to 17. What later ones changed in the operators that have a handler is
// listed here, from the change log of ONNX (docs/Changelog.md of its repository). Most of their changes are further
// element types, which say nothing of attributes.

#include "Attributes.h"

#include <onnx/defs/schema.h>

using namespace ds::onnx_import;
using onnx::AttributeProto;

static constexpr int64_t kLastOfLibrary = 17;

namespace {
/// An attribute that an operator has, or no longer has, from an opset on.
struct Change {
  const char *op;
  int64_t since;
  const char *attribute;
  AttributeProto::AttributeType type; ///< UNDEFINED: it is gone
};
} // namespace

static constexpr Change kChanges[] = {
    {"ReduceL2", 18, "axes", AttributeProto::UNDEFINED},
    {"ReduceL2", 18, "noop_with_empty_axes", AttributeProto::INT},
    {"ReduceMax", 18, "axes", AttributeProto::UNDEFINED},
    {"ReduceMax", 18, "noop_with_empty_axes", AttributeProto::INT},
    {"ReduceMean", 18, "axes", AttributeProto::UNDEFINED},
    {"ReduceMean", 18, "noop_with_empty_axes", AttributeProto::INT},
    {"ReduceMin", 18, "axes", AttributeProto::UNDEFINED},
    {"ReduceMin", 18, "noop_with_empty_axes", AttributeProto::INT},
    {"ReduceProd", 18, "axes", AttributeProto::UNDEFINED},
    {"ReduceProd", 18, "noop_with_empty_axes", AttributeProto::INT},
    {"ReduceSumSquare", 18, "axes", AttributeProto::UNDEFINED},
    {"ReduceSumSquare", 18, "noop_with_empty_axes", AttributeProto::INT},
    {"Split", 18, "num_outputs", AttributeProto::INT},
    {"Cast", 19, "saturate", AttributeProto::INT},
    {"CastLike", 19, "saturate", AttributeProto::INT},
    {"Gelu", 20, "approximate", AttributeProto::STRING},
    {"RMSNormalization", 23, "axis", AttributeProto::INT},
    {"RMSNormalization", 23, "epsilon", AttributeProto::FLOAT},
    {"RMSNormalization", 23, "stash_type", AttributeProto::INT},
};

static std::optional<OperatorSchema> makeSchema(const std::string &op, int64_t opset) {
  OperatorSchema schema;
  const onnx::OpSchema *known = onnx::OpSchemaRegistry::Schema(op, static_cast<int>(std::min(opset, kLastOfLibrary)));
  bool isKnown = known != nullptr;
  if (known) {
    for (const auto &[name, attribute] : known->attributes())
      schema.attributes[name] = {attribute.type, attribute.required};
    schema.leastOutputs = known->min_output();
    schema.mostOutputs = known->max_output();
  }
  for (const Change &change : kChanges) {
    if (op != change.op || opset < change.since)
      continue;
    isKnown = true;
    if (change.type == AttributeProto::UNDEFINED)
      schema.attributes.erase(change.attribute);
    else
      schema.attributes[change.attribute] = {change.type, false};
  }
  return isKnown ? std::optional(schema) : std::nullopt;
}

const OperatorSchema *OpsetSchemas::find(const std::string &op) {
  auto [entry, isNew] = known.try_emplace(op);
  std::optional<OperatorSchema> &schema = entry->second;
  if (isNew)
    schema = makeSchema(op, opset);
  return schema ? &*schema : nullptr;
}
