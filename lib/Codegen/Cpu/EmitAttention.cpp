// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// The forward function. Its rows are those of all heads; a block of queries belongs to the chunk that has its first
// row:
//
//   for each head and block of queries
//     maxima = least, sums = 0, results = 0
//     for each block of keys that some query sees
//       scores = keys queries^T
//       maxima' = the greater of maxima and scores; scores = exp(scores - maxima')
//       sums, results *= exp(maxima - maxima'); sums += scores; results += scores^T values
//     write results / sums, and maxima + log sums

#include "EmitAttention.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <limits>

using namespace mlir;
using namespace ds;

namespace {

class ForwardEmitter : public AttentionEmitter {
public:
  ForwardEmitter(FusedAttentionOp op, unsigned vectorBits, OpBuilder &builder)
      : AttentionEmitter(op, vectorBits, builder), resultString(op->getNumOperands()),
        logSumString(op->getNumOperands() + 1) {}

  void emit(StringRef symbol, ModuleOp module);

private:
  void emitHead(Value head, Value begin, Value end);
  void emitBlock(const QueryBlock &block);
  void emitKeys(const QueryBlock &block, Value firstKey);
  void updateStatistics(const QueryBlock &block, Value firstKey, Value keys);
  void scaleResults(Value queries);
  void writeResults(const QueryBlock &block);

  const size_t resultString, logSumString;
  Value queries, scores, results, maxima, sums, factors; ///< scratch
  int64_t resultStride = 0;
};

} // namespace

void ForwardEmitter::emit(StringRef symbol, ModuleOp module) {
  startFunction(symbol, module);
  resultStride = llvm::alignTo(valueWidth, 16);
  queries = scratch(kQueries * llvm::alignTo(width, 16));
  scores = scratch(kQueries * kKeys);
  results = scratch(kQueries * resultStride);
  maxima = scratch(kQueries);
  sums = scratch(kQueries);
  factors = scratch(kQueries);
  // Rows [begin, end) of all heads, which may begin and end inside of one.
  Value begin = function.getArgument(2), end = function.getArgument(3), one = code.index(1), rows = sizes['s'];
  Value divisor = arith::MaxSIOp::create(code.builder, code.loc, rows, one);
  Value headEnd = code.div(code.add(end, code.sub(divisor, one)), divisor);
  code.loop(code.div(begin, divisor), headEnd, {}, [&](Value head, ValueRange) -> SmallVector<Value> {
    Value origin = code.mul(head, rows);
    Value first = arith::MaxSIOp::create(code.builder, code.loc, code.sub(begin, origin), code.index(0));
    emitHead(head, first, code.min(code.sub(end, origin), rows));
    return {};
  });
  LLVM::ReturnOp::create(code.builder, code.loc, ValueRange());
}

/// The blocks whose first query is in [begin, end).
void ForwardEmitter::emitHead(Value head, Value begin, Value end) {
  Value size = code.index(kQueries), rest = code.div(head, sizes['g']);
  Value first = code.mul(code.div(code.add(begin, code.index(kQueries - 1)), size), size);
  Head place = {code.div(rest, sizes['k']), code.rem(rest, sizes['k']), code.rem(head, sizes['g'])};
  code.loop(first, end, kQueries, {}, [&](Value query, ValueRange) -> SmallVector<Value> {
    emitBlock(queryBlock(place, query));
    return {};
  });
}

void ForwardEmitter::emitBlock(const QueryBlock &block) {
  emitTileTranspose(code, {rowsOf(0, block.head, block.first), queries, block.count, kQueries, width, scale}, lanes);
  for (int64_t part = 0; part < numParts(); ++part) {
    storePart(number(std::numeric_limits<float>::lowest(), lanes), maxima, part);
    storePart(number(0, lanes), sums, part);
  }
  fillRows(scratchMatrix(results, resultStride), block.count, resultStride);
  code.loop(code.index(0), block.keyEnd, kKeys, {}, [&](Value key, ValueRange) -> SmallVector<Value> {
    emitKeys(block, key);
    return {};
  });
  writeResults(block);
}

void ForwardEmitter::emitKeys(const QueryBlock &block, Value firstKey) {
  Value keys = code.min(code.index(kKeys), code.sub(block.keyEnd, firstKey));
  emitScores(1, block, firstKey, keys, width, queries, scores);
  updateStatistics(block, firstKey, keys);
  scaleResults(block.count);
  addOverKeys(scratchMatrix(results, resultStride), block, firstKey, keys, scores, 2, valueWidth);
}

