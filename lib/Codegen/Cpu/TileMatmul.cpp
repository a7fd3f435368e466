// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "TileMatmul.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace ds;

/// Vectors per row of a register tile.
static constexpr int64_t kTileVectors = 4;

/// Rows of a register tile: with 32 registers (AVX-512) 4 x 4 sums, 4 vectors of B and a splat fit; with 16, 2 x 4.
static int64_t tileRowsOf(unsigned lanes) { return lanes >= 16 ? 4 : 2; }

static Value placeOf(CodeBuilder &code, const MatrixView &matrix, Value row, Value column) {
  Value offset = code.mul(row, matrix.rowStride);
  if (column)
    offset = code.add(offset, matrix.columnStride ? code.mul(column, matrix.columnStride) : column);
  return code.addressOf(matrix.base, code.builder.getF32Type(), offset);
}

/// Vectors [begin, end) of a row of `columns` elements.
static SmallVector<Lanes> lanesOfRow(CodeBuilder &code, int64_t columns, int64_t begin, int64_t end, unsigned lanes) {
  SmallVector<Lanes> result;
  for (int64_t vector = begin; vector < end; ++vector) {
    int64_t left = columns - vector * lanes;
    result.push_back({lanes, left < lanes ? code.firstLanes(code.index(left), lanes) : Value()});
  }
  return result;
}

/// The tile of rows [row, row + tileRows) and vectors [begin, begin + rowLanes.size()).
static void emitTile(CodeBuilder &code, const TileMatmul &matmul, Value row, int64_t tileRows, int64_t begin,
                     ArrayRef<Lanes> rowLanes) {
  Type f32 = code.builder.getF32Type();
  unsigned lanes = rowLanes.front().count;
  SmallVector<Value> rows, columns;
  for (int64_t i = 0; i < tileRows; ++i)
    rows.push_back(i ? code.add(row, code.index(i)) : row);
  for (size_t j = 0; j < rowLanes.size(); ++j)
    columns.push_back(code.index((begin + j) * lanes));
  SmallVector<Value> sums;
  for (Value i : rows)
    for (auto [j, part] : llvm::zip_equal(columns, rowLanes))
      sums.push_back(matmul.accumulates ? code.load(f32, placeOf(code, matmul.c, i, j), part)
                                        : code.constant(code.builder.getF32FloatAttr(0), lanes));
  sums = code.loop(code.index(0), matmul.depth, sums, [&](Value depth, ValueRange carried) {
    SmallVector<Value> right, next;
    for (auto [j, part] : llvm::zip_equal(columns, rowLanes))
      right.push_back(code.load(f32, placeOf(code, matmul.b, depth, j), part));
    for (auto [number, i] : llvm::enumerate(rows)) {
      Value left = code.splat(code.load(f32, placeOf(code, matmul.a, i, depth), {}), lanes);
      for (auto [place, vector] : llvm::enumerate(right)) {
        Value sum = carried[number * right.size() + place];
        next.push_back(math::FmaOp::create(code.builder, code.loc, left, vector, sum));
      }
    }
    return next;
  });
  for (auto [number, i] : llvm::enumerate(rows))
    for (auto [place, part] : llvm::enumerate(rowLanes))
      code.store(sums[number * rowLanes.size() + place], placeOf(code, matmul.c, i, columns[place]), part);
}

void ds::emitTileMatmul(CodeBuilder &code, const TileMatmul &matmul, unsigned lanes) {
  int64_t vectors = llvm::divideCeil(matmul.columns, lanes), tileRows = tileRowsOf(lanes);
  Value full = code.mul(code.div(matmul.rows, code.index(tileRows)), code.index(tileRows));
  for (int64_t begin = 0; begin < vectors; begin += kTileVectors) {
    SmallVector<Lanes> rowLanes =
        lanesOfRow(code, matmul.columns, begin, std::min(begin + kTileVectors, vectors), lanes);
    auto tilesOf = [&](int64_t count) {
      return [&, count](Value row, ValueRange) -> SmallVector<Value> {
        emitTile(code, matmul, row, count, begin, rowLanes);
        return {};
      };
    };
    code.loop(code.index(0), full, tileRows, {}, tilesOf(tileRows));
    code.loop(full, matmul.rows, 1, {}, tilesOf(1));
  }
}

/// Transposes a square of vectors: in each step, blocks of `size` rows and lanes off the diagonal change places.
static void transposeSquare(CodeBuilder &code, SmallVectorImpl<Value> &rows) {
  int64_t lanes = rows.size();
  for (int64_t size = 1; size < lanes; size *= 2) {
    SmallVector<int64_t> low, high;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      bool isOdd = lane / size % 2;
      low.push_back(isOdd ? lanes + lane - size : lane);
      high.push_back(isOdd ? lanes + lane : lane + size);
    }
    for (int64_t row = 0; row < lanes; ++row) {
      if (row / size % 2)
        continue;
      Value a = rows[row], b = rows[row + size];
      rows[row] = vector::ShuffleOp::create(code.builder, code.loc, a, b, low);
      rows[row + size] = vector::ShuffleOp::create(code.builder, code.loc, a, b, high);
    }
  }
}

void ds::emitTileTranspose(CodeBuilder &code, const TileTranspose &transpose, unsigned lanes) {
  Type f32 = code.builder.getF32Type();
  Value last = code.sub(transpose.validRows, code.index(1)), stride = code.index(transpose.rows);
  Value factor = code.constant(code.builder.getF32FloatAttr(transpose.factor), lanes);
  code.loop(code.index(0), code.index(transpose.rows), lanes, {}, [&](Value row, ValueRange) -> SmallVector<Value> {
    for (int64_t column = 0; column < transpose.columns; column += lanes) {
      int64_t left = std::min<int64_t>(transpose.columns - column, lanes);
      Lanes part = lanesOfRow(code, left, 0, 1, lanes).front();
      SmallVector<Value> square;
      for (unsigned i = 0; i < lanes; ++i) {
        Value from = code.min(code.add(row, code.index(i)), last);
        Value vector = code.load(f32, placeOf(code, transpose.from, from, code.index(column)), part);
        square.push_back(arith::MulFOp::create(code.builder, code.loc, vector, factor));
      }
      transposeSquare(code, square);
      for (int64_t j = 0; j < left; ++j) {
        Value offset = code.add(code.mul(code.index(column + j), stride), row);
        code.store(square[j], code.addressOf(transpose.to, f32, offset), {lanes, {}});
      }
    }
    return {};
  });
}
