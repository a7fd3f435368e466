// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// Matmuls and the functions of the runtime's library; ds/Plan/LibrarySignature.h lists the arguments of these.

#include "Instructions.h"

#include "ds/Plan/LibrarySignature.h"

using namespace mlir;
using namespace ds;

/// The numbers of a value's indices, major first.
static std::vector<uint16_t> numbersOf(const ValueIndices &value) {
  std::vector<uint16_t> numbers;
  for (const auto &indices : value)
    numbers.insert(numbers.end(), indices.begin(), indices.end());
  return numbers;
}

static plan::Activation toPlan(Activation activation) {
  switch (activation) {
  case Activation::None:
    return plan::Activation::None;
  case Activation::Relu:
    return plan::Activation::Relu;
  case Activation::GeluTanh:
    return plan::Activation::GeluTanh;
  case Activation::GeluErf:
    return plan::Activation::GeluErf;
  case Activation::Silu:
    return plan::Activation::Silu;
  }
  llvm_unreachable("the plan has every activation");
}

/// The product of the first two operands of `op`, laid out as its rule says.
static plan::MatmulT makeMatmul(Operation *op, const LayoutRule &rule, InstructionEmitter &emitter) {
  plan::MatmulT matmul;
  for (const DimLayout &split : emitter.splitsOf(op, rule))
    matmul.extents.push_back(emitter.extents.add({split}));
  matmul.a = emitter.storage.storageOf(op->getOperand(0));
  matmul.b = emitter.storage.storageOf(op->getOperand(1));
  matmul.c = emitter.storage.storageOf(op->getResult(0));
  matmul.a_dims = numbersOf(rule.operands[0]);
  matmul.b_dims = numbersOf(rule.operands[1]);
  matmul.c_dims = numbersOf(rule.results[0]);
  matmul.type = dataTypeOf(op->getResult(0));
  return matmul;
}

static LogicalResult emitMatmul(MatmulOp op, InstructionEmitter &emitter) {
  emitter.add(makeMatmul(op, *findLayoutRule(op), emitter), op);
  return success();
}

static LogicalResult emitFusedMatmul(FusedMatmulOp op, InstructionEmitter &emitter) {
  const LayoutRule rule = *findLayoutRule(op);
  plan::MatmulT matmul = makeMatmul(op, rule, emitter);
  if (Value bias = op.getBias()) {
    matmul.bias = emitter.storage.storageOf(bias);
    matmul.bias_dims = numbersOf(rule.operands[2]);
  }
  if (Value addend = op.getAddend()) {
    if (emitter.storage.storageOf(addend) != matmul.c)
      emitter.addMove(addend, matmul.c, op);
    matmul.accumulate = true;
  }
  matmul.activation = toPlan(op.getActivation());
  emitter.add(std::move(matmul), op);
  return success();
}

namespace {

/// The arguments of a call, by their names in the signature.
struct Call {
  plan::LibraryFunction function;
  Value data; ///< tells the type
  std::map<plan::ArgumentName, Value> buffers = {};
  std::map<plan::ArgumentName, std::vector<uint32_t>> extents = {};
  std::map<plan::ArgumentName, std::vector<int64_t>> ints = {};
};

using Function = plan::LibraryFunction;

size_t rankOf(Value value) { return cast<RankedTensorType>(value.getType()).getRank(); }
int64_t sizeOf(Value value, size_t dim) { return cast<RankedTensorType>(value.getType()).getDimSize(dim); }

/// The arguments of each function.
class LibraryCalls {
public:
  explicit LibraryCalls(LayoutExtents &extents) : extents(extents) {}

  Call of(GatherRowsOp op) {
    Call call{Function::GatherRows, op.getTable()};
    call.buffers = {{"table", op.getTable()}, {"ids", op.getIds()}, {"out", op.getResult()}};
    addRows(call, op.getTable(), op.getIds());
    return call;
  }
  Call of(ScatterAddRowsOp op) {
    Call call{Function::ScatterAddRows, op.getResult()};
    call.buffers = {{"ids", op.getIds()}, {"updates", op.getUpdates()}, {"out", op.getResult()}};
    addRows(call, op.getResult(), op.getIds());
    return call;
  }
  Call of(GatherElementsOp op) {
    Call call{Function::GatherElements, op.getInput()};
    call.buffers = {{"data", op.getInput()}, {"indices", op.getIds()}, {"out", op.getResult()}};
    addPicked(call, op.getInput(), op.getIds(), op.getDim());
    return call;
  }
  Call of(ScatterElementsOp op) {
    Call call{Function::ScatterElements, op.getResult()};
    call.buffers = {{"indices", op.getIds()}, {"updates", op.getUpdates()}, {"out", op.getResult()}};
    addPicked(call, op.getResult(), op.getIds(), op.getDim());
    call.ints["add"] = {1};
    return call;
  }
  Call of(TopKOp op) {
    Call call{Function::TopK, op.getInput()};
    call.buffers = {{"data", op.getInput()}, {"values", op.getValues()}, {"indices", op.getIds()}};
    addAround(call, op.getInput(), op.getDim());
    call.ints = {{"k", {sizeOf(op.getValues(), op.getDim())}}, {"largest", {1}}};
    return call;
  }
  Call of(ConvolutionOp op) {
    Call call{Function::Convolution, op.getInput()};
    call.buffers = {{"input", op.getInput()}, {"weight", op.getWeight()}, {"output", op.getResult()}};
    addConvolution(call, {op.getInput(), op.getWeight(), op.getResult()}, op);
    return call;
  }
  Call of(ConvolutionGradInputOp op) {
    Call call{Function::ConvolutionGradInput, op.getResult()};
    call.buffers = {{"gradOutput", op.getGradient()}, {"weight", op.getWeight()}, {"gradInput", op.getResult()}};
    addConvolution(call, {op.getResult(), op.getWeight(), op.getGradient()}, op);
    return call;
  }
  Call of(ConvolutionGradWeightOp op) {
    Call call{Function::ConvolutionGradWeight, op.getInput()};
    call.buffers = {{"input", op.getInput()}, {"gradOutput", op.getGradient()}, {"gradWeight", op.getResult()}};
    addConvolution(call, {op.getInput(), op.getResult(), op.getGradient()}, op);
    return call;
  }
  Call of(MaxPoolOp op) {
    Call call{Function::MaxPool, op.getInput()};
    call.buffers = {{"input", op.getInput()}, {"output", op.getResult()}};
    addPool(call, op.getInput(), op.getResult(), op);
    return call;
  }
  Call of(MaxPoolGradOp op) {
    Call call{Function::MaxPoolGrad, op.getInput()};
    call.buffers = {{"input", op.getInput()}, {"gradOutput", op.getGradient()}, {"gradInput", op.getResult()}};
    addPool(call, op.getInput(), op.getGradient(), op);
    return call;
  }

private:
  /// The three tensors of a convolution, or their gradients.
  struct Tensors {
    Value input, weight, output;
  };

