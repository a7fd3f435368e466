// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// What a model file shows of its float tensors: parameters, buffers, or constants of the graph.
///
/// ONNX has initializers only. PyTorch's older exporter writes parameters and buffers alike, under the names of its
/// state_dict; the newer one notes which is which, until its optimizer or a conversion of the opset drops the note. So
/// most of it is told by names and by how a tensor is used.

#ifndef DS_IMPORT_ONNX_TENSOR_ROLES_H
#define DS_IMPORT_ONNX_TENSOR_ROLES_H

#include "Graph.h"
#include "ModelFile.h"

#include "ds/Import/Onnx.h"

namespace ds::onnx_import {

/// What a tensor is taken for.
struct TensorGuess {
  enum Role { Parameter, Buffer, Constant } role = Constant;
  std::optional<TensorDoubt::Kind> doubt; ///< set where the file could mean something else
};

/// Whether the name is that of a table that models compute once: nobody trains or saves these, and much is computed
/// from them at import.
bool isComputedTable(llvm::StringRef name);

class TensorRoles {
public:
  TensorRoles(const ModelFile &file, const Graph &graph);

  /// What the tensor `data` is under the name `value`, which is its own or that of an Identity of it.
  TensorGuess guess(const Initializer &data, llvm::StringRef value) const;
  /// Whether an exporter made the name: onnx::MatMul_12, val_3, /model/Add_output_0.
  bool isGenerated(llvm::StringRef value) const;

private:
  /// How the graph reads a value.
  struct Uses {
    int norms = 0;            ///< as scale or shift of a normalization
    bool isStatistic = false; ///< as running statistic of a batch normalization
    bool isWeight = false;    ///< as weight of a layer that has one in its place
    bool isFactor = false;    ///< as operand of a matrix product
  };

  void readMetadata(const onnx::GraphProto &graph);
  void addUse(const onnx::NodeProto &node, int input);
  TensorGuess guessGenerated(const Initializer &data, const Uses &uses) const;
  TensorGuess guessSingle(llvm::StringRef value) const;

  bool isFromPyTorch = false;
  llvm::StringMap<Uses> uses;
  llvm::StringMap<bool> toldParameters; ///< names of which the exporter notes whether they are parameters
  llvm::StringSet<> folded;             ///< names of values that an exporter's optimizer has computed
};

} // namespace ds::onnx_import

#endif // DS_IMPORT_ONNX_TENSOR_ROLES_H
