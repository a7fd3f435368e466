// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// Control: functions, variables, loops, casts. What compute ops do is in the files of their families.

#include "ds/Interpreter/Interpreter.h"

#include "Semantics.h"

#include "ds/Dialect/DsDialect.h"
#include "ds/Interpreter/TensorFiles.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace ds;

using SharedTensor = std::shared_ptr<const DistributedTensor>;

std::string ds::argumentName(func::FuncOp function, unsigned number) {
  if (auto name = function.getArgAttrOfType<StringAttr>(number, kNameAttr))
    return name.str();
  return "arg" + std::to_string(number);
}

std::string ds::resultName(func::FuncOp function, unsigned number) {
  if (auto name = function.getResultAttrOfType<StringAttr>(number, kNameAttr))
    return name.str();
  return "result" + std::to_string(number);
}

static unsigned widthOf(Type type) {
  Type element = elementTypeOf(type);
  return element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 64;
}

//===----------------------------------------------------------------------===//
// State
//===----------------------------------------------------------------------===//

class Interpreter::Impl {
public:
  Impl(ModuleOp module, InterpreterOptions options)
      : module(module), options(std::move(options)), mesh(this->options.mesh ? *this->options.mesh : meshOf(module)),
        table(SemanticsTable::get()) {
    for (VariableOp op : module.getOps<VariableOp>())
      declarations[op.getSymName()] = op;
  }

  FailureOr<DenseTensor> variable(StringRef name);
  FailureOr<FunctionRun> run(func::FuncOp function, const TensorMap &inputs);

  ModuleOp module;
  InterpreterOptions options;
  Mesh mesh;
  TensorMap variables;

private:
  FailureOr<SmallVector<SharedTensor>> runFunction(func::FuncOp function, ArrayRef<SharedTensor> arguments);
  LogicalResult runBlock(Block &block);
  LogicalResult runOp(Operation *op);
  LogicalResult runCompute(Operation *op);
  LogicalResult runRank(LocalCall &call, const SemanticsTable::Entry &entry);
  LogicalResult runFor(scf::ForOp op);
  LogicalResult runKernel(KernelOp op);
  LogicalResult runCall(func::CallOp op);
  LogicalResult runRead(ReadOp op);
  LogicalResult runAssign(AssignOp op);
  LogicalResult runWait(WaitOp op);
  LogicalResult setCast(Value input, OpResult result);

  FailureOr<std::shared_ptr<const Placement>> placementOf(Type type, Operation *op);
  LogicalResult set(Value value, DistributedTensor tensor);
  void roundElements(DistributedTensor &tensor, Type type) const;
  FailureOr<SharedTensor> spread(const DenseTensor &value, Type type, StringRef name, Operation *op);
  DenseTensor globalOf(const SharedTensor &value, Type type) const { return assemble(*value, widthOf(type)); }
  /// By value: a reference would not outlive the next insertion.
  SharedTensor get(Value value) const { return values.lookup(value); }
  /// The value of an index on every rank.
  int64_t indexOf(Value value) const { return get(value)->locals.front().ints[0]; }

  const SemanticsTable &table;
  llvm::StringMap<VariableOp> declarations;
  DenseMap<Type, std::shared_ptr<const Placement>> placements;
  DenseMap<Value, SharedTensor> values;
  TensorMap assigned;
  int callDepth = 0;
};

FailureOr<std::shared_ptr<const Placement>> Interpreter::Impl::placementOf(Type type, Operation *op) {
  std::shared_ptr<const Placement> &placement = placements[type];
  if (placement)
    return placement;
  if (auto tensor = dyn_cast<RankedTensorType>(type); tensor ? !tensor.hasStaticShape() : !type.isIntOrIndexOrFloat())
    return op->emitOpError("must have static tensors, integers or floats to be interpreted, got ") << type;
  const Layout layout = layoutOf(type);
  if (std::optional<std::string> fault = findLayoutFault(layout, shapeOf(type), mesh))
    return op->emitOpError("has a layout that does not fit: ") << *fault;
  placement = std::make_shared<const Placement>(layout, shapeOf(type), mesh);
  return placement;
}

void Interpreter::Impl::roundElements(DistributedTensor &tensor, Type type) const {
  if (options.rounding == Rounding::None || !tensor.isFloat())
    return;
  Type target = options.rounding == Rounding::Float32 ? Float32Type::get(type.getContext()) : elementTypeOf(type);
  for (DenseTensor &local : tensor.locals)
    for (double &element : local.floats)
      element = roundToType(element, target);
}

