// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "Graph.h"

#include "NodeContext.h"

#include <queue>

using namespace llvm;
using namespace ds::onnx_import;
using mlir::failed;
using mlir::failure;
using mlir::FailureOr;
using mlir::LogicalResult;
using mlir::success;

LogicalResult Graph::define(const ModelFile &file, ErrorSink &errors) {
  const onnx::GraphProto &graph = file.model.graph();
  LogicalResult result = success();
  for (const Initializer &tensor : file.initializers)
    if (tensor.name.empty() || !producers.try_emplace(tensor.name, -1).second)
      result = errors.malformed("initializer '" + Twine(tensor.name) + "' must have a name of its own");
  StringSet<> inputs;
  for (const onnx::ValueInfoProto &input : graph.input()) {
    producers.try_emplace(input.name(), -1); // old files list initializers as inputs too
    if (input.name().empty() || !inputs.insert(input.name()).second)
      result = errors.malformed("input '" + input.name() + "' must have a name of its own");
  }
  for (auto [index, node] : enumerate(graph.node()))
    for (const std::string &output : node.output())
      if (!output.empty() && !producers.try_emplace(output, static_cast<int>(index)).second)
        result = errors.malformed(describe(node) + " defines '" + output + "', which is defined already");
  return result;
}

LogicalResult Graph::checkUses(const onnx::GraphProto &graph, ErrorSink &errors) {
  LogicalResult result = success();
  for (const onnx::NodeProto &node : graph.node())
    for (const std::string &input : node.input())
      if (!input.empty() && !producers.count(input))
        result = errors.malformed(describe(node) + " reads '" + input +
                                  "', which neither a node nor an input nor an initializer defines");
  if (graph.output_size() == 0)
    result = errors.malformed("has a graph without outputs");
  for (const onnx::ValueInfoProto &output : graph.output())
    if (!producers.count(output.name()))
      result = errors.malformed("output '" + output.name() + "' is defined by no node");
  return result;
}

void Graph::markUsed(const onnx::GraphProto &graph) {
  isNeeded.assign(graph.node_size(), false);
  std::vector<std::string> pending;
  for (const onnx::ValueInfoProto &output : graph.output())
    pending.push_back(output.name());
  while (!pending.empty()) {
    std::string value = std::move(pending.back());
    pending.pop_back();
    if (value.empty() || !used.insert(value).second)
      continue;
    int producer = producers.lookup(value);
    if (producer < 0 || isNeeded[producer])
      continue;
    isNeeded[producer] = true;
    const auto &inputs = graph.node(producer).input();
    pending.insert(pending.end(), inputs.begin(), inputs.end());
  }
}

LogicalResult Graph::sort(onnx::GraphProto &graph, ErrorSink &errors) {
  int count = graph.node_size();
  std::vector<int> waiting(count, 0);
  std::vector<std::vector<int>> readers(count);
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (int index = 0; index < count; ++index) {
    if (!isNeeded[index])
      continue;
    for (const std::string &input : graph.node(index).input())
      if (int producer = input.empty() ? -1 : producers.lookup(input); producer >= 0) {
        readers[producer].push_back(index);
        ++waiting[index];
      }
    if (waiting[index] == 0)
      ready.push(index);
  }
  while (!ready.empty()) {
    int index = ready.top();
    ready.pop();
    nodes.push_back(graph.mutable_node(index));
    for (int reader : readers[index])
      if (--waiting[reader] == 0)
        ready.push(reader);
  }
  for (int index = 0; index < count; ++index) {
    if (!isNeeded[index] || waiting[index] == 0)
      continue;
    // Some node waits; going from it to a producer that waits leads onto a cycle.
    std::vector<bool> seen(count, false);
    while (!seen[index]) {
      seen[index] = true;
      for (const std::string &input : graph.node(index).input())
        if (int producer = input.empty() ? -1 : producers.lookup(input); producer >= 0 && waiting[producer] > 0) {
          index = producer;
          break;
        }
    }
    return errors.malformed(describe(graph.node(index)) + " depends on itself: the graph has a cycle");
  }
  return success();
}

FailureOr<Graph> Graph::create(ModelFile &file, ErrorSink &errors) {
  Graph result;
  onnx::GraphProto &graph = *file.model.mutable_graph();
  if (graph.sparse_initializer_size() != 0)
    return errors.unsupported("has sparse initializers");
  if (failed(result.define(file, errors)) || failed(result.checkUses(graph, errors)))
    return failure();
  result.markUsed(graph);
  if (failed(result.sort(graph, errors)))
    return failure();
  result.producers = {};
  return result;
}
