// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "EmitRotary.h"

#include "CodeBuilder.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace ds;

/// The halves (x1, x2) of a row become (x1 cos - x2 sin, x2 cos + x1 sin).
static void rotateRow(CodeBuilder &code, Value from, Value to, Value cosines, Value sines, Value half, unsigned lanes) {
  OpBuilder &builder = code.builder;
  Type f32 = builder.getF32Type();
  code.vectorLoop(code.index(0), half, lanes, {}, [&](Value at, Lanes part, ValueRange) -> SmallVector<Value> {
    Value second = code.add(at, half);
    auto load = [&](Value base, Value place) { return code.load(f32, code.addressOf(base, f32, place), part); };
    auto multiply = [&](Value a, Value b) -> Value {
      return arith::MulFOp::create(builder, code.loc, a, b, arith::FastMathFlags::contract);
    };
    Value x1 = load(from, at), x2 = load(from, second), cosine = load(cosines, at), sine = load(sines, at);
    Value y1 = arith::SubFOp::create(builder, code.loc, multiply(x1, cosine), multiply(x2, sine),
                                     arith::FastMathFlags::contract);
    Value y2 = arith::AddFOp::create(builder, code.loc, multiply(x2, cosine), multiply(x1, sine),
                                     arith::FastMathFlags::contract);
    code.store(y1, code.addressOf(to, f32, at), part);
    code.store(y2, code.addressOf(to, f32, second), part);
    return {};
  });
}

void ds::emitRotary(StringRef symbol, unsigned vectorBits, ModuleOp module) {
  OpBuilder builder(module.getContext());
  CodeBuilder code(builder, builder.getUnknownLoc());
  LLVM::LLVMFuncOp function = code.startKernel(symbol, module);
  Type f32 = builder.getF32Type();
  SmallVector<Value> buffers;
  for (int64_t number = 0; number < 4; ++number)
    buffers.push_back(code.loadPointer(function.getArgument(0), number));
  Value extents = function.getArgument(1), rowsPerPosition = code.loadIndex(extents, 0);
  Value positions = code.loadIndex(extents, 2), width = code.loadIndex(extents, 4);
  Value half = code.div(width, code.index(2));
  code.loop(function.getArgument(2), function.getArgument(3), {}, [&](Value row, ValueRange) -> SmallVector<Value> {
    Value position = code.rem(code.div(row, rowsPerPosition), positions);
    Value offset = code.mul(row, width), angle = code.mul(position, half);
    rotateRow(code, code.addressOf(buffers[0], f32, offset), code.addressOf(buffers[3], f32, offset),
              code.addressOf(buffers[1], f32, angle), code.addressOf(buffers[2], f32, angle), half, vectorBits / 32);
    return {};
  });
  LLVM::ReturnOp::create(builder, code.loc, ValueRange());
}
