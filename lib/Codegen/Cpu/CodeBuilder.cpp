// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "CodeBuilder.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace ds;

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

Value CodeBuilder::index(int64_t value) { return arith::ConstantIntOp::create(builder, loc, value, 64); }
Value CodeBuilder::add(Value a, Value b) { return arith::AddIOp::create(builder, loc, a, b); }
Value CodeBuilder::sub(Value a, Value b) { return arith::SubIOp::create(builder, loc, a, b); }
Value CodeBuilder::mul(Value a, Value b) { return arith::MulIOp::create(builder, loc, a, b); }
Value CodeBuilder::div(Value a, Value b) { return arith::DivUIOp::create(builder, loc, a, b); }
Value CodeBuilder::rem(Value a, Value b) { return arith::RemUIOp::create(builder, loc, a, b); }
Value CodeBuilder::min(Value a, Value b) { return arith::MinSIOp::create(builder, loc, a, b); }
Value CodeBuilder::isLess(Value a, Value b) {
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, a, b);
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Type CodeBuilder::typeOf(Type element, unsigned lanes) {
  return lanes == 0 ? element : VectorType::get({static_cast<int64_t>(lanes)}, element);
}

Value CodeBuilder::constant(TypedAttr element, unsigned lanes) {
  if (lanes == 0)
    return arith::ConstantOp::create(builder, loc, element);
  auto type = cast<VectorType>(typeOf(element.getType(), lanes));
  return arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, Attribute(element)));
}

Value CodeBuilder::splat(Value scalar, unsigned lanes) {
  if (lanes == 0)
    return scalar;
  return vector::BroadcastOp::create(builder, loc, typeOf(scalar.getType(), lanes), scalar);
}

/// 0, 1, ..., lanes - 1.
static TypedAttr stepsOf(IntegerType element, unsigned lanes) {
  SmallVector<APInt> steps;
  for (unsigned lane = 0; lane < lanes; ++lane)
    steps.push_back(APInt(element.getWidth(), lane, /*isSigned=*/false, /*implicitTrunc=*/true));
  return DenseIntElementsAttr::get(VectorType::get({static_cast<int64_t>(lanes)}, element), steps);
}

Value CodeBuilder::iota(Value first, Type element, unsigned lanes) {
  auto integer = dyn_cast<IntegerType>(element);
  IntegerType steps = integer ? integer : builder.getI32Type();
  Value value = first;
  if (steps.getWidth() < 64)
    value = arith::TruncIOp::create(builder, loc, steps, first);
  value = splat(value, lanes);
  if (lanes > 0)
    value = add(value, arith::ConstantOp::create(builder, loc, stepsOf(steps, lanes)));
  return integer ? value : arith::SIToFPOp::create(builder, loc, typeOf(element, lanes), value);
}

Value CodeBuilder::firstLanes(Value count, unsigned lanes) {
  IntegerType element = builder.getI32Type();
  Value narrow = splat(arith::TruncIOp::create(builder, loc, element, count), lanes);
  return isLess(arith::ConstantOp::create(builder, loc, stepsOf(element, lanes)), narrow);
}

//===----------------------------------------------------------------------===//
// Elementwise ops
//===----------------------------------------------------------------------===//

static bool isNarrowFloat(Type type) {
  Type element = getElementTypeOrSelf(type);
  return isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32;
}

Value CodeBuilder::create(StringRef name, ValueRange operands, Type type, ArrayRef<NamedAttribute> attributes) {
  OperationState state(loc, name, operands, type, attributes);
  return builder.create(state)->getResult(0);
}

/// The op of arith or math that does to elements what `op` does to tensors.
static StringRef elementOpOf(Operation *op) {
  if (isa<ScaleOp>(op))
    return arith::MulFOp::getOperationName();
  if (isa<DivideOp>(op))
    return arith::DivFOp::getOperationName();
  if (isa<WhereOp>(op))
    return arith::SelectOp::getOperationName();
  return op->getName().getStringRef();
}

