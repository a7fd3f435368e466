// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// A small matrix product inside a kernel, in registers.

#ifndef DS_LIB_CODEGEN_CPU_TILEMATMUL_H
#define DS_LIB_CODEGEN_CPU_TILEMATMUL_H

#include "CodeBuilder.h"

namespace ds {

/// An f32 matrix in memory: element (i, j) is at base + i * rowStride + j * columnStride.
struct MatrixView {
  mlir::Value base;
  mlir::Value rowStride;
  mlir::Value columnStride; ///< null: 1
};

/// C = A B, or C += A B; A is [rows, depth], and B and C have contiguous rows of `columns` elements.
struct TileMatmul {
  MatrixView a, b, c;
  mlir::Value rows, depth;
  int64_t columns = 0;
  bool accumulates = false;
};

/// Each element is summed in the order of `depth`. `lanes`: of a vector register.
void emitTileMatmul(CodeBuilder &code, const TileMatmul &matmul, unsigned lanes);

/// to[j][i] = factor * from[i][j] for i in [0, rows), j in [0, columns): `from` has `validRows` rows; the last one
/// stands for those that are missing. `rows` is a multiple of `lanes`, rows of `to` are contiguous and begin `rows`
/// apart.
struct TileTranspose {
  MatrixView from;
  mlir::Value to;
  mlir::Value validRows;
  int64_t rows = 0, columns = 0;
  double factor = 1;
};

void emitTileTranspose(CodeBuilder &code, const TileTranspose &transpose, unsigned lanes);

} // namespace ds

#endif // DS_LIB_CODEGEN_CPU_TILEMATMUL_H