/// Rounds, checks that replicas agree, and keeps the value.
LogicalResult Interpreter::Impl::set(Value value, DistributedTensor tensor) {
  roundElements(tensor, value.getType());
  if (std::optional<std::string> fault = findReplicaFault(tensor))
    return emitError(value.getLoc()) << (value.getDefiningOp() ? value.getDefiningOp()->getName().getStringRef()
                                                               : "an argument")
                                     << " must give equal copies on all ranks: " << *fault;
  values[value] = std::make_shared<const DistributedTensor>(std::move(tensor));
  return success();
}

//===----------------------------------------------------------------------===//
// Variables
//===----------------------------------------------------------------------===//

FailureOr<DenseTensor> Interpreter::Impl::variable(StringRef name) {
  auto known = variables.find(name.str());
  if (known != variables.end())
    return known->second;
  VariableOp op = declarations.lookup(name);
  if (!op)
    return module.emitError() << "has no variable @" << name;
  DenseTensor value = DenseTensor::zeros(shapeOf(op.getType()), isa<FloatType>(elementTypeOf(op.getType())));
  std::optional<Attribute> initial = op.getInitial();
  if (auto range = dyn_cast_if_present<FileRangeAttr>(initial.value_or(Attribute()))) {
    auto read = readFileRange(options.modelFolder, range, cast<RankedTensorType>(op.getType()));
    if (!read)
      return op.emitOpError() << llvm::toString(read.takeError());
    value = std::move(*read);
  } else if (initial) {
    FailureOr<DenseTensor> elements = denseTensorOf(cast<TypedAttr>(*initial));
    if (failed(elements))
      return op.emitOpError("must have elements that can be read");
    value = std::move(*elements);
  }
  return variables[name.str()] = std::move(value);
}

FailureOr<SharedTensor> Interpreter::Impl::spread(const DenseTensor &value, Type type, StringRef name, Operation *op) {
  auto placement = placementOf(type, op);
  if (failed(placement))
    return failure();
  if (value.shape != (*placement)->shape() || value.isFloat != isa<FloatType>(elementTypeOf(type)))
    return op->emitError() << "\"" << name << "\" must be a value of " << type << ", got " << value.size() << " "
                           << (value.isFloat ? "floats" : "integers") << " in " << value.shape.size() << " dims";
  const uint64_t seed = options.seed ^ llvm::xxh3_64bits(name);
  DistributedTensor tensor = distribute(value, *placement, widthOf(type), seed);
  roundElements(tensor, type);
  return std::make_shared<const DistributedTensor>(std::move(tensor));
}

LogicalResult Interpreter::Impl::runRead(ReadOp op) {
  FailureOr<DenseTensor> value = variable(op.getVariable());
  if (failed(value))
    return failure();
  FailureOr<SharedTensor> tensor = spread(*value, op.getType(), op.getVariable(), op);
  if (failed(tensor))
    return failure();
  values[op.getResult()] = *tensor;
  return success();
}

LogicalResult Interpreter::Impl::runAssign(AssignOp op) {
  assigned[op.getVariable().str()] = globalOf(get(op.getValue()), op.getValue().getType());
  return success();
}

//===----------------------------------------------------------------------===//
// Control
//===----------------------------------------------------------------------===//

FailureOr<FunctionRun> Interpreter::Impl::run(func::FuncOp function, const TensorMap &inputs) {
  values.clear();
  assigned.clear();
  SmallVector<SharedTensor> arguments;
  for (BlockArgument argument : function.getArguments()) {
    const std::string name = argumentName(function, argument.getArgNumber());
    auto input = inputs.find(name);
    if (input == inputs.end())
      return emitError(function.getLoc(), "has no value for input \"") << name << "\"";
    FailureOr<SharedTensor> value = spread(input->second, argument.getType(), name, function);
    if (failed(value))
      return failure();
    arguments.push_back(*value);
  }
  FailureOr<SmallVector<SharedTensor>> results = runFunction(function, arguments);
  if (failed(results))
    return failure();
  FunctionRun run;
  for (auto [number, value] : llvm::enumerate(*results)) {
    auto gradient = function.getResultAttrOfType<FlatSymbolRefAttr>(number, kGradientAttr);
    run.results.push_back({resultName(function, number), gradient ? gradient.getValue().str() : "",
                           globalOf(value, function.getResultTypes()[number])});
  }
  run.assigned = std::move(assigned);
  values.clear();
  return run;
}

