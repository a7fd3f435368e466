// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "EmitAttention.h"

#include "ds/Dialect/IndexNotation.h"
#include "ds/Dialect/MathAttributes.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/StringExtras.h"

#include <limits>

using namespace mlir;
using namespace ds;

static constexpr StringRef kExtentLetters = "bkgst";
/// The score of a key that a query does not see: below every finite one, as a bias for padding is about the least
/// float.
static constexpr float kHidden = -std::numeric_limits<float>::infinity();

std::string ds::structureOfAttention(Operation *op) {
  std::string text;
  llvm::raw_string_ostream out(text);
  // Of the attributes only the op's own: passes leave others, which differ between layers.
  out << op->getName();
  for (StringRef name : {"indices", "scale", "causal"})
    if (Attribute attribute = op->getAttr(name))
      out << ' ' << name << ' ' << attribute;
  // Widths, and the sizes of dims with a fixed coordinate, are in the code.
  IndexNotation notation = notationOf(op);
  for (size_t number = 0; number < notation.numTensors(); ++number)
    for (auto [letter, size] : llvm::zip_equal(notation.tensor(number), typeOfString(op, number).getShape()))
      if (llvm::isDigit(letter) || letter == 'd' || letter == 'e')
        out << ' ' << letter << " of " << size;
  return text;
}

AttentionEmitter::AttentionEmitter(Operation *op, unsigned vectorBits, OpBuilder &builder)
    : op(op), code(builder, op->getLoc()), lanes(vectorBits / 32), isCausal(op->hasAttr("causal")),
      scale(op->getAttrOfType<FloatAttr>("scale").getValueAsDouble()),
      width(cast<RankedTensorType>(op->getOperand(0).getType()).getShape().back()),
      valueWidth(cast<RankedTensorType>(op->getOperand(2).getType()).getShape().back()) {
  IndexNotation notation = notationOf(op);
  for (size_t number = 0; number < notation.numTensors(); ++number) {
    strings.push_back(notation.tensor(number));
    shapes.emplace_back(typeOfString(op, number).getShape());
  }
  const size_t withoutBias = isa<FusedAttentionOp>(op) ? 3 : 7;
  if (op->getNumOperands() > withoutBias)
    biasString = withoutBias;
}

//===----------------------------------------------------------------------===//
// The call
//===----------------------------------------------------------------------===//

void AttentionEmitter::startFunction(StringRef name, ModuleOp module) {
  function = code.startKernel(name, module);
  Value pointers = function.getArgument(0), extents = function.getArgument(1);
  const int64_t numBuffers = op->getNumOperands() + op->getNumResults();
  for (size_t number = 0; number < strings.size(); ++number)
    buffers.push_back(code.loadPointer(pointers, std::min<int64_t>(number, numBuffers - 1)));
  for (auto [place, letter] : llvm::enumerate(kExtentLetters))
    sizes[letter] = code.loadIndex(extents, 2 * place);
  shift = code.sub(sizes['t'], sizes['s']);
  workspace = code.addressOf(code.loadPointer(pointers, numBuffers), code.builder.getF32Type(),
                             code.mul(function.getArgument(4), code.index(attentionWorkspace(op))));
}

