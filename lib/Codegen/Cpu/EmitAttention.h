// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Fused attention and its gradient as loops over blocks of queries and keys (Dao 2023, FlashAttention-2).
///
/// Scores stand transposed, [keys, queries], in scratch memory: the queries of a block are the lanes of vectors, so
/// that maxima and sums over keys need no shuffles, and neither keys nor values are ever packed.

#ifndef DS_LIB_CODEGEN_CPU_EMITATTENTION_H
#define DS_LIB_CODEGEN_CPU_EMITATTENTION_H

#include "TileMatmul.h"

#include "ds/Analysis/AttentionShape.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"

namespace ds {

/// A text that two attentions have in common iff the same code serves both: the widths are in it, the sizes of batch,
/// heads and positions are not.
std::string structureOfAttention(mlir::Operation *op);

/// Appends the function of a ds.fused_attention or ds.fused_attention_grad, `symbol`, to `module`. Its extents are
/// those of the letters b, k, g, s and t (1 for g if there is none); its buffers the operands, the results, the
/// workspace.
void emitAttention(mlir::Operation *op, llvm::StringRef symbol, unsigned vectorBits, mlir::ModuleOp module);

/// The part of emitAttention for gradients.
void emitAttentionGrad(FusedAttentionGradOp op, llvm::StringRef symbol, unsigned vectorBits, mlir::ModuleOp module);

/// What forward and backward have in common: the function, where tensors lie, and the scores of a block.
class AttentionEmitter {
protected:
  static constexpr int64_t kQueries = AttentionShape::kQueryBlock, kKeys = AttentionShape::kKeyBlock;

  AttentionEmitter(mlir::Operation *op, unsigned vectorBits, mlir::OpBuilder &builder);

  /// One head of one batch.
  struct Head {
    mlir::Value batch, key, group;
  };
  /// Queries [first, first + count) of a head, and the keys [0, keyEnd) that some of them see.
  struct QueryBlock {
    Head head;
    mlir::Value first, count, keyEnd;
  };

  void startFunction(llvm::StringRef name, mlir::ModuleOp module);
  /// The next `elements` of this chunk's workspace.
  mlir::Value scratch(int64_t elements);

  /// Rows [first, ...) of a head in the tensor that string `number` of the indices names.
  MatrixView rowsOf(size_t number, const Head &head, mlir::Value first);
  QueryBlock queryBlock(const Head &head, mlir::Value first);

  /// scores[key, query] = rows of string `number` of the indices times `transposed`.
  void emitScores(size_t number, const QueryBlock &block, mlir::Value firstKey, mlir::Value keys, int64_t width,
                  mlir::Value transposed, mlir::Value scores);
  /// `score`, of all queries of the block and a key, with the key's bias.
  mlir::Value addBias(mlir::Value score, const QueryBlock &block, mlir::Value key);
  /// `score`, of vector `part` of the queries and a key, under the causal mask.
  mlir::Value maskScore(mlir::Value score, const QueryBlock &block, mlir::Value key, int64_t part);
  /// Rows of the queries in `target` += factors[key, query]^T * the keys' rows of string `source` of the indices.
  void addOverKeys(const MatrixView &target, const QueryBlock &block, mlir::Value firstKey, mlir::Value keys,
                   mlir::Value factors, size_t source, int64_t columns);

  /// for each vector of a block's queries.
  int64_t numParts() const { return kQueries / lanes; }
  mlir::Value loadPart(mlir::Value row, int64_t part);
  llvm::SmallVector<mlir::Value> loadParts(mlir::Value row);
  void storePart(mlir::Value value, mlir::Value row, int64_t part);
  /// Row `number` of a scratch matrix of `columns`.
  mlir::Value rowAt(mlir::Value matrix, mlir::Value number, int64_t columns);
  MatrixView scratchMatrix(mlir::Value base, int64_t columns) { return {base, code.index(columns), {}}; }
  void fillRows(const MatrixView &matrix, mlir::Value rows, int64_t columns);

  mlir::Value number(float value, unsigned count) { return code.constant(code.builder.getF32FloatAttr(value), count); }
  /// Of scores less their maxima, or little more.
  mlir::Value exp(mlir::Value value);

  mlir::Operation *op;
  CodeBuilder code;
  unsigned lanes;
  bool isCausal;
  double scale;
  int64_t width, valueWidth;
  std::optional<size_t> biasString; ///< its place in the indices

  mlir::LLVM::LLVMFuncOp function;
  llvm::SmallDenseMap<char, mlir::Value> sizes; ///< of the letters
  mlir::Value shift;                            ///< T - S

private:
  llvm::SmallVector<std::string> strings;
  llvm::SmallVector<llvm::SmallVector<int64_t>> shapes; ///< of the strings' tensors
  llvm::SmallVector<mlir::Value> buffers;               ///< of the strings
  mlir::Value workspace;
  int64_t used = 0;
};

} // namespace ds

#endif // DS_LIB_CODEGEN_CPU_EMITATTENTION_H
