// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// The forward function. Its rows are those of all heads; a block of queries belongs to the chunk that has its first
// row:
//
//   for each head and block of queries
//     maxima = least, sums = 0, results = 0
//     for each block of keys that some query sees
//       scores = keys queries^T
//       maxima' = the greatest of scores, where they exceed maxima by far
//       sums, results *= exp(maxima - maxima'), if any changes
//       scores = exp(scores - maxima'); sums += scores; results += scores^T values
//     write results / sums, maxima and sums

#include "EmitAttention.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <limits>

using namespace mlir;
using namespace ds;

/// How far a score may exceed the maximum that is subtracted from it: exponentials are at most e^4, and results are
/// scaled in few blocks only. Source: FlashAttention-4 (2026).
static constexpr float kSlack = 4;

namespace {

class ForwardEmitter : public AttentionEmitter {
public:
  ForwardEmitter(FusedAttentionOp op, unsigned vectorBits, OpBuilder &builder)
      : AttentionEmitter(op, vectorBits, builder), resultString(op->getNumOperands()),
        maxString(op->getNumOperands() + 1), sumString(op->getNumOperands() + 2) {}

  void emit(StringRef symbol, ModuleOp module);

private:
  void emitHead(Value head, Value begin, Value end);
  void emitBlock(const QueryBlock &block);
  void emitKeys(const QueryBlock &block, Value firstKey);
  SmallVector<Value> findMaxima(const QueryBlock &block, Value firstKey, Value keys, bool masks);
  Value chooseMaxima(ArrayRef<Value> old, SmallVectorImpl<Value> &greatest);
  void updateStatistics(const QueryBlock &block, Value firstKey, Value keys);
  void scaleSums(ArrayRef<Value> old, ArrayRef<Value> greatest);
  void scaleResults(Value queries);
  void writeResults(const QueryBlock &block);

  void writeStatistic(const QueryBlock &block, Value scratch, size_t string);

  const size_t resultString, maxString, sumString;
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
  addOverKeys(scratchMatrix(results, resultStride), block, firstKey, keys, scores, 2, valueWidth);
}

/// The greatest score of each query so far, of which `maxima` has those before these keys. Scores get bias and mask.
SmallVector<Value> ForwardEmitter::findMaxima(const QueryBlock &block, Value firstKey, Value keys, bool masks) {
  return code.loop(code.index(0), keys, loadParts(maxima), [&](Value key, ValueRange carried) {
    Value row = rowAt(scores, key, kQueries), at = code.add(firstKey, key);
    SmallVector<Value> next;
    for (int64_t part = 0; part < numParts(); ++part) {
      Value score = addBias(loadPart(row, part), block, at);
      if (masks)
        score = maskScore(score, block, at, part);
      if (masks || biasString)
        storePart(score, row, part);
      // A NaN that is not found here is found by the exponential.
      next.push_back(arith::MaxNumFOp::create(code.builder, code.loc, carried[part], score));
    }
    return next;
  });
}

/// Leaves a maximum as it was where a greater score exceeds it by less than kSlack, and returns whether any changed.
Value ForwardEmitter::chooseMaxima(ArrayRef<Value> old, SmallVectorImpl<Value> &greatest) {
  OpBuilder &builder = code.builder;
  Value changes;
  for (auto [before, after] : llvm::zip_equal(old, greatest)) {
    Value limit = arith::AddFOp::create(builder, code.loc, before, number(kSlack, lanes));
    Value exceeds = arith::CmpFOp::create(builder, code.loc, arith::CmpFPredicate::OGT, after, limit);
    after = arith::SelectOp::create(builder, code.loc, exceeds, after, before);
    changes = changes ? arith::OrIOp::create(builder, code.loc, changes, exceeds).getResult() : exceeds;
  }
  return vector::ReductionOp::create(builder, code.loc, vector::CombiningKind::OR, changes);
}

/// Turns scores into exponentials; sets maxima and sums, and scales results and sums where a maximum changes.
void ForwardEmitter::updateStatistics(const QueryBlock &block, Value firstKey, Value keys) {
  OpBuilder &builder = code.builder;
  SmallVector<Value> old = loadParts(maxima);
  auto greatestUnder = [&](bool masks) { return [&, masks] { return findMaxima(block, firstKey, keys, masks); }; };
  SmallVector<Value> greatest;
  if (isCausal) {
    Value visible = code.add(code.add(block.first, shift), code.index(2)); // to the first query, and one more
    greatest = code.choose(code.isLess(code.add(firstKey, keys), visible), ValueRange(old).getTypes(),
                           greatestUnder(false), greatestUnder(true));
  } else {
    greatest = findMaxima(block, firstKey, keys, false);
  }
  code.choose(
      chooseMaxima(old, greatest), {},
      [&] {
        scaleSums(old, greatest);
        scaleResults(block.count);
        return SmallVector<Value>();
      },
      [] { return SmallVector<Value>(); });
  SmallVector<Value> totals = loadParts(sums);
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

void ForwardEmitter::scaleSums(ArrayRef<Value> old, ArrayRef<Value> greatest) {
  for (int64_t part = 0; part < numParts(); ++part) {
    Value factor = exp(arith::SubFOp::create(code.builder, code.loc, old[part], greatest[part]));
    storePart(greatest[part], maxima, part);
    storePart(factor, factors, part);
    storePart(arith::MulFOp::create(code.builder, code.loc, loadPart(sums, part), factor), sums, part);
  }
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
  writeStatistic(block, maxima, maxString);
  writeStatistic(block, sums, sumString);
}

void ForwardEmitter::writeStatistic(const QueryBlock &block, Value scratch, size_t string) {
  Type f32 = code.builder.getF32Type();
  Value target = rowsOf(string, block.head, block.first).base;
  code.vectorLoop(code.index(0), block.count, lanes, {}, [&](Value at, Lanes part, ValueRange) -> SmallVector<Value> {
    code.store(code.load(f32, code.addressOf(scratch, f32, at), {lanes, {}}), code.addressOf(target, f32, at), part);
    return {};
  });
}

void ds::emitAttention(Operation *op, StringRef symbol, unsigned vectorBits, ModuleOp module) {
  if (auto gradient = dyn_cast<FusedAttentionGradOp>(op))
    return emitAttentionGrad(gradient, symbol, vectorBits, module);
  OpBuilder builder(module.getContext());
  ForwardEmitter(cast<FusedAttentionOp>(op), vectorBits, builder).emit(symbol, module);
}