Value AttentionEmitter::scratch(int64_t elements) {
  Value place = code.addressOf(workspace, code.builder.getF32Type(), code.index(used));
  used += elements;
  assert(used <= attentionWorkspace(op) && "the plan must give each chunk the scratch memory that its code uses");
  return place;
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

MatrixView AttentionEmitter::rowsOf(size_t string, const Head &head, Value first) {
  Value stride = code.index(1), offset = code.index(0), rowStride = code.index(0);
  for (size_t dim = strings[string].size(); dim-- > 0;) {
    char letter = strings[string][dim];
    bool isFixed = llvm::isDigit(letter), isWidth = letter == 'd' || letter == 'e';
    if (letter == 's' || letter == 't')
      rowStride = stride;
    Value at = isFixed                          ? code.index(letter - '0')
               : letter == 'b'                  ? head.batch
               : letter == 'k'                  ? head.key
               : letter == 'g'                  ? head.group
               : letter == 's' || letter == 't' ? first
                                                : Value();
    if (at)
      offset = code.add(offset, code.mul(at, stride));
    stride = code.mul(stride, isFixed || isWidth ? code.index(shapes[string][dim]) : sizes[letter]);
  }
  return {code.addressOf(buffers[string], code.builder.getF32Type(), offset), rowStride, {}};
}

AttentionEmitter::QueryBlock AttentionEmitter::queryBlock(const Head &head, Value first) {
  Value count = code.min(code.index(kQueries), code.sub(sizes['s'], first));
  Value keyEnd = isCausal ? code.add(code.add(first, count), shift) : sizes['t'];
  return {head, first, count, keyEnd};
}

Value AttentionEmitter::rowAt(Value matrix, Value number, int64_t columns) {
  return code.addressOf(matrix, code.builder.getF32Type(), code.mul(number, code.index(columns)));
}

Value AttentionEmitter::loadPart(Value row, int64_t part) {
  Type f32 = code.builder.getF32Type();
  return code.load(f32, code.addressOf(row, f32, code.index(part * lanes)), {lanes, {}});
}

SmallVector<Value> AttentionEmitter::loadParts(Value row) {
  return llvm::map_to_vector(llvm::seq(numParts()), [&](int64_t part) { return loadPart(row, part); });
}

void AttentionEmitter::storePart(Value value, Value row, int64_t part) {
  code.store(value, code.addressOf(row, code.builder.getF32Type(), code.index(part * lanes)), {lanes, {}});
}

void AttentionEmitter::fillRows(const MatrixView &matrix, Value rows, int64_t columns) {
  Type f32 = code.builder.getF32Type();
  code.loop(code.index(0), rows, {}, [&](Value row, ValueRange) -> SmallVector<Value> {
    Value base = code.addressOf(matrix.base, f32, code.mul(row, matrix.rowStride));
    code.vectorLoop(code.index(0), code.index(columns), lanes, {},
                    [&](Value at, Lanes part, ValueRange) -> SmallVector<Value> {
                      code.store(number(0, lanes), code.addressOf(base, f32, at), part);
                      return {};
                    });
    return {};
  });
}

//===----------------------------------------------------------------------===//
// Scores
//===----------------------------------------------------------------------===//

Value AttentionEmitter::exp(Value value) {
  auto power = math::ExpOp::create(code.builder, code.loc, value);
  power->setAttr(kBoundedExpAttr, code.builder.getUnitAttr());
  return power;
}

void AttentionEmitter::emitScores(size_t string, const QueryBlock &block, Value firstKey, Value keys, int64_t depth,
                                  Value transposed, Value scores) {
  TileMatmul matmul;
  matmul.a = rowsOf(string, block.head, firstKey);
  matmul.b = scratchMatrix(transposed, kQueries);
  matmul.c = scratchMatrix(scores, kQueries);
  matmul.rows = keys;
  matmul.depth = code.index(depth);
  matmul.columns = kQueries;
  emitTileMatmul(code, matmul, lanes);
}

void AttentionEmitter::addOverKeys(const MatrixView &target, const QueryBlock &block, Value firstKey, Value keys,
                                   Value factors, size_t source, int64_t columns) {
  TileMatmul matmul;
  matmul.a = {factors, code.index(1), code.index(kQueries)};
  matmul.b = rowsOf(source, block.head, firstKey);
  matmul.c = target;
  matmul.rows = block.count;
  matmul.depth = keys;
  matmul.columns = columns;
  matmul.accumulates = true;
  emitTileMatmul(code, matmul, lanes);
}

Value AttentionEmitter::addBias(Value score, const QueryBlock &block, Value key) {
  if (!biasString)
    return score;
  Value bias = code.load(code.builder.getF32Type(), rowsOf(*biasString, block.head, key).base, {});
  return arith::AddFOp::create(code.builder, code.loc, score, code.splat(bias, lanes));
}

Value AttentionEmitter::maskScore(Value score, const QueryBlock &block, Value key, int64_t part) {
  Type i32 = code.builder.getI32Type();
  Value last = code.iota(code.add(code.add(block.first, shift), code.index(part * lanes)), i32, lanes);
  Value position = code.splat(arith::TruncIOp::create(code.builder, code.loc, i32, key), lanes);
  Value isHidden = arith::CmpIOp::create(code.builder, code.loc, arith::CmpIPredicate::sgt, position, last);
  return arith::SelectOp::create(code.builder, code.loc, isHidden, number(kHidden, lanes), score);
}
