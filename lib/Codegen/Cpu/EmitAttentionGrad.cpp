// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// The gradient's function. Its rows are the key heads of all batches; one chunk alone adds to the gradients of a head's
// keys and values:
//
//   for each key head
//     gradients of keys and values = 0
//     for each of its query heads and block of queries
//       means = the sums over the width of gradient * result
//       for each block of keys that some query sees
//         p = exp(keys queries^T - maxima) / sums, ds = scale p (values gradients^T - means)
//         gradients of values += p gradients, of keys += ds queries, of queries += ds^T keys

#include "EmitAttention.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace ds;

namespace {

class GradientEmitter : public AttentionEmitter {
public:
  GradientEmitter(FusedAttentionGradOp op, unsigned vectorBits, OpBuilder &builder)
      : AttentionEmitter(op, vectorBits, builder), firstResult(op->getNumOperands()) {}

  void emit(StringRef symbol, ModuleOp module);

private:
  /// Strings of the indices.
  enum { Query, Key, TheValue, Result, RowMax, RowSum, Gradient };
  size_t gradientOf(size_t operand) const { return firstResult + operand; }

  void emitKeyHead(Value head);
  void emitBlock(const QueryBlock &block);
  void findMeans(const QueryBlock &block);
  void emitKeys(const QueryBlock &block, Value firstKey);
  void findScoreGradients(const QueryBlock &block, Value firstKey, Value keys);
  void addOverQueries(size_t target, const QueryBlock &block, Value firstKey, Value keys, Value factors, size_t source,
                      int64_t columns);
  void writeQueryGradients(const QueryBlock &block);

  const size_t firstResult;
  Value queries, gradients, scores, scoreGradients, queryGradients, maxima, inverseSums, means; ///< scratch
  int64_t queryStride = 0;
};

} // namespace

void GradientEmitter::emit(StringRef symbol, ModuleOp module) {
  startFunction(symbol, module);
  queryStride = llvm::alignTo(width, 16);
  queries = scratch(kQueries * queryStride);
  gradients = scratch(kQueries * llvm::alignTo(valueWidth, 16));
  scores = scratch(kQueries * kKeys);
  scoreGradients = scratch(kQueries * kKeys);
  queryGradients = scratch(kQueries * queryStride);
  maxima = scratch(kQueries);
  inverseSums = scratch(kQueries);
  means = scratch(kQueries);
  code.loop(function.getArgument(2), function.getArgument(3), {}, [&](Value head, ValueRange) -> SmallVector<Value> {
    emitKeyHead(head);
    return {};
  });
  LLVM::ReturnOp::create(code.builder, code.loc, ValueRange());
}

void GradientEmitter::emitKeyHead(Value head) {
  Value batch = code.div(head, sizes['k']), key = code.rem(head, sizes['k']), zero = code.index(0);
  Head first = {batch, key, zero};
  fillRows(rowsOf(gradientOf(Key), first, zero), sizes['t'], width);
  fillRows(rowsOf(gradientOf(TheValue), first, zero), sizes['t'], valueWidth);
  code.loop(zero, sizes['g'], {}, [&](Value group, ValueRange) -> SmallVector<Value> {
    code.loop(zero, sizes['s'], kQueries, {}, [&](Value query, ValueRange) -> SmallVector<Value> {
      emitBlock(queryBlock({batch, key, group}, query));
      return {};
    });
    return {};
  });
}

void GradientEmitter::emitBlock(const QueryBlock &block) {
  emitTileTranspose(code, {rowsOf(Query, block.head, block.first), queries, block.count, kQueries, width, scale},
                    lanes);
  emitTileTranspose(code, {rowsOf(Gradient, block.head, block.first), gradients, block.count, kQueries, valueWidth, 1},
                    lanes);
  findMeans(block);
  fillRows(scratchMatrix(queryGradients, queryStride), block.count, queryStride);
  code.loop(code.index(0), block.keyEnd, kKeys, {}, [&](Value key, ValueRange) -> SmallVector<Value> {
    emitKeys(block, key);
    return {};
  });
  writeQueryGradients(block);
}

