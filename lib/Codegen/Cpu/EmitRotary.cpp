// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "EmitRotary.h"

#include "CodeBuilder.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

#include <array>

using namespace mlir;
using namespace ds;

namespace {
/// Where the elements of a row lie.
struct RotaryRow {
  Value from, to, half;              ///< half: the columns of a half
  std::array<Value, 2> cosine, sine; ///< for each half of the row
};
} // namespace

/// The halves (x1, x2) of a row become (x1 cos1 - x2 sin1, x2 cos2 + x1 sin2).
static void rotateRow(CodeBuilder &code, const RotaryRow &row, unsigned lanes, bool streams) {
  OpBuilder &builder = code.builder;
  Type f32 = builder.getF32Type();
  code.vectorLoop(code.index(0), row.half, lanes, {}, [&](Value at, Lanes part, ValueRange) -> SmallVector<Value> {
    Value second = code.add(at, row.half);
    auto load = [&](Value base, Value place) { return code.load(f32, code.addressOf(base, f32, place), part); };
    auto loadAhead = [&](Value base, Value place) {
      code.prefetch(code.addressOf(base, f32, place), f32, part);
      return load(base, place);
    };
    auto store = [&](Value value, Value place) {
      Value address = code.addressOf(row.to, f32, place);
      if (streams && !part.mask)
        code.stream(value, address);
      else
        code.store(value, address, part);
    };
    auto loadBoth = [&](const std::array<Value, 2> &bases) -> std::array<Value, 2> {
      Value first = load(bases[0], at);
      return {first, bases[1] == bases[0] ? first : load(bases[1], at)};
    };
    auto multiply = [&](Value a, Value b) -> Value {
      return arith::MulFOp::create(builder, code.loc, a, b, arith::FastMathFlags::contract);
    };
    Value x1 = loadAhead(row.from, at), x2 = loadAhead(row.from, second);
    auto [cosine1, cosine2] = loadBoth(row.cosine);
    auto [sine1, sine2] = loadBoth(row.sine);
    Value y1 = arith::SubFOp::create(builder, code.loc, multiply(x1, cosine1), multiply(x2, sine1),
                                     arith::FastMathFlags::contract);
    Value y2 = arith::AddFOp::create(builder, code.loc, multiply(x2, cosine2), multiply(x1, sine2),
                                     arith::FastMathFlags::contract);
    store(y1, at);
    store(y2, second);
    return {};
  });
}

/// Whether both halves of the row begin on a cache line.
static Value isAligned(CodeBuilder &code, const RotaryRow &row) {
  Value second = code.addressOf(row.to, code.builder.getF32Type(), row.half);
  return arith::AndIOp::create(code.builder, code.loc, code.isAligned(row.to), code.isAligned(second));
}

/// The row of the tables for a row of the input, from the `runs` pairs of extents.
static Value tableRow(CodeBuilder &code, Value extents, size_t runs, Value row) {
  Value result, stride;
  for (size_t run = 0; run < runs; ++run) {
    Value repeats = code.loadIndex(extents, 4 * run), size = code.loadIndex(extents, 4 * run + 2);
    row = code.div(row, repeats);
    Value place = code.rem(row, size);
    result = result ? code.add(result, code.mul(place, stride)) : place;
    stride = stride ? code.mul(stride, size) : size;
    row = code.div(row, size);
  }
  return result ? result : code.index(0);
}

void ds::emitRotary(const RotaryForm &form, StringRef symbol, unsigned vectorBits, ModuleOp module) {
  OpBuilder builder(module.getContext());
  CodeBuilder code(builder, builder.getUnknownLoc());
  LLVM::LLVMFuncOp function = code.startKernel(symbol, module);
  Type f32 = builder.getF32Type();
  SmallVector<Value> buffers;
  for (int64_t number = 0; number < 4; ++number)
    buffers.push_back(code.loadPointer(function.getArgument(0), number));
  Value extents = function.getArgument(1), width = code.loadIndex(extents, 4 * form.numRuns);
  Value half = code.div(width, code.index(2)), columns = form.isWhole ? width : half;
  const bool streams = form.isStreamed && vectorBits / 8 % kCacheLine == 0;
  code.loop(function.getArgument(2), function.getArgument(3), {}, [&](Value index, ValueRange) -> SmallVector<Value> {
    Value offset = code.mul(index, width), angle = code.mul(tableRow(code, extents, form.numRuns, index), columns);
    auto anglesOf = [&](Value table) -> std::array<Value, 2> {
      Value first = code.addressOf(table, f32, angle);
      return {first, form.isWhole ? code.addressOf(first, f32, half) : first};
    };
    RotaryRow row = {code.addressOf(buffers[0], f32, offset), code.addressOf(buffers[3], f32, offset), half,
                     anglesOf(buffers[1]), anglesOf(buffers[2])};
    auto rotate = [&](bool past) {
      rotateRow(code, row, vectorBits / 32, past);
      return SmallVector<Value>();
    };
    return streams ? code.choose(
                         isAligned(code, row), {}, [&] { return rotate(true); }, [&] { return rotate(false); })
                   : rotate(false);
  });
  if (streams)
    code.fence();
  LLVM::ReturnOp::create(builder, code.loc, ValueRange());
}