  uint32_t product(Value value, size_t beginDim, size_t endDim) {
    return extents.addProduct(layoutOf(value), shapeOf(value.getType()), beginDim, endDim);
  }
  uint32_t product(Value value) { return extents.addCount(layoutOf(value), shapeOf(value.getType())); }

  /// `ids` names rows of `table`.
  void addRows(Call &call, Value table, Value ids) {
    call.extents = {
        {"rows", {product(table, 0, 1)}}, {"width", {product(table, 1, rankOf(table))}}, {"count", {product(ids)}}};
    call.ints["N"] = {sizeOf(table, 0)};
  }
  void addAround(Call &call, Value value, size_t dim) {
    call.extents = {{"outer", {product(value, 0, dim)}},
                    {"n", {product(value, dim, dim + 1)}},
                    {"inner", {product(value, dim + 1, rankOf(value))}}};
  }
  /// `ids` names elements of `data` along `dim`.
  void addPicked(Call &call, Value data, Value ids, size_t dim) {
    addAround(call, data, dim);
    call.extents["m"] = {product(ids, dim, dim + 1)};
    call.ints["N"] = {sizeOf(data, dim)};
  }

  std::vector<uint32_t> spatial(Value image) {
    std::vector<uint32_t> list;
    for (size_t dim = 2; dim < rankOf(image); ++dim)
      list.push_back(product(image, dim, dim + 1));
    return list;
  }
  /// What convolutions and pools have in common.
  template <typename OpT> void addWindow(Call &call, Value input, Value output, OpT op) {
    const size_t dims = rankOf(input) - 2;
    call.extents["in.."] = spatial(input);
    call.extents["out.."] = spatial(output);
    call.ints["S"] = {static_cast<int64_t>(dims)};
    call.ints["strides.."] = op.getStrides();
    call.ints["padBegin.."] = op.getPads().take_front(dims);
    call.ints["padEnd.."] = op.getPads().drop_front(dims);
    call.ints["dilations.."] = op.getDilations();
  }
  template <typename OpT> void addConvolution(Call &call, const Tensors &tensors, OpT op) {
    addWindow(call, tensors.input, tensors.output, op);
    call.extents["N"] = {product(tensors.input, 0, 1)};
    call.extents["Ci"] = {product(tensors.input, 1, 2)};
    call.extents["Co"] = {product(tensors.weight, 0, 1)};
    call.extents["groups"] = {extents.addConstant(op.getGroups())};
    for (size_t dim = 2; dim < rankOf(tensors.weight); ++dim)
      call.ints["kernel.."].push_back(sizeOf(tensors.weight, dim));
  }
  template <typename OpT> void addPool(Call &call, Value input, Value output, OpT op) {
    addWindow(call, input, output, op);
    call.extents["planes"] = {product(input, 0, 2)};
    call.ints["kernel.."] = op.getKernel();
  }

  LayoutExtents &extents;
};

} // namespace

template <typename OpT> static LogicalResult emitCall(OpT op, InstructionEmitter &emitter) {
  const Call call = LibraryCalls(emitter.extents).of(op);
  plan::LibraryValues values{{}, call.extents, call.ints};
  for (const auto &[name, value] : call.buffers)
    values.buffers[name] = emitter.storage.storageOf(value);
  emitter.add(plan::makeLibraryCall(call.function, dataTypeOf(call.data), values), op);
  return success();
}

template <typename... OpTs> static void attachCalls(MLIRContext *context) {
  (attachInstructions<OpTs, emitCall<OpTs>>(context), ...);
}

void ds::attachLibraryInstructions(MLIRContext *context) {
  attachInstructions<MatmulOp, emitMatmul>(context);
  attachInstructions<FusedMatmulOp, emitFusedMatmul>(context);
  attachCalls<GatherRowsOp, ScatterAddRowsOp, GatherElementsOp, ScatterElementsOp, TopKOp, ConvolutionOp,
              ConvolutionGradInputOp, ConvolutionGradWeightOp, MaxPoolOp, MaxPoolGradOp>(context);
}
