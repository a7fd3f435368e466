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

using Function = plan::LibraryFunction;

size_t rankOf(Value value) { return cast<RankedTensorType>(value.getType()).getRank(); }
int64_t sizeOf(Value value, size_t dim) { return cast<RankedTensorType>(value.getType()).getDimSize(dim); }

/// The arguments of each function.
class LibraryCalls {
public:
  explicit LibraryCalls(ExtentTable &extents) : extents(extents) {}

  Call of(GatherRowsOp op) {
    Value table = op.getTable();
    return {Function::GatherRows,
            {table, op.getIds(), op.getResult()},
            {product(table, 0, 1), product(table, 1, rankOf(table)), product(op.getIds())},
            {sizeOf(table, 0)},
            table};
  }
  Call of(ScatterAddRowsOp op) {
    Value table = op.getResult();
    return {Function::ScatterAddRows,
            {op.getIds(), op.getUpdates(), table},
            {product(table, 0, 1), product(table, 1, rankOf(table)), product(op.getIds())},
            {sizeOf(table, 0)},
            table};
  }
  Call of(GatherElementsOp op) {
    Value data = op.getInput();
    return {Function::GatherElements,
            {data, op.getIds(), op.getResult()},
            picked(data, op.getIds(), op.getDim()),
            {sizeOf(data, op.getDim())},
            data};
  }
  Call of(ScatterElementsOp op) {
    Value data = op.getResult();
    return {Function::ScatterElements,
            {op.getIds(), op.getUpdates(), data},
            picked(data, op.getIds(), op.getDim()),
            {sizeOf(data, op.getDim()), 1},
            data};
  }
  Call of(TopKOp op) {
    return {Function::TopK,
            {op.getInput(), op.getValues(), op.getIds()},
            around(op.getInput(), op.getDim()),
            {sizeOf(op.getValues(), op.getDim()), 1},
            op.getInput()};
  }
  Call of(ConvolutionOp op) {
    return convolution(Function::Convolution, {op.getInput(), op.getWeight(), op.getResult()}, op.getInput(),
                       op.getWeight(), op.getResult(), op);
  }
  Call of(ConvolutionGradInputOp op) {
    return convolution(Function::ConvolutionGradInput, {op.getGradient(), op.getWeight(), op.getResult()},
                       op.getResult(), op.getWeight(), op.getGradient(), op);
  }
  Call of(ConvolutionGradWeightOp op) {
    return convolution(Function::ConvolutionGradWeight, {op.getInput(), op.getGradient(), op.getResult()},
                       op.getInput(), op.getResult(), op.getGradient(), op);
  }
  Call of(MaxPoolOp op) { return pool(Function::MaxPool, {op.getInput(), op.getResult()}, op.getResult(), op); }
  Call of(MaxPoolGradOp op) {
    return pool(Function::MaxPoolGrad, {op.getInput(), op.getGradient(), op.getResult()}, op.getGradient(), op);
  }

private:
  uint32_t product(Value value, size_t beginDim, size_t endDim) {
    return extents.addProduct(layoutOf(value), shapeOf(value.getType()), beginDim, endDim);
  }
  uint32_t product(Value value) { return extents.addCount(layoutOf(value), shapeOf(value.getType())); }

  /// [outer, n, inner] around a dim.
  std::vector<uint32_t> around(Value value, size_t dim) {
    return {product(value, 0, dim), product(value, dim, dim + 1), product(value, dim + 1, rankOf(value))};
  }
  /// [outer, n, ids, inner] around a dim of which `ids` picks elements.
  std::vector<uint32_t> picked(Value data, Value ids, size_t dim) {
    std::vector<uint32_t> result = around(data, dim);
    result.insert(result.begin() + 2, around(ids, dim)[1]);
    return result;
  }
  void addSpatial(Call &call, Value image) {
    for (size_t dim = 2; dim < rankOf(image); ++dim)
      call.extents.push_back(product(image, dim, dim + 1));
  }
  static void addInts(Call &call, ArrayRef<int64_t> ints) {
    call.ints.insert(call.ints.end(), ints.begin(), ints.end());
  }

  /// `input`, `weight` and `result` are those of the convolution itself.
  template <typename OpT>
  Call convolution(Function function, std::array<Value, 3> buffers, Value input, Value weight, Value result, OpT op) {
    const size_t spatial = rankOf(input) - 2;
    Call call{function, {buffers[0], buffers[1], buffers[2]}, {}, {static_cast<int64_t>(spatial)}, input};
    call.extents = {product(input, 0, 1), product(input, 1, 2), product(weight, 0, 1),
                    extents.addConstant(op.getGroups())};
    addSpatial(call, input);
    addSpatial(call, result);
    for (size_t dim = 0; dim < spatial; ++dim)
      call.ints.push_back(sizeOf(weight, dim + 2));
    for (ArrayRef<int64_t> list : {op.getStrides(), op.getPads(), op.getDilations()})
      addInts(call, list);
    return call;
  }
  /// `result` is that of the pooling itself.
  template <typename OpT> Call pool(Function function, SmallVector<Value> buffers, Value result, OpT op) {
    Value input = op.getInput();
    Call call{function, buffers, {product(input, 0, 2)}, {static_cast<int64_t>(rankOf(input) - 2)}, input};
    addSpatial(call, input);
    addSpatial(call, result);
    for (ArrayRef<int64_t> list : {op.getKernel(), op.getStrides(), op.getPads(), op.getDilations()})
      addInts(call, list);
    return call;
  }

  ExtentTable &extents;
};

} // namespace

LogicalResult InstructionEmitter::emitLibrary(Operation *op) {
  LibraryCalls calls(extents);
  std::optional<Call> call =
      llvm::TypeSwitch<Operation *, std::optional<Call>>(op)
          .Case<GatherRowsOp, ScatterAddRowsOp, GatherElementsOp, ScatterElementsOp, TopKOp, ConvolutionOp,
                ConvolutionGradInputOp, ConvolutionGradWeightOp, MaxPoolOp, MaxPoolGradOp>(
              [&](auto made) { return calls.of(made); })
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