Value CodeBuilder::compute(Operation *op, ValueRange operands, Lanes lanes) {
  Type element = cast<RankedTensorType>(op->getResult(0).getType()).getElementType();
  NamedAttrList attributes(op->getAttrs());
  SmallVector<Value> values(operands);
  // A division under a mask must not trap on lanes that do not exist.
  if (isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp, arith::CeilDivSIOp, arith::FloorDivSIOp>(
          op) &&
      lanes.mask)
    values[1] = arith::SelectOp::create(builder, loc, lanes.mask, values[1],
                                        constant(builder.getIntegerAttr(element, 1), lanes.count));
  bool movesBits = isa<arith::ExtFOp, arith::TruncFOp, arith::SelectOp, arith::BitcastOp, WhereOp>(op);
  bool isNarrow = !movesBits && (isNarrowFloat(element) ||
                                 llvm::any_of(values, [](Value value) { return isNarrowFloat(value.getType()); }));
  if (!isNarrow)
    return create(elementOpOf(op), values, typeOf(element, lanes.count), attributes);
  for (Value &value : values)
    value = toAccumulator(value, lanes.count);
  Value result = create(elementOpOf(op), values, typeOf(accumulatorOf(element), lanes.count), attributes);
  return fromAccumulator(result, element, lanes.count);
}

LLVM::LLVMFuncOp CodeBuilder::startKernel(StringRef name, ModuleOp module, unsigned numIndices) {
  SmallVector<Type> arguments(2, pointerType());
  arguments.append(numIndices, builder.getI64Type());
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(builder.getContext()), arguments);
  builder.setInsertionPointToEnd(module.getBody());
  auto function = LLVM::LLVMFuncOp::create(builder, loc, name, type);
  builder.setInsertionPointToStart(function.addEntryBlock(builder));
  return function;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Type CodeBuilder::pointerType() { return LLVM::LLVMPointerType::get(builder.getContext()); }

Value CodeBuilder::loadPointer(Value pointers, int64_t number) {
  return LLVM::LoadOp::create(builder, loc, pointerType(), addressOf(pointers, pointerType(), index(number)), 8);
}

Value CodeBuilder::loadIndex(Value indices, int64_t number) {
  return LLVM::LoadOp::create(builder, loc, builder.getI64Type(),
                              addressOf(indices, builder.getI64Type(), index(number)), 8);
}

/// How an element lies in memory. 16-bit floats travel as integers, for which every CPU has masked accesses.
static Type storageOf(Type element) {
  unsigned width = element.getIntOrFloatBitWidth();
  if (width == 1)
    return IntegerType::get(element.getContext(), 8);
  return isNarrowFloat(element) ? IntegerType::get(element.getContext(), width) : element;
}

unsigned CodeBuilder::bytesOf(Type element) { return storageOf(element).getIntOrFloatBitWidth() / 8; }

Value CodeBuilder::addressOf(Value pointer, Type element, Value offset) {
  if (!offset)
    return pointer;
  Type storage = isa<LLVM::LLVMPointerType>(element) ? element : storageOf(element);
  return LLVM::GEPOp::create(builder, loc, pointerType(), storage, pointer, ValueRange(offset),
                             LLVM::GEPNoWrapFlags::inbounds);
}

Value CodeBuilder::load(Type element, Value address, Lanes lanes) {
  Type storage = storageOf(element), type = typeOf(storage, lanes.count);
  Value value;
  if (lanes.mask) {
    Value zeros = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
    value = LLVM::MaskedLoadOp::create(builder, loc, type, address, lanes.mask, zeros,
                                       builder.getI32IntegerAttr(bytesOf(element)),
                                       /*nontemporal=*/nullptr);
  } else {
    value = LLVM::LoadOp::create(builder, loc, type, address, bytesOf(element));
  }
  if (element == storage)
    return value;
  if (!element.isInteger(1))
    return arith::BitcastOp::create(builder, loc, typeOf(element, lanes.count), value);
  Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, value, zero);
}

/// `value` as it lies in memory.
static Value storedForm(OpBuilder &builder, Location loc, Value value, unsigned lanes) {
  Type element = getElementTypeOrSelf(value.getType()), storage = storageOf(element);
  if (element == storage)
    return value;
  Type type = CodeBuilder::typeOf(storage, lanes);
  return element.isInteger(1) ? arith::ExtUIOp::create(builder, loc, type, value).getResult()
                              : arith::BitcastOp::create(builder, loc, type, value).getResult();
}

