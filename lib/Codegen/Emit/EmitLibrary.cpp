// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// Matmuls and the functions of the runtime's library; their arguments are listed in ds/Runtime/Library.h.

#include "InstructionEmitter.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace ds;

/// The numbers of a value's indices, major first.
static std::vector<uint16_t> numbersOf(const ValueIndices &value) {
  std::vector<uint16_t> numbers;
  for (const auto &indices : value)
    numbers.insert(numbers.end(), indices.begin(), indices.end());
  return numbers;
}

/// A `ds.matmul` or `ds.fused_matmul`.
void InstructionEmitter::emitMatmul(Operation *op) {
  LayoutRule rule = *findLayoutRule(op);
  IndexSplits splits = splitsOf(op, rule);
  plan::MatmulT matmul;
  for (unsigned index = 0; index < rule.indices.size(); ++index)
    matmul.extents.push_back(extents.add({splits[index]}));
  Value result = op->getResult(0);
  matmul.a = storage.storageOf(op->getOperand(0));
  matmul.b = storage.storageOf(op->getOperand(1));
  matmul.c = storage.storageOf(result);
  matmul.a_dims = numbersOf(rule.operands[0]);
  matmul.b_dims = numbersOf(rule.operands[1]);
  matmul.c_dims = numbersOf(rule.results[0]);
  matmul.type = dataTypeOf(cast<RankedTensorType>(result.getType()).getElementType());
  if (auto fused = dyn_cast<FusedMatmulOp>(op)) {
    if (Value bias = fused.getBias()) {
      matmul.bias = storage.storageOf(bias);
      matmul.bias_dims = numbersOf(rule.operands[2]);
    }
    if (Value addend = fused.getAddend()) {
      if (storage.storageOf(addend) != matmul.c)
        emitMove(addend, matmul.c, op);
      matmul.accumulate = true;
    }
    matmul.activation = static_cast<plan::Activation>(fused.getActivation());
  }
  add(std::move(matmul), op);
}

namespace {
/// A call in the making.
struct Call {
  plan::LibraryFunction function;
  SmallVector<Value> buffers;
  std::vector<uint32_t> extents;
  std::vector<int64_t> ints;
  Value data; ///< tells the type
};
} // namespace