/// Turns scores into exponentials; sets maxima, sums and factors.
void ForwardEmitter::updateStatistics(const QueryBlock &block, Value firstKey, Value keys) {
  OpBuilder &builder = code.builder;
  SmallVector<Value> old, greatest;
  for (int64_t part = 0; part < numParts(); ++part)
    old.push_back(loadPart(maxima, part));
  greatest = code.loop(code.index(0), keys, old, [&](Value key, ValueRange carried) {
    Value row = rowAt(scores, key, kQueries);
    SmallVector<Value> next;
    for (int64_t part = 0; part < numParts(); ++part) {
      Value score = maskScore(loadPart(row, part), block, code.add(firstKey, key), part);
      if (changesScores())
        storePart(score, row, part);
      // A NaN that is not found here is found by the exponential.
      next.push_back(arith::MaxNumFOp::create(builder, code.loc, carried[part], score));
    }
    return next;
  });
  SmallVector<Value> totals;
  for (int64_t part = 0; part < numParts(); ++part) {
    Value factor = exp(arith::SubFOp::create(builder, code.loc, old[part], greatest[part]));
    storePart(greatest[part], maxima, part);
    storePart(factor, factors, part);
    totals.push_back(arith::MulFOp::create(builder, code.loc, loadPart(sums, part), factor));
  }
  totals = code.loop(code.index(0), keys, totals, [&](Value key, ValueRange carried) {
    Value row = rowAt(scores, key, kQueries);
    SmallVector<Value> next;
    for (int64_t part = 0; part < numParts(); ++part) {
      Value power = exp(arith::SubFOp::create(builder, code.loc, loadPart(row, part), greatest[part]));
      storePart(power, row, part);
      next.push_back(arith::AddFOp::create(builder, code.loc, carried[part], power));
    }
    return next;
  });
  for (int64_t part = 0; part < numParts(); ++part)
    storePart(totals[part], sums, part);
}

void ForwardEmitter::scaleResults(Value count) {
  Type f32 = code.builder.getF32Type();
  code.loop(code.index(0), count, {}, [&](Value query, ValueRange) -> SmallVector<Value> {
    Value factor = code.splat(code.load(f32, code.addressOf(factors, f32, query), {}), lanes);
    Value row = rowAt(results, query, resultStride);
    for (int64_t part = 0; part * lanes < resultStride; ++part)
      storePart(arith::MulFOp::create(code.builder, code.loc, loadPart(row, part), factor), row, part);
    return {};
  });
}

void ForwardEmitter::writeResults(const QueryBlock &block) {
  OpBuilder &builder = code.builder;
  Type f32 = builder.getF32Type();
  MatrixView target = rowsOf(resultString, block.head, block.first);
  code.loop(code.index(0), block.count, {}, [&](Value query, ValueRange) -> SmallVector<Value> {
    Value sum = code.load(f32, code.addressOf(sums, f32, query), {});
    Value factor = code.splat(arith::DivFOp::create(builder, code.loc, number(1, 0), sum), lanes);
    Value from = rowAt(results, query, resultStride);
    Value to = code.addressOf(target.base, f32, code.mul(query, target.rowStride));
    code.vectorLoop(
        code.index(0), code.index(valueWidth), lanes, {}, [&](Value at, Lanes part, ValueRange) -> SmallVector<Value> {
          Value value = code.load(f32, code.addressOf(from, f32, at), part);
          code.store(arith::MulFOp::create(builder, code.loc, value, factor), code.addressOf(to, f32, at), part);
          return {};
        });
    return {};
  });
  Value logSums = rowsOf(logSumString, block.head, block.first).base;
  code.vectorLoop(code.index(0), block.count, lanes, {}, [&](Value at, Lanes part, ValueRange) -> SmallVector<Value> {
    Lanes all = {lanes, {}};
    Value sum = code.load(f32, code.addressOf(sums, f32, at), all);
    Value greatest = code.load(f32, code.addressOf(maxima, f32, at), all);
    Value logSum = arith::AddFOp::create(builder, code.loc, greatest, math::LogOp::create(builder, code.loc, sum));
    code.store(logSum, code.addressOf(logSums, f32, at), part);
    return {};
  });
}

void ds::emitAttention(Operation *op, StringRef symbol, unsigned vectorBits, ModuleOp module) {
  if (auto gradient = dyn_cast<FusedAttentionGradOp>(op))
    return emitAttentionGrad(gradient, symbol, vectorBits, module);
  OpBuilder builder(module.getContext());
  ForwardEmitter(cast<FusedAttentionOp>(op), vectorBits, builder).emit(symbol, module);
}
