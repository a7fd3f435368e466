// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// What holds a step together: constants, variables, loops, and ops that do nothing when the step runs.

#include "Instructions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace ds;

template <typename OpT> static LogicalResult emitNothing(OpT, InstructionEmitter &) { return success(); }

static LogicalResult emitAssign(AssignOp op, InstructionEmitter &emitter) {
  const unsigned target = emitter.storage.storageOfVariable(op.getVariable());
  if (emitter.storage.storageOf(op.getValue()) != target)
    emitter.addMove(op.getValue(), target, op);
  return success();
}

/// The bits of a splat's element, in the low bytes.
static uint64_t bitsOf(SplatElementsAttr splat) {
  Attribute value = splat.getSplatValue<Attribute>();
  if (auto number = dyn_cast<FloatAttr>(value))
    return number.getValue().bitcastToAPInt().getZExtValue();
  return cast<IntegerAttr>(value).getValue().getZExtValue();
}

std::vector<uint8_t> ds::bytesOf(DenseElementsAttr elements) {
  std::vector<uint8_t> bytes;
  if (elements.getElementType().isInteger(1)) {
    for (bool value : elements.getValues<bool>())
      bytes.push_back(value);
    return bytes;
  }
  ArrayRef<char> raw = elements.getRawData();
  int64_t repeats = elements.isSplat() ? elements.getNumElements() : 1;
  for (int64_t i = 0; i < repeats; ++i)
    bytes.insert(bytes.end(), raw.begin(), raw.end());
  return bytes;
}

/// A splat is filled in where it stands; other elements are a variable that nobody assigns.
static LogicalResult emitConstant(arith::ConstantOp op, InstructionEmitter &emitter) {
  if (!isa<RankedTensorType>(op.getType()))
    return success();
  if (auto splat = dyn_cast<SplatElementsAttr>(op.getValue())) {
    emitter.addFill(op, bitsOf(splat), op);
    return success();
  }
  const unsigned id = emitter.storage.storageOf(op);
  auto variable = std::make_unique<plan::VariableT>();
  variable->name = "constant." + std::to_string(id);
  variable->role = plan::VariableRole::Cache;
  variable->type = dataTypeOf(op.getResult());
  variable->shape = shapeOf(op.getType());
  variable->layout = layoutTableOf(op.getType(), emitter.mesh);
  variable->buffer = id;
  variable->inline_data = bytesOf(cast<DenseElementsAttr>(op.getValue()));
  emitter.addVariable(std::move(variable));
  return success();
}

/// Moves values to where the arguments of the loop's body lie.
static void carry(Operation *op, ValueRange values, scf::ForOp loop, InstructionEmitter &emitter) {
  for (auto [value, arg] : llvm::zip_equal(values, loop.getRegionIterArgs()))
    if (isa<RankedTensorType>(arg.getType()) && emitter.storage.storageOf(value) != emitter.storage.storageOf(arg))
      emitter.addMove(value, emitter.storage.storageOf(arg), op);
}

static LogicalResult emitLoop(scf::ForOp loop, InstructionEmitter &emitter) {
  std::optional<APInt> trips = loop.getStaticTripCount();
  if (!trips)
    return loop.emitOpError("must have a constant number of iterations");
  carry(loop, loop.getInitArgs(), loop, emitter);
  Operation *yield = loop.getBody()->getTerminator();
  return emitter.addLoop(loop, trips->getZExtValue(), [&] { carry(yield, yield->getOperands(), loop, emitter); });
}

void ds::attachStructureInstructions(MLIRContext *context) {
  attachInstructions<AssignOp, emitAssign>(context);
  attachInstructions<arith::ConstantOp, emitConstant>(context);
  attachInstructions<scf::ForOp, emitLoop>(context);
  attachInstructions<FenceOp, emitNothing<FenceOp>>(context);
  attachInstructions<ReadOp, emitNothing<ReadOp>>(context);
  attachInstructions<ReshapeOp, emitNothing<ReshapeOp>>(context);
  attachInstructions<WaitOp, emitNothing<WaitOp>>(context);
  attachInstructions<func::ReturnOp, emitNothing<func::ReturnOp>>(context);
  attachInstructions<scf::YieldOp, emitNothing<scf::YieldOp>>(context); // part of its loop
}

void ds::registerInstructionModels(DialectRegistry &registry) {
  registry.addExtension(
      +[](MLIRContext *context, DsDialect *, arith::ArithDialect *, func::FuncDialect *, scf::SCFDialect *) {
        attachCastInstructions(context);
        attachKernelInstructions(context);
        attachLibraryInstructions(context);
        attachMovementInstructions(context);
        attachStructureInstructions(context);
      });
}
