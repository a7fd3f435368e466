// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "SchemaCheck.h"

#include "NodeContext.h"

#include "llvm/ADT/StringSet.h"

#include <onnx/defs/schema.h>

using namespace llvm;
using namespace ds::onnx_import;
using onnx::AttributeProto;
using onnx::OpSchema;

static std::string kindOf(AttributeProto::AttributeType type) { return onnx::AttributeProto_AttributeType_Name(type); }

/// "'axis', 'keepdims'", or "none".
static std::string namesOf(const OpSchema &schema) {
  std::string names;
  for (const auto &[name, attribute] : schema.attributes())
    names += (names.empty() ? "'" : ", '") + name + "'";
  return names.empty() ? "none" : names;
}

/// Calls `report` with each fault of the node's attributes.
static void checkAttributes(const onnx::NodeProto &node, int64_t opset, const OpSchema &schema,
                            function_ref<void(const Twine &)> report) {
  StringSet<> seen;
  for (const AttributeProto &attribute : node.attribute()) {
    const std::string &name = attribute.name();
    auto known = schema.attributes().find(name);
    if (!seen.insert(name).second)
      report("has attribute '" + name + "' twice");
    else if (known == schema.attributes().end())
      report("has attribute '" + name + "', which " + node.op_type() + " does not have in opset " + Twine(opset) +
             "; it has " + namesOf(schema));
    else if (known->second.type != attribute.type())
      report("must have attribute '" + name + "' of kind " + kindOf(known->second.type) + ", got " +
             kindOf(attribute.type()));
  }
  for (const auto &[name, attribute] : schema.attributes())
    if (attribute.required && !seen.contains(name))
      report("must have attribute '" + name + "'");
}

void ds::onnx_import::checkSchema(const onnx::NodeProto &node, int64_t opset, ErrorSink &errors) {
  const OpSchema *schema = onnx::OpSchemaRegistry::Schema(node.op_type(), static_cast<int>(opset));
  auto report = [&](const Twine &fault) { (void)errors.malformed(describe(node) + " " + fault); };
  if (!schema)
    return report("is no operator of opset " + Twine(opset));
  checkAttributes(node, opset, *schema, report);
  if (node.output_size() < schema->min_output() || node.output_size() > schema->max_output())
    report("must have " + Twine(schema->min_output()) + " to " + Twine(schema->max_output()) + " outputs, got " +
           Twine(node.output_size()));
}