LogicalResult InstructionEmitter::emitLibrary(Operation *op) {
  auto rank = [](Value value) { return static_cast<size_t>(cast<RankedTensorType>(value.getType()).getRank()); };
  auto size = [](Value value, size_t dim) { return cast<RankedTensorType>(value.getType()).getDimSize(dim); };
  // [outer, n, inner] around a dim.
  auto around = [&](Value value, size_t dim) {
    return std::vector<uint32_t>{productOf(value, 0, dim), productOf(value, dim, dim + 1),
                                 productOf(value, dim + 1, rank(value))};
  };
  auto convolution = [&](plan::LibraryFunction function, std::array<Value, 3> buffers, Value input, Value weight,
                         Value result, auto window) {
    size_t spatial = rank(input) - 2;
    Call call{function, {buffers[0], buffers[1], buffers[2]}, {}, {static_cast<int64_t>(spatial)}, input};
    call.extents = {productOf(input, 0, 1), productOf(input, 1, 2), productOf(weight, 0, 1),
                    extents.addConstant(window.getGroups())};
    for (Value image : {input, result})
      for (size_t dim = 2; dim < rank(image); ++dim)
        call.extents.push_back(productOf(image, dim, dim + 1));
    for (size_t dim = 0; dim < spatial; ++dim)
      call.ints.push_back(size(weight, dim + 2));
    for (ArrayRef<int64_t> list : {window.getStrides(), window.getPads(), window.getDilations()})
      call.ints.insert(call.ints.end(), list.begin(), list.end());
    return call;
  };
  auto pool = [&](plan::LibraryFunction function, SmallVector<Value> buffers, Value result, auto window) {
    Value input = buffers[0];
    Call call{function, buffers, {productOf(input, 0, 2)}, {static_cast<int64_t>(rank(input) - 2)}, input};
    for (Value image : {input, result})
      for (size_t dim = 2; dim < rank(image); ++dim)
        call.extents.push_back(productOf(image, dim, dim + 1));
    for (ArrayRef<int64_t> list : {window.getKernel(), window.getStrides(), window.getPads(), window.getDilations()})
      call.ints.insert(call.ints.end(), list.begin(), list.end());
    return call;
  };
  using F = plan::LibraryFunction;
  std::optional<Call> call =
      llvm::TypeSwitch<Operation *, std::optional<Call>>(op)
          .Case([&](GatherRowsOp gather) {
            return Call{F::GatherRows,
                        {gather.getTable(), gather.getIds(), gather.getResult()},
                        {productOf(gather.getTable(), 0, 1), productOf(gather.getTable(), 1, rank(gather.getTable())),
                         countOf(gather.getIds())},
                        {size(gather.getTable(), 0)},
                        gather.getTable()};
          })
          .Case([&](ScatterAddRowsOp scatter) {
            return Call{F::ScatterAddRows,
                        {scatter.getIds(), scatter.getUpdates(), scatter.getResult()},
                        {productOf(scatter.getResult(), 0, 1),
                         productOf(scatter.getResult(), 1, rank(scatter.getResult())), countOf(scatter.getIds())},
                        {size(scatter.getResult(), 0)},
                        scatter.getResult()};
          })
          .Case([&](GatherElementsOp gather) {
            std::vector<uint32_t> data = around(gather.getInput(), gather.getDim()),
                                  picked = around(gather.getIds(), gather.getDim());
            return Call{F::GatherElements,
                        {gather.getInput(), gather.getIds(), gather.getResult()},
                        {data[0], data[1], picked[1], data[2]},
                        {size(gather.getInput(), gather.getDim())},
                        gather.getInput()};
          })
          .Case([&](ScatterElementsOp scatter) {
            std::vector<uint32_t> data = around(scatter.getResult(), scatter.getDim()),
                                  picked = around(scatter.getIds(), scatter.getDim());
            return Call{F::ScatterElements,
                        {scatter.getIds(), scatter.getUpdates(), scatter.getResult()},
                        {data[0], data[1], picked[1], data[2]},
                        {size(scatter.getResult(), scatter.getDim()), 1},
                        scatter.getResult()};
          })
          .Case([&](TopKOp top) {
            return Call{F::TopK,
                        {top.getInput(), top.getValues(), top.getIds()},
                        around(top.getInput(), top.getDim()),
                        {size(top.getValues(), top.getDim()), 1},
                        top.getInput()};
          })
          .Case([&](ConvolutionOp conv) {
            return convolution(F::Convolution, {conv.getInput(), conv.getWeight(), conv.getResult()}, conv.getInput(),
                               conv.getWeight(), conv.getResult(), conv);
          })
          .Case([&](ConvolutionGradInputOp conv) {
            return convolution(F::ConvolutionGradInput, {conv.getGradient(), conv.getWeight(), conv.getResult()},
                               conv.getResult(), conv.getWeight(), conv.getGradient(), conv);
          })
          .Case([&](ConvolutionGradWeightOp conv) {
            return convolution(F::ConvolutionGradWeight, {conv.getInput(), conv.getGradient(), conv.getResult()},
                               conv.getInput(), conv.getResult(), conv.getGradient(), conv);
          })
          .Case([&](MaxPoolOp op) {
            return pool(F::MaxPool, {op.getInput(), op.getResult()}, op.getResult(), op);
          })
          .Case([&](MaxPoolGradOp op) {
            return pool(F::MaxPoolGrad, {op.getInput(), op.getGradient(), op.getResult()}, op.getGradient(), op);
          })
          .Default([](Operation *) { return std::nullopt; });
  if (!call)
    return op->emitOpError("has no instruction in the plan");
  plan::LibraryCallT made;
  made.function = call->function;
  for (Value value : call->buffers)
    made.buffers.push_back(storage.storageOf(value));
  made.extents = call->extents;
  made.ints = call->ints;
  made.type = dataTypeOf(cast<RankedTensorType>(call->data.getType()).getElementType());
  add(std::move(made), op);
  return success();
}
