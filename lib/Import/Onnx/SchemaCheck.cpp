// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "SchemaCheck.h"

#include "NodeContext.h"

#include "llvm/ADT/StringSet.h"

using namespace llvm;
using namespace ds::onnx_import;
using onnx::AttributeProto;

static std::string kindOf(AttributeProto::AttributeType type) { return onnx::AttributeProto_AttributeType_Name(type); }

/// "'axis', 'keepdims'", or "none".
static std::string namesOf(const OperatorSchema &schema) {
  std::string names;
  for (const auto &[name, attribute] : schema.attributes)
    names += (names.empty() ? "'" : ", '") + name + "'";
  return names.empty() ? "none" : names;
}

/// Calls `report` with each fault of the node's attributes.
static void checkAttributes(const onnx::NodeProto &node, int64_t opset, const OperatorSchema &schema,
                            function_ref<void(const Twine &)> report) {
  StringSet<> seen;
  for (const AttributeProto &attribute : node.attribute()) {
    const std::string &name = attribute.name();
    auto known = schema.attributes.find(name);
    if (!seen.insert(name).second)
      report("has attribute '" + name + "' twice");
    else if (known == schema.attributes.end())
      report("has attribute '" + name + "', which " + node.op_type() + " does not have in opset " + Twine(opset) +
             "; it has " + namesOf(schema));
    else if (known->second.type != attribute.type())
      report("must have attribute '" + name + "' of kind " + kindOf(known->second.type) + ", got " +
             kindOf(attribute.type()));
  }
  for (const auto &[name, attribute] : schema.attributes)
    if (attribute.isRequired && !seen.contains(name))
      report("must have attribute '" + name + "'");
}

void ds::onnx_import::checkSchema(const onnx::NodeProto &node, OpsetSchemas &schemas, ErrorSink &errors) {
  const OperatorSchema *schema = schemas.find(node.op_type());
  auto report = [&](const Twine &fault) { (void)errors.malformed(describe(node) + " " + fault); };
  if (!schema)
    return report("is no operator of opset " + Twine(schemas.opset));
  checkAttributes(node, schemas.opset, *schema, report);
  if (node.output_size() < schema->leastOutputs || node.output_size() > schema->mostOutputs)
    report("must have " + Twine(schema->leastOutputs) + " to " + Twine(schema->mostOutputs) + " outputs, got " +
           Twine(node.output_size()));
}