/// Also brings the maxima, and the sums' inverses, to where all lanes exist.
void GradientEmitter::findMeans(const QueryBlock &block) {
  OpBuilder &builder = code.builder;
  Type f32 = builder.getF32Type();
  MatrixView gradient = rowsOf(Gradient, block.head, block.first), result = rowsOf(Result, block.head, block.first);
  Value greatest = rowsOf(RowMax, block.head, block.first).base, total = rowsOf(RowSum, block.head, block.first).base;
  code.loop(code.index(0), block.count, {}, [&](Value query, ValueRange) -> SmallVector<Value> {
    auto rowOf = [&](const MatrixView &matrix) {
      return code.addressOf(matrix.base, f32, code.mul(query, matrix.rowStride));
    };
    Value left = rowOf(gradient), right = rowOf(result);
    SmallVector<Value> sum = code.vectorLoop(code.index(0), code.index(valueWidth), lanes, number(0, lanes),
                                             [&](Value at, Lanes part, ValueRange carried) -> SmallVector<Value> {
                                               Value a = code.load(f32, code.addressOf(left, f32, at), part);
                                               Value b = code.load(f32, code.addressOf(right, f32, at), part);
                                               return {math::FmaOp::create(builder, code.loc, a, b, carried.front())};
                                             });
    code.store(code.foldLanes(Reduction::Sum, sum.front()), code.addressOf(means, f32, query), {});
    code.store(code.load(f32, code.addressOf(greatest, f32, query), {}), code.addressOf(maxima, f32, query), {});
    Value inverse =
        arith::DivFOp::create(builder, code.loc, number(1, 0), code.load(f32, code.addressOf(total, f32, query), {}));
    code.store(inverse, code.addressOf(inverseSums, f32, query), {});
    return {};
  });
}

void GradientEmitter::emitKeys(const QueryBlock &block, Value firstKey) {
  Value keys = code.min(code.index(kKeys), code.sub(block.keyEnd, firstKey));
  emitScores(Key, block, firstKey, keys, width, queries, scores);
  emitScores(TheValue, block, firstKey, keys, valueWidth, gradients, scoreGradients);
  findScoreGradients(block, firstKey, keys);
  addOverQueries(gradientOf(TheValue), block, firstKey, keys, scores, Gradient, valueWidth);
  addOverQueries(gradientOf(Key), block, firstKey, keys, scoreGradients, Query, width);
  addOverKeys(scratchMatrix(queryGradients, queryStride), block, firstKey, keys, scoreGradients, Key, width);
}

/// scores becomes p, scoreGradients ds.
void GradientEmitter::findScoreGradients(const QueryBlock &block, Value firstKey, Value keys) {
  OpBuilder &builder = code.builder;
  SmallVector<Value> shifts = loadParts(maxima), factors = loadParts(inverseSums), centers = loadParts(means);
  code.loop(code.index(0), keys, {}, [&](Value key, ValueRange) -> SmallVector<Value> {
    Value row = rowAt(scores, key, kQueries), gradientRow = rowAt(scoreGradients, key, kQueries);
    for (int64_t part = 0; part < numParts(); ++part) {
      Value at = code.add(firstKey, key), score = addBias(loadPart(row, part), block, at);
      if (isCausal)
        score = maskScore(score, block, at, part);
      Value power = exp(arith::SubFOp::create(builder, code.loc, score, shifts[part]));
      Value p = arith::MulFOp::create(builder, code.loc, power, factors[part]);
      storePart(p, row, part);
      Value centered = arith::SubFOp::create(builder, code.loc, loadPart(gradientRow, part), centers[part]);
      Value scaled = arith::MulFOp::create(builder, code.loc, p, number(scale, lanes));
      storePart(arith::MulFOp::create(builder, code.loc, scaled, centered), gradientRow, part);
    }
    return {};
  });
}

/// Rows of keys of `target` += factors * the queries' rows of `source`.
void GradientEmitter::addOverQueries(size_t target, const QueryBlock &block, Value firstKey, Value keys, Value factors,
                                     size_t source, int64_t columns) {
  TileMatmul matmul;
  matmul.a = scratchMatrix(factors, kQueries);
  matmul.b = rowsOf(source, block.head, block.first);
  matmul.c = rowsOf(target, block.head, firstKey);
  matmul.rows = keys;
  matmul.depth = block.count;
  matmul.columns = columns;
  matmul.accumulates = true;
  emitTileMatmul(code, matmul, lanes);
}

void GradientEmitter::writeQueryGradients(const QueryBlock &block) {
  Type f32 = code.builder.getF32Type();
  MatrixView target = rowsOf(gradientOf(Query), block.head, block.first);
  code.loop(code.index(0), block.count, {}, [&](Value query, ValueRange) -> SmallVector<Value> {
    Value from = rowAt(queryGradients, query, queryStride);
    Value to = code.addressOf(target.base, f32, code.mul(query, target.rowStride));
    code.vectorLoop(
        code.index(0), code.index(width), lanes, {}, [&](Value at, Lanes part, ValueRange) -> SmallVector<Value> {
          code.store(code.load(f32, code.addressOf(from, f32, at), part), code.addressOf(to, f32, at), part);
          return {};
        });
    return {};
  });
}

void ds::emitAttentionGrad(FusedAttentionGradOp op, StringRef symbol, unsigned vectorBits, ModuleOp module) {
  OpBuilder builder(module.getContext());
  GradientEmitter(op, vectorBits, builder).emit(symbol, module);
}