void CodeBuilder::store(Value value, Value address, Lanes lanes) {
  unsigned alignment = bytesOf(getElementTypeOrSelf(value.getType()));
  value = storedForm(builder, loc, value, lanes.count);
  if (lanes.mask)
    LLVM::MaskedStoreOp::create(builder, loc, value, address, lanes.mask, alignment);
  else
    LLVM::StoreOp::create(builder, loc, value, address, alignment);
}

void CodeBuilder::prefetch(Value address, Type element, Lanes lanes) {
  if (lanes.mask)
    return;
  const unsigned end = kPrefetchAhead + lanes.count * bytesOf(element);
  for (unsigned offset = kPrefetchAhead; offset < end; offset += kCacheLine) {
    Value line = LLVM::GEPOp::create(builder, loc, pointerType(), builder.getI8Type(), address,
                                     ArrayRef<LLVM::GEPArg>(static_cast<int32_t>(offset)));
    LLVM::Prefetch::create(builder, loc, line, /*rw=*/0, /*hint=*/3, /*cache=*/1);
  }
}

void CodeBuilder::stream(Value value, Value address) {
  value = storedForm(builder, loc, value, cast<VectorType>(value.getType()).getNumElements());
  LLVM::StoreOp::create(builder, loc, value, address, kCacheLine, /*isVolatile=*/false, /*isNonTemporal=*/true);
}

Value CodeBuilder::isAligned(Value address) {
  Value number = LLVM::PtrToIntOp::create(builder, loc, builder.getI64Type(), address);
  Value rest = arith::AndIOp::create(builder, loc, number, index(kCacheLine - 1));
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, rest, index(0));
}

void CodeBuilder::fence() { LLVM::FenceOp::create(builder, loc, LLVM::AtomicOrdering::seq_cst); }

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

Type CodeBuilder::accumulatorOf(Type element) {
  return isNarrowFloat(element) ? Float32Type::get(element.getContext()) : element;
}

Value CodeBuilder::toAccumulator(Value value, unsigned lanes) {
  Type element = getElementTypeOrSelf(value.getType()), wide = accumulatorOf(element);
  return element == wide ? value : arith::ExtFOp::create(builder, loc, typeOf(wide, lanes), value);
}

Value CodeBuilder::fromAccumulator(Value value, Type element, unsigned lanes) {
  if (getElementTypeOrSelf(value.getType()) == element)
    return value;
  return arith::TruncFOp::create(builder, loc, typeOf(element, lanes), value);
}

/// The op that folds two elements, in arith's terms. Of bools, max is or, and min is and.
static arith::AtomicRMWKind arithKind(Reduction kind, Type element) {
  bool isFloat = isa<FloatType>(element), isBool = element.isInteger(1);
  switch (kind) {
  case Reduction::Sum:
    return isFloat ? arith::AtomicRMWKind::addf : arith::AtomicRMWKind::addi;
  case Reduction::Max:
    return isFloat ? arith::AtomicRMWKind::maximumf : isBool ? arith::AtomicRMWKind::ori : arith::AtomicRMWKind::maxs;
  case Reduction::Min:
    return isFloat ? arith::AtomicRMWKind::minimumf : isBool ? arith::AtomicRMWKind::andi : arith::AtomicRMWKind::mins;
  case Reduction::And:
    return arith::AtomicRMWKind::andi;
  case Reduction::Or:
    return arith::AtomicRMWKind::ori;
  }
  llvm_unreachable("all kinds are named");
}

Value CodeBuilder::neutral(Reduction kind, Type accumulator, unsigned lanes) {
  if (kind == Reduction::And || (kind == Reduction::Min && accumulator.isInteger(1)))
    return constant(builder.getIntegerAttr(accumulator, APInt::getAllOnes(accumulator.getIntOrFloatBitWidth())), lanes);
  return constant(arith::getIdentityValueAttr(arithKind(kind, accumulator), accumulator, builder, loc), lanes);
}

Value CodeBuilder::foldOne(Reduction kind, Value accumulator, Value value) {
  // A sum of products, whatever else reads the product.
  if (auto product = value.getDefiningOp<arith::MulFOp>(); product && kind == Reduction::Sum)
    return math::FmaOp::create(builder, loc, product.getLhs(), product.getRhs(), accumulator);
  Value folded =
      arith::getReductionOp(arithKind(kind, getElementTypeOrSelf(value.getType())), builder, loc, accumulator, value);
  // NaN stays NaN; the sign of zero is free.
  if (isa<arith::ArithFastMathInterface>(folded.getDefiningOp()))
    folded.getDefiningOp()->setAttr("fastmath",
                                    arith::FastMathFlagsAttr::get(builder.getContext(), arith::FastMathFlags::nsz));
  return folded;
}