FailureOr<SmallVector<SharedTensor>> Interpreter::Impl::runFunction(func::FuncOp function,
                                                                    ArrayRef<SharedTensor> arguments) {
  if (function.isExternal() || !llvm::hasSingleElement(function.getBody()))
    return emitError(function.getLoc(), "function must have one block to be interpreted");
  for (auto [argument, value] : llvm::zip_equal(function.getArguments(), arguments))
    values[argument] = value;
  if (failed(runBlock(function.getBody().front())))
    return failure();
  SmallVector<SharedTensor> results;
  for (Value operand : function.getBody().front().getTerminator()->getOperands())
    results.push_back(get(operand));
  return results;
}

LogicalResult Interpreter::Impl::runBlock(Block &block) {
  for (Operation &op : block)
    if (!op.hasTrait<OpTrait::IsTerminator>() && failed(runOp(&op)))
      return failure();
  return success();
}

LogicalResult Interpreter::Impl::runFor(scf::ForOp op) {
  for (auto [argument, initial] : llvm::zip_equal(op.getRegionIterArgs(), op.getInitArgs()))
    values[argument] = get(initial);
  const int64_t step = indexOf(op.getStep());
  if (step < 1)
    return op.emitOpError("step must be >= 1, got ") << step;
  auto placement = placementOf(op.getInductionVar().getType(), op);
  if (failed(placement))
    return failure();
  for (int64_t i = indexOf(op.getLowerBound()), end = indexOf(op.getUpperBound()); i < end; i += step) {
    DistributedTensor counter = distribute(DenseTensor::ofInts({}, {i}), *placement, 64, 0);
    values[op.getInductionVar()] = std::make_shared<const DistributedTensor>(std::move(counter));
    if (failed(runBlock(*op.getBody())))
      return failure();
    // All are read before any is set: a yield may permute them.
    SmallVector<SharedTensor> next;
    for (Value yielded : op.getYieldedValues())
      next.push_back(get(yielded));
    for (auto [argument, value] : llvm::zip_equal(op.getRegionIterArgs(), next))
      values[argument] = value;
  }
  for (auto [result, argument] : llvm::zip_equal(op.getResults(), op.getRegionIterArgs()))
    values[result] = get(argument);
  return success();
}

LogicalResult Interpreter::Impl::runKernel(KernelOp op) {
  Block &body = op.getBody().front();
  for (auto [argument, input] : llvm::zip_equal(body.getArguments(), op.getInputs()))
    values[argument] = get(input);
  if (failed(runBlock(body)))
    return failure();
  for (auto [result, yielded] : llvm::zip_equal(op.getResults(), body.getTerminator()->getOperands()))
    values[result] = get(yielded);
  return success();
}

LogicalResult Interpreter::Impl::runCall(func::CallOp op) {
  auto callee = module.lookupSymbol<func::FuncOp>(op.getCallee());
  if (!callee)
    return op.emitOpError("refers to unknown function @") << op.getCallee();
  ++callDepth;
  llvm::scope_exit leave([&] { --callDepth; });
  if (callDepth > 64)
    return op.emitOpError("must not be nested deeper than 64 calls");
  SmallVector<SharedTensor> arguments;
  for (Value operand : op.getOperands())
    arguments.push_back(get(operand));
  FailureOr<SmallVector<SharedTensor>> results = runFunction(callee, arguments);
  if (failed(results))
    return failure();
  for (auto [result, value] : llvm::zip_equal(op.getResults(), *results))
    values[result] = value;
  return success();
}

LogicalResult Interpreter::Impl::runWait(WaitOp op) {
  for (auto [input, result] : llvm::zip_equal(op.getInputs(), op.getResults()))
    if (failed(setCast(input, cast<OpResult>(result))))
      return failure();
  return success();
}

LogicalResult Interpreter::Impl::setCast(Value input, OpResult result) {
  if (input.getType() == result.getType() || !isa<RankedTensorType>(input.getType())) {
    values[result] = get(input);
    return success();
  }
  auto placement = placementOf(result.getType(), result.getOwner());
  if (failed(placement))
    return failure();
  return set(result, castTo(*get(input), *placement, widthOf(result.getType())));
}

