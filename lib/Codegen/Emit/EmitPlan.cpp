// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Codegen/EmitPlan.h"

#include "EmitArena.h"
#include "Events.h"
#include "InstructionEmitter.h"

#include "ds/Dialect/Names.h"
#include "ds/Plan/Check.h"
#include "ds/Plan/LayoutTables.h"

using namespace mlir;
using namespace ds;

static void addMesh(plan::PlanT &plan, const Mesh &mesh) {
  for (const MeshAxis &axis : mesh.axes()) {
    auto made = std::make_unique<plan::MeshAxisT>();
    made->name = axis.name;
    made->size = axis.size;
    made->weights = axis.weights;
    plan.mesh.push_back(std::move(made));
  }
}

static plan::VariableRole toPlan(VariableRole role) {
  switch (role) {
  case VariableRole::Parameter:
    return plan::VariableRole::Parameter;
  case VariableRole::Gradient:
    return plan::VariableRole::Gradient;
  case VariableRole::OptimizerState:
    return plan::VariableRole::OptimizerState;
  case VariableRole::Buffer:
    return plan::VariableRole::Buffer;
  case VariableRole::Counter:
    return plan::VariableRole::Counter;
  case VariableRole::Cache:
    return plan::VariableRole::Cache;
  }
  llvm_unreachable("the plan has every role");
}

static void addVariable(plan::PlanT &plan, VariableOp op, unsigned storage, const Mesh &mesh) {
  auto variable = std::make_unique<plan::VariableT>();
  variable->name = nameOf(op).str();
  variable->role = toPlan(op.getRole());
  variable->type = dataTypeOf(op.getTensorType().getElementType());
  variable->shape = shapeOf(op.getType());
  variable->layout = layoutTableOf(op.getType(), mesh);
  variable->buffer = storage;
  variable->trainable = op.getRole() == VariableRole::Parameter && !op.getFrozen();
  if (std::optional<Attribute> initial = op.getInitial()) {
    if (auto range = dyn_cast<FileRangeAttr>(*initial)) {
      variable->source = std::make_unique<plan::FileRangeT>();
      variable->source->path = range.getPath().str();
      variable->source->offset = range.getOffset();
      variable->source->length = range.getLength();
    } else if (auto elements = dyn_cast<DenseElementsAttr>(*initial)) {
      variable->inline_data = bytesOf(elements);
    }
  }
  plan.variables.push_back(std::move(variable));
}

static std::unique_ptr<plan::PortT> portOf(Value value, StringRef name, unsigned storage, const Mesh &mesh) {
  auto port = std::make_unique<plan::PortT>();
  port->name = name.str();
  port->type = dataTypeOf(cast<RankedTensorType>(value.getType()).getElementType());
  port->shape = shapeOf(value.getType());
  port->layout = layoutTableOf(value.getType(), mesh);
  port->buffer = storage;
  return port;
}

static std::unique_ptr<plan::IntSetT> intSetTableOf(IntSetAttr set) {
  auto table = std::make_unique<plan::IntSetT>();
  table->low = set.getLow();
  table->high = set.getHigh();
  table->others = set.getOthers().vec();
  return table;
}

/// Inputs and outputs; both must have names.
static LogicalResult addPorts(plan::PlanT &plan, func::FuncOp function, const AssignedStorage &storage,
                              const Mesh &mesh) {
  for (BlockArgument arg : function.getArguments()) {
    auto name = function.getArgAttrOfType<StringAttr>(arg.getArgNumber(), kNameAttr);
    if (!name)
      return function.emitOpError("argument ") << arg.getArgNumber() << " must have a ds.name";
    plan.inputs.push_back(portOf(arg, name, storage.storageOf(arg), mesh));
    if (auto allowed = function.getArgAttrOfType<IntSetAttr>(arg.getArgNumber(), kAllowedAttr))
      plan.inputs.back()->allowed = intSetTableOf(allowed);
    if (!plan.inputs.back()->shape.empty() && !function.getArgAttr(arg.getArgNumber(), kWholeAttr))
      plan.samples_per_step = plan.inputs.back()->shape[0];
  }
  Operation *terminator = function.getBody().front().getTerminator();
  for (auto [number, value] : llvm::enumerate(terminator->getOperands())) {
    auto name = function.getResultAttrOfType<StringAttr>(number, kNameAttr);
    if (!name)
      return function.emitOpError("result ") << number << " must have a ds.name";
    plan.outputs.push_back(portOf(value, name, storage.storageOf(value), mesh));
  }
  return success();
}

/// Keeps what is in the files that the plan's variables begin with.
static void addModelFiles(plan::PlanT &plan, ArrayRef<plan::ModelFileT> files) {
  for (const plan::ModelFileT &file : files)
    if (llvm::any_of(plan.variables,
                     [&](auto &variable) { return variable->source && variable->source->path == file.path; }))
      plan.model_files.push_back(std::make_unique<plan::ModelFileT>(file));
}

static LogicalResult addObject(plan::PlanT &plan, KernelCompiler &compiler, TimingScope &timing) {
  const KernelCounts counts = compiler.counts();
  TimingScope scope = timing.nest("machine code of " + std::to_string(counts.all) + " kernels, " +
                                  std::to_string(counts.cached) + " of them from the cache");
  FailureOr<std::vector<uint8_t>> code = compiler.finish();
  if (failed(code))
    return failure();
  if (code->empty())
    return success();
  auto object = std::make_unique<plan::NativeObjectT>();
  object->target = compiler.target();
  object->features = compiler.features();
  object->data = std::move(*code);
  plan.objects.push_back(std::move(object));
  return success();
}

FailureOr<std::unique_ptr<plan::PlanT>> ds::emitPlan(ModuleOp module, KernelCompiler &kernels,
                                                     const EmitOptions &options, TimingScope timing) {
  auto function = module.lookupSymbol<func::FuncOp>(options.function);
  if (!function)
    return module.emitError("has no function @") << options.function;
  const Mesh mesh = meshOf(module);
  auto plan = std::make_unique<plan::PlanT>();
  plan->config = options.config;
  plan->key = options.key;
  addMesh(*plan, mesh);
  TimingScope scope = timing.nest("storages");
  FailureOr<AssignedStorage> storage = AssignedStorage::read(function);
  if (failed(storage))
    return failure();
  scope = timing.nest("instructions");
  for (VariableOp variable : module.getOps<VariableOp>())
    addVariable(*plan, variable, storage->storageOfVariable(variable.getSymName()), mesh);
  addModelFiles(*plan, options.modelFiles);
  InstructionEmitter emitter(mesh, *storage, kernels, *plan);
  if (failed(emitter.emitFunction(function)) || failed(addPorts(*plan, function, *storage, mesh)))
    return failure();
  scope = timing.nest("arena");
  emitArena(*plan, *storage, emitter.instructions());
  scope = timing.nest("events");
  addEvents(*plan);
  scope = timing.nest("check");
  if (absl::Status status = plan::check(*plan); !status.ok())
    return function.emitError("the compiler made an ") << std::string(status.message());
  scope.stop();
  // Last, as until then other threads compile.
  if (failed(addObject(*plan, kernels, timing)))
    return failure();
  return plan;
}