Value CodeBuilder::fold(Reduction kind, Value accumulator, Value value, Lanes lanes) {
  Value folded = foldOne(kind, accumulator, value);
  return lanes.mask ? arith::SelectOp::create(builder, loc, lanes.mask, folded, accumulator) : folded;
}

Value CodeBuilder::foldLanes(Reduction kind, Value vector) {
  Type element = getElementTypeOrSelf(vector.getType());
  std::optional<vector::CombiningKind> combining = vector::CombiningKind::ADD;
  switch (arithKind(kind, element)) {
  case arith::AtomicRMWKind::maximumf:
    combining = vector::CombiningKind::MAXIMUMF;
    break;
  case arith::AtomicRMWKind::minimumf:
    combining = vector::CombiningKind::MINIMUMF;
    break;
  case arith::AtomicRMWKind::maxs:
    combining = vector::CombiningKind::MAXSI;
    break;
  case arith::AtomicRMWKind::mins:
    combining = vector::CombiningKind::MINSI;
    break;
  case arith::AtomicRMWKind::andi:
    combining = vector::CombiningKind::AND;
    break;
  case arith::AtomicRMWKind::ori:
    combining = vector::CombiningKind::OR;
    break;
  default:
    break;
  }
  arith::FastMathFlags flags = arith::FastMathFlags::reassoc | arith::FastMathFlags::nsz;
  return vector::ReductionOp::create(builder, loc, *combining, vector,
                                     isa<FloatType>(element) ? flags : arith::FastMathFlags::none);
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

SmallVector<Value> CodeBuilder::loop(Value begin, Value end, int64_t step, ValueRange carried, LoopBody body) {
  auto loop = scf::ForOp::create(builder, loc, begin, end, index(step), carried,
                                 [&](OpBuilder &, Location, Value at, ValueRange values) {
                                   OpBuilder::InsertionGuard guard(builder);
                                   builder.setInsertionPointToEnd(at.getParentBlock());
                                   SmallVector<Value> next = body(at, values);
                                   scf::YieldOp::create(builder, loc, next);
                                 });
  return loop.getResults();
}

SmallVector<Value> CodeBuilder::loop(Value begin, Value end, ValueRange carried, LoopBody body) {
  return loop(begin, end, 1, carried, body);
}

SmallVector<Value> CodeBuilder::vectorLoop(Value begin, Value end, unsigned lanes, ValueRange carried,
                                           VectorLoopBody body) {
  Value full = mul(div(sub(end, begin), index(lanes)), index(lanes)), middle = add(begin, full);
  SmallVector<Value> values = loop(begin, middle, lanes, carried, [&](Value at, ValueRange inner) {
    return body(at, {lanes, {}}, inner);
  });
  auto rest = scf::IfOp::create(builder, loc, ValueRange(values).getTypes(), isLess(middle, end),
                                /*withElseRegion=*/!values.empty());
  OpBuilder::InsertionGuard guard(builder);
  if (!values.empty()) {
    builder.setInsertionPointToEnd(rest.elseBlock());
    scf::YieldOp::create(builder, loc, values);
  }
  Block *tail = rest.thenBlock();
  if (values.empty())
    builder.setInsertionPointToStart(tail);
  else
    builder.setInsertionPointToEnd(tail);
  SmallVector<Value> next = body(middle, {lanes, firstLanes(sub(end, middle), lanes)}, values);
  if (!values.empty())
    scf::YieldOp::create(builder, loc, next);
  return rest.getResults();
}

SmallVector<Value> CodeBuilder::choose(Value condition, TypeRange types, ChoiceBody ifTrue, ChoiceBody ifFalse) {
  auto choice = scf::IfOp::create(builder, loc, types, condition, /*addThenBlock=*/true, /*addElseBlock=*/true);
  OpBuilder::InsertionGuard guard(builder);
  for (auto [block, body] : {std::pair(choice.thenBlock(), ifTrue), std::pair(choice.elseBlock(), ifFalse)}) {
    builder.setInsertionPointToEnd(block);
    scf::YieldOp::create(builder, loc, body());
  }
  return choice.getResults();
}
