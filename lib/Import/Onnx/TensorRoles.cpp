// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "TensorRoles.h"

#include "llvm/Support/Regex.h"

#include <google/protobuf/unknown_field_set.h>

using namespace mlir;
using namespace ds;
using namespace ds::onnx_import;
using Kind = TensorDoubt::Kind;

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

static StringRef lastPart(StringRef name) { return name.rsplit('.').second.empty() ? name : name.rsplit('.').second; }

bool onnx_import::isComputedTable(StringRef name) {
  static constexpr StringLiteral tables[] = {"inv_freq", "cos_cached", "sin_cached", "masked_bias"};
  return llvm::any_of(tables, [&](StringRef table) { return name.ends_with(table); });
}

static bool isStatisticName(StringRef name) {
  return lastPart(name) == "running_mean" || lastPart(name) == "running_var";
}

/// Names that widely used modules give to buffers of floats.
static bool isBufferName(StringRef name) {
  static constexpr StringLiteral buffers[] = {"pe",         "pos_table", "attn_mask", "causal_mask",
                                              "freqs_cis",  "freqs_cos", "freqs_sin", "relative_coords_table",
                                              "pixel_mean", "pixel_std", "mask",      "tril"};
  return llvm::is_contained(buffers, lastPart(name));
}

/// Whether a tensor's name says that it is a parameter: h.0.mlp.weight, in_proj_bias, dense/kernel:0.
static bool isParameterName(StringRef name) {
  static constexpr StringLiteral words[] = {"weight", "bias", "gamma", "beta", "kernel"};
  StringRef last = lastPart(name);
  return llvm::any_of(words, [&](StringRef word) { return last.contains(word); });
}

bool TensorRoles::isGenerated(StringRef value) const {
  static const llvm::Regex pattern("^(onnx::[A-Za-z0-9]+_[0-9]+|val_[0-9]+|[0-9]+|/.*|.*_output_[0-9]+|"
                                   "Constant_[0-9]+|c?_?(lifted_tensor|tensor_constant)_?[0-9]+)$");
  return folded.contains(value) || pattern.match(value);
}

//===----------------------------------------------------------------------===//
// What the file says besides
//===----------------------------------------------------------------------===//

/// The metadata of a value. The field came to ONNX after the version of the schema that is compiled in.
static std::vector<onnx::StringStringEntryProto> metadataOf(const onnx::ValueInfoProto &value) {
  constexpr int kMetadataField = 4;
  std::vector<onnx::StringStringEntryProto> entries;
  const auto &unknown = value.GetReflection()->GetUnknownFields(value);
  for (int i = 0; i < unknown.field_count(); ++i) {
    const google::protobuf::UnknownField &field = unknown.field(i);
    const bool isEntry =
        field.number() == kMetadataField && field.type() == google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED;
    if (isEntry && !entries.emplace_back().ParseFromString(field.length_delimited()))
      entries.pop_back();
  }
  return entries;
}

void TensorRoles::readMetadata(const onnx::GraphProto &graph) {
  for (const onnx::ValueInfoProto &value : graph.value_info())
    for (const onnx::StringStringEntryProto &entry : metadataOf(value)) {
      if (entry.key() == "pkg.torch.export.graph_signature.InputSpec.kind")
        toldParameters[value.name()] = entry.value() == "PARAMETER";
      if (entry.key() == "pkg.onnxscript.optimizer.folded_from")
        folded.insert(value.name());
    }
}

void TensorRoles::addUse(const onnx::NodeProto &node, int input) {
  Uses &use = uses[node.input(input)];
  const StringRef op = node.op_type();
  const bool isNorm = op.ends_with("Normalization");
  use.norms += isNorm && (input == 1 || input == 2);
  use.isStatistic |= op == "BatchNormalization" && (input == 3 || input == 4);
  use.isWeight |= input > 0 && (isNorm || op == "Gemm" || op.starts_with("Conv"));
  use.isFactor |= op == "MatMul" || op == "Gemm" || op == "Einsum" || (op == "Gather" && input == 0);
}

TensorRoles::TensorRoles(const ModelFile &file, const Graph &graph)
    : isFromPyTorch(file.model.producer_name() == "pytorch") {
  readMetadata(file.model.graph());
  for (const onnx::NodeProto *node : graph.nodes)
    for (int input = 0; input < node->input_size(); ++input)
      addUse(*node, input);
}

//===----------------------------------------------------------------------===//
// Guesses
//===----------------------------------------------------------------------===//

/// Under a name that an exporter made there are weights that it has transposed, and all that it computed from tables
/// and numbers.
TensorGuess TensorRoles::guessGenerated(const Initializer &data, const Uses &uses) const {
  const auto isWide = [](int64_t size) { return size > 1; };
  if (uses.isWeight || (uses.isFactor && llvm::count_if(data.shape, isWide) >= 2))
    return {TensorGuess::Parameter, Kind::Renamed};
  return {TensorGuess::Constant, *countOf(data.shape) == 1 ? std::nullopt : std::optional(Kind::Constant)};
}

/// One number. PyTorch writes numbers of the code into the graph, so those with a name are parameters or buffers.
TensorGuess TensorRoles::guessSingle(StringRef value) const {
  if (isFromPyTorch || value.contains('.'))
    return {TensorGuess::Parameter, Kind::Parameter};
  return {TensorGuess::Constant, Kind::Constant};
}

TensorGuess TensorRoles::guess(const Initializer &data, StringRef value) const {
  const Uses used = uses.lookup(value);
  if (!isFloat(data.element) || isComputedTable(value))
    return {TensorGuess::Constant, std::nullopt};
  if (used.isStatistic || isStatisticName(value))
    return {TensorGuess::Buffer, std::nullopt};
  if (auto told = toldParameters.find(value); told != toldParameters.end())
    return {told->second ? TensorGuess::Parameter : TensorGuess::Buffer, std::nullopt};
  if (isGenerated(value))
    return guessGenerated(data, used);
  if (isBufferName(value))
    return {TensorGuess::Buffer, Kind::Buffer};
  if (used.norms > 1 && data.isUniform())
    return {TensorGuess::Parameter, Kind::Shared};
  if (isParameterName(value))
    return {TensorGuess::Parameter, std::nullopt};
  if (*countOf(data.shape) == 1)
    return guessSingle(value);
  return {TensorGuess::Parameter, Kind::Parameter};
}