LogicalResult Interpreter::Impl::runOp(Operation *op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](scf::ForOp loop) { return runFor(loop); })
      .Case([&](KernelOp kernel) { return runKernel(kernel); })
      .Case([&](func::CallOp call) { return runCall(call); })
      .Case([&](ReadOp read) { return runRead(read); })
      .Case([&](AssignOp assign) { return runAssign(assign); })
      .Case([&](WaitOp wait) { return runWait(wait); })
      // The value is that of the source; `ds.wait` makes the destinations.
      .Case([&](StartOp) { return success(); })
      .Case<LayoutCastOpInterface, ConstrainOp, FenceOp, RelayoutOp>(
          [&](auto cast) { return setCast(cast->getOperand(0), cast->getResult(0)); })
      .Default([&](Operation *compute) { return runCompute(compute); });
}

//===----------------------------------------------------------------------===//
// Compute ops
//===----------------------------------------------------------------------===//

LogicalResult Interpreter::Impl::runRank(LocalCall &call, const SemanticsTable::Entry &entry) {
  const bool isHeld =
      llvm::all_of(call.resultPlacements, [&](const Placement *placement) { return placement->isHeld(call.rank); });
  for (auto [number, placement] : llvm::enumerate(call.resultPlacements)) {
    const bool isFloat = isa<FloatType>(elementTypeOf(call.op->getResult(number).getType()));
    call.results.push_back(DenseTensor::zeros(placement->localShape(call.rank), isFloat));
  }
  if (!isHeld)
    return success();
  for (auto [number, placement] : llvm::enumerate(call.operandPlacements)) {
    if (!placement->isHeld(call.rank))
      return call.fail("operand " + Twine(number) + " must be held where the result is");
    if (entry.onFlat == OnFlat::Refused && !placement->layout().flat.empty())
      return call.fail("operand " + Twine(number) + " must not be flat");
  }
  for (const Placement *placement : call.resultPlacements)
    if (entry.onFlat == OnFlat::Refused && !placement->layout().flat.empty())
      return call.fail("result must not be flat");
  return entry.run(call);
}

LogicalResult Interpreter::Impl::runCompute(Operation *op) {
  const SemanticsTable::Entry *entry = table.find(op->getName());
  if (!entry)
    return op->emitOpError("has no semantics in the interpreter");
  SmallVector<DistributedTensor, 2> results;
  for (Type type : op->getResultTypes()) {
    auto placement = placementOf(type, op);
    if (failed(placement))
      return failure();
    results.push_back({*placement, {}});
  }
  SmallVector<SharedTensor, 6> operands;
  for (Value operand : op->getOperands())
    operands.push_back(get(operand));
  for (int64_t rank = 0; rank < mesh.numRanks(); ++rank) {
    LocalCall call{op, rank, {}, {}, {}, {}};
    for (const SharedTensor &operand : operands) {
      call.operands.push_back(&operand->locals[rank]);
      call.operandPlacements.push_back(operand->placement.get());
    }
    for (DistributedTensor &result : results)
      call.resultPlacements.push_back(result.placement.get());
    if (failed(runRank(call, *entry)))
      return failure();
    for (auto [result, local] : llvm::zip_equal(results, call.results))
      result.locals.push_back(std::move(local));
  }
  for (auto [value, result] : llvm::zip_equal(op->getResults(), results))
    if (failed(set(value, std::move(result))))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// Interface
//===----------------------------------------------------------------------===//

Interpreter::Interpreter(ModuleOp module, InterpreterOptions options)
    : impl(std::make_unique<Impl>(module, std::move(options))) {}
Interpreter::~Interpreter() = default;

const Mesh &Interpreter::mesh() const { return impl->mesh; }
void Interpreter::setVariable(StringRef name, DenseTensor value) { impl->variables[name.str()] = std::move(value); }
FailureOr<DenseTensor> Interpreter::variable(StringRef name) { return impl->variable(name); }
FailureOr<FunctionRun> Interpreter::run(func::FuncOp function, const TensorMap &inputs) {
  return impl->run(function, inputs);
}

void Interpreter::commit(const FunctionRun &run) {
  for (const auto &[name, value] : run.assigned)
    impl->variables[name] = value;
}
