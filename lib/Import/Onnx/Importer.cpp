// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// A model file becomes a module: inputs, variables, then one handler per node.

#include "Graph.h"
#include "Registry.h"
#include "SchemaCheck.h"
#include "Variables.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Support/Path.h"

#include <set>

using namespace mlir;
using namespace ds;
using namespace ds::onnx_import;

namespace {
class Importer : public ProgramState {
public:
  Importer(MLIRContext &context, const ModelFile &file, Graph graph, ErrorSink &errors, StringRef path)
      : file(file), graph(std::move(graph)), errors(errors), builder(&context), build(builder),
        fileName(builder.getStringAttr(llvm::sys::path::filename(path))) {}

  ImportedModel run(const ImportOptions &options, int64_t opset);

  void assign(const Variable &variable, const Tensor &value) override { assigned.push_back({&variable, value}); }
  bool isTraining() const override { return trains; }
  bool isUsed(StringRef name) const override { return graph.used.contains(name); }

private:
  bool areSupported(int64_t opset);
  void findBatchDim();
  std::optional<int64_t> findDim(const ImportOptions &options, const std::string &name, const std::string &input,
                                 size_t number) const;
  bool isWhole(const onnx::ValueInfoProto &input, const ImportOptions &options) const;
  FailureOr<Type> typeOfInput(const onnx::ValueInfoProto &input, const ImportOptions &options);
  std::vector<const onnx::ValueInfoProto *> inputs() const;
  LogicalResult addInputs(const ImportOptions &options);
  LogicalResult checkBoundDims(const ImportOptions &options);
  LogicalResult checkStopped(const ImportOptions &options);
  Tensor stopIfAsked(StringRef name, const Tensor &value);
  void addVariables();
  void addConstants();
  void importNode(const onnx::NodeProto &node);
  void storeOutputs(NodeContext &context);
  void finish();
  void dropUnused();

  const ModelFile &file;
  Graph graph;
  ErrorSink &errors;
  OpBuilder builder;
  TensorBuilder build;
  StringAttr fileName;
  Registry registry;
  int64_t opset = 0;
  bool trains = false;
  ImportedModel model;
  func::FuncOp function;
  std::deque<Variable> variables;
  llvm::StringMap<Tensor> values;
  std::vector<std::pair<const Variable *, Tensor>> assigned;
  std::set<std::string> symbolicDims, unboundDims;
  llvm::StringSet<> stopped; ///< names of the values that have no gradient
  std::string batchDim;      ///< the symbolic dim of the samples; empty: there is none
};
} // namespace

//===----------------------------------------------------------------------===//
// Before the first node
//===----------------------------------------------------------------------===//

/// Reports all nodes for which there is no handler, or that are none of their operator's.
bool Importer::areSupported(int64_t version) {
  opset = version;
  OpsetSchemas schemas(opset);
  for (const onnx::NodeProto *node : graph.nodes) {
    std::string problem = "is not supported";
    bool isStandard = node->domain().empty() || node->domain() == "ai.onnx";
    if (!isStandard || !registry.find(node->op_type(), opset, problem))
      (void)errors.unsupported(describe(*node) + " " + problem);
    else
      checkSchema(*node, schemas, errors);
  }
  return !errors.hasErrors();
}

/// The inputs that are no initializers; old files list those too.
std::vector<const onnx::ValueInfoProto *> Importer::inputs() const {
  llvm::StringSet<> initialized;
  for (const Initializer &tensor : file.initializers)
    initialized.insert(tensor.name);
  std::vector<const onnx::ValueInfoProto *> found;
  for (const onnx::ValueInfoProto &input : file.model.graph().input())
    if (!initialized.contains(input.name()))
      found.push_back(&input);
  return found;
}

/// "batch" if there is such a dim, else dim 0 of the first input where it is symbolic.
void Importer::findBatchDim() {
  for (const onnx::ValueInfoProto *input : inputs())
    for (const auto &[number, dim] : llvm::enumerate(input->type().tensor_type().shape().dim())) {
      if (dim.dim_param() == "batch") {
        batchDim = "batch";
        return;
      }
      if (number == 0 && batchDim.empty())
        batchDim = dim.dim_param();
    }
}

/// Whether dim 0 of an input is not the batch: it is another dim, or has another size.
bool Importer::isWhole(const onnx::ValueInfoProto &input, const ImportOptions &options) const {
  const auto &dims = input.type().tensor_type().shape().dim();
  const bool hasNeither = !dims.empty() && !dims[0].has_dim_value() && dims[0].dim_param().empty();
  if (dims.empty() || hasNeither) // a dim without size and name may be anything
    return false;
  if (!batchDim.empty())
    return dims[0].dim_param() != batchDim;
  return options.batch && dims[0].dim_value() != *options.batch;
}

/// The size of symbolic dim `name`, which is dim number `number` of `input`.
std::optional<int64_t> Importer::findDim(const ImportOptions &options, const std::string &name,
                                         const std::string &input, size_t number) const {
  if (auto bound = options.dims.find(name); bound != options.dims.end())
    return bound->second;
  if (options.batch && name == batchDim)
    return options.batch;
  auto shape = options.inputShapes.find(input);
  if (shape == options.inputShapes.end() || number >= shape->second.size())
    return std::nullopt;
  return shape->second[number];
}

FailureOr<Type> Importer::typeOfInput(const onnx::ValueInfoProto &input, const ImportOptions &options) {
  std::string name = "input '" + input.name() + "'";
  if (StringRef(input.name()).starts_with(kReservedPrefix))
    return errors.unsupported(name + " must have another name: those that begin with '" + kReservedPrefix +
                              "' are the compiler's own");
  if (!input.type().has_tensor_type() || !input.type().tensor_type().has_shape())
    return errors.malformed(name + " must be a tensor with a shape");
  const onnx::TypeProto_Tensor &tensor = input.type().tensor_type();
  std::optional<Element> element = elementOf(tensor.elem_type());
  if (!element || *element == Element::U64)
    return errors.unsupported(name + " must have floats, bools, or integers that i64 holds, got data_type " +
                              Twine(tensor.elem_type()));
  Dims shape;
  bool isOpen = false;
  for (const onnx::TensorShapeProto_Dimension &dim : tensor.shape().dim()) {
    if (dim.has_dim_value()) {
      shape.push_back(dim.dim_value());
      continue;
    }
    // A dim without size and name is like no other: it is called by its place.
    const std::string symbol =
        dim.dim_param().empty() ? input.name() + "[" + std::to_string(shape.size()) + "]" : dim.dim_param();
    symbolicDims.insert(symbol);
    std::optional<int64_t> size = findDim(options, symbol, input.name(), shape.size());
    shape.push_back(size.value_or(0));
    if (!size) {
      unboundDims.insert(symbol);
      isOpen = true;
    }
  }
  if (isOpen)
    return failure(); // reported once for all inputs
  if (!countOf(shape))
    return errors.malformed(name + " has a shape that overflows or is negative: " + textOf(shape));
  return Type(RankedTensorType::get(shape, typeOf(*element, builder.getContext())));
}

static std::string listOf(const std::set<std::string> &names) {
  std::string text;
  for (const std::string &name : names)
    text += (text.empty() ? "'" : ", '") + name + "'";
  return text.empty() ? "none" : text;
}

static OpenInput openInputOf(const onnx::ValueInfoProto &input) {
  OpenInput open{input.name(), {}};
  for (const onnx::TensorShapeProto_Dimension &dim : input.type().tensor_type().shape().dim())
    open.dims.push_back(dim.has_dim_value() ? std::to_string(dim.dim_value()) : dim.dim_param());
  return open;
}

LogicalResult Importer::checkBoundDims(const ImportOptions &options) {
  if (!unboundDims.empty()) {
    for (const onnx::ValueInfoProto *input : inputs())
      errors.addOpenInput(openInputOf(*input));
    return errors.malformed("symbolic dims must be bound to sizes, got none for " + listOf(unboundDims));
  }
  for (const auto &[name, size] : options.dims)
    if (!symbolicDims.count(name))
      return errors.malformed("has no symbolic dim '" + name + "' to bind; it has " + listOf(symbolicDims));
  return success();
}

LogicalResult Importer::addInputs(const ImportOptions &options) {
  findBatchDim();
  const std::vector<const onnx::ValueInfoProto *> inputs = this->inputs();
  SmallVector<Type> types;
  bool hasFailed = false;
  for (const onnx::ValueInfoProto *input : inputs) {
    FailureOr<Type> type = typeOfInput(*input, options);
    hasFailed |= failed(type);
    types.push_back(succeeded(type) ? *type : Type());
  }
  if (failed(checkBoundDims(options)) || hasFailed)
    return failure();
  function =
      func::FuncOp::create(builder, builder.getUnknownLoc(), kForwardFunction, builder.getFunctionType(types, {}));
  Block *body = function.addEntryBlock();
  for (auto [index, input] : llvm::enumerate(inputs)) {
    function.setArgAttr(index, kNameAttr, builder.getStringAttr(input->name()));
    if (isWhole(*input, options))
      function.setArgAttr(index, kWholeAttr, builder.getUnitAttr());
    const Element element = elementOf(input->type().tensor_type().elem_type()).value_or(Element::F32);
    values[input->name()] = Tensor(body->getArgument(index)).as(element);
    if (auto range = rangeOfNarrow(element)) // the run refuses numbers that the type does not have
      function.setArgAttr(index, kAllowedAttr,
                          IntSetAttr::get(builder.getContext(), range->first, range->second, ArrayRef<int64_t>()));
  }
  builder.setInsertionPointToStart(body);
  return success();
}

/// Fails if a value that is to have no gradient is none of what the outputs need: the name is wrong.
LogicalResult Importer::checkStopped(const ImportOptions &options) {
  llvm::StringSet<> known;
  for (const onnx::NodeProto *node : graph.nodes)
    known.insert(node->output().begin(), node->output().end());
  for (const auto &value : values)
    known.insert(value.getKey());
  for (const std::string &name : options.stopGradient) {
    if (!known.contains(name))
      return errors.malformed("has no value '" + name + "' that its outputs depend on, to stop the gradient of");
    stopped.insert(name);
  }
  for (auto &value : values)
    value.second = stopIfAsked(value.getKey(), value.second);
  return success();
}

/// Known values have no gradient anyway.
Tensor Importer::stopIfAsked(StringRef name, const Tensor &value) {
  if (!stopped.contains(name) || value.isHost())
    return value;
  return build.emit<StopGradientOp>(value.getValue().getType(), value.getValue());
}

void Importer::addVariables() {
  for (Variable &variable : variables) {
    variable.read =
        ReadOp::create(builder, variable.op.getLoc(), variable.op.getTensorType(), variable.op.getSymName());
    values[variable.value] = Tensor(variable.read.getResult(), &variable);
  }
}

/// The other initializers, as far as they are used.
void Importer::addConstants() {
  for (const Initializer &tensor : file.initializers)
    if (!values.count(tensor.name) && graph.used.contains(tensor.name))
      values[tensor.name] = tensor.decode();
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

void Importer::storeOutputs(NodeContext &context) {
  const onnx::NodeProto &node = context.node;
  for (int i = 0; i < node.output_size(); ++i) {
    if (node.output(i).empty())
      continue;
    if (static_cast<size_t>(i) < context.outputs.size())
      values[node.output(i)] = stopIfAsked(node.output(i), context.outputs[i]);
    else if (isUsed(node.output(i)))
      (void)context.unsupported("has no output " + Twine(i) + " here");
  }
}

void Importer::importNode(const onnx::NodeProto &node) {
  if (node.output_size() && values.count(node.output(0)))
    return; // an Identity that is a variable
  NodeContext context(node, build, *this, errors);
  for (const std::string &input : node.input()) {
    if (!input.empty() && !values.count(input))
      return; // what it reads has failed
    context.inputs.push_back(input.empty() ? Tensor() : values[input]);
  }
  std::string problem;
  const OperatorVersion *version = registry.find(node.op_type(), opset, problem);
  bool hasRequired = context.inputs.size() <= version->most;
  for (unsigned i = 0; i < version->required; ++i)
    hasRequired &= context.hasInput(i);
  if (!hasRequired) {
    (void)context.malformed("must have " + Twine(version->required) + " to " + Twine(version->most) + " inputs, got " +
                            Twine(context.inputs.size()));
    return;
  }
  const std::string &name = node.name().empty() ? node.op_type() : node.name();
  build.setLocation(NameLoc::get(builder.getStringAttr(name), FileLineColLoc::get(fileName, 0, 0)));
  bool isDone = succeeded(version->handler(context)) && !context.hasFailed();
  if (problem = build.takeProblem(); isDone && !problem.empty())
    isDone = succeeded(context.unsupported(problem));
  if (isDone)
    storeOutputs(context);
}

//===----------------------------------------------------------------------===//
// After the last node
//===----------------------------------------------------------------------===//

void Importer::finish() {
  SmallVector<Value> results;
  for (const onnx::ValueInfoProto &output : file.model.graph().output()) {
    build.setLocation(NameLoc::get(builder.getStringAttr(output.name())));
    results.push_back(build.materialize(values[output.name()]));
  }
  for (auto &[variable, value] : assigned) {
    Value updated = build.materialize(value);
    AssignOp::create(builder, updated.getLoc(), VariableOp(variable->op).getSymName(), updated);
  }
  func::ReturnOp::create(builder, builder.getUnknownLoc(), results);
  function.setFunctionType(builder.getFunctionType(function.getArgumentTypes(), ValueRange(results).getTypes()));
  for (auto [index, output] : llvm::enumerate(file.model.graph().output()))
    function.setResultAttr(index, kNameAttr, builder.getStringAttr(output.name()));
}

/// Drops values that nothing uses, and variables whose data is a constant of the program.
void Importer::dropUnused() {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(function.front())))
    if (isOpTriviallyDead(&op) && !isa<ReadOp>(op))
      op.erase();
  for (Variable &variable : variables) {
    if (!variable.read->use_empty())
      continue;
    variable.read.erase();
    if (variable.isKnown)
      variable.op.erase();
  }
}

ImportedModel Importer::run(const ImportOptions &options, int64_t version) {
  trains = options.isTraining;
  if (!areSupported(version))
    return {};
  OwningOpRef<ModuleOp> module = ModuleOp::create(builder, builder.getUnknownLoc());
  builder.setInsertionPointToStart(module->getBody());
  variables = chooseVariables(file, graph, options, model);
  declareVariables(variables, builder);
  if (failed(addInputs(options)))
    return {};
  addVariables();
  addConstants();
  if (failed(checkStopped(options)))
    return {};
  for (onnx::NodeProto *node : graph.nodes) {
    importNode(*node);
    onnx::NodeProto().Swap(node); // Its memory goes to the ops.
  }
  if (errors.hasErrors())
    return {};
  finish();
  if (std::string problem = build.takeProblem(); !problem.empty()) {
    (void)errors.unsupported("has an output that " + problem);
    return {};
  }
  dropUnused();
  model.module = std::move(module);
  return std::move(model);
}

//===----------------------------------------------------------------------===//
// The interface
//===----------------------------------------------------------------------===//

/// The version of the standard operators; none (reported) if it is outside what is understood.
static FailureOr<int64_t> findOpset(const onnx::ModelProto &model, ErrorSink &errors) {
  for (const onnx::OperatorSetIdProto &set : model.opset_import()) {
    if (!set.domain().empty() && set.domain() != "ai.onnx")
      continue;
    if (set.version() >= kFirstOpset && set.version() <= kLastOpset)
      return set.version();
    return errors.unsupported("must have opset " + Twine(kFirstOpset) + " to " + Twine(kLastOpset) + ", got " +
                              Twine(set.version()));
  }
  return errors.malformed("must import an opset of the standard operators");
}

/// Checks the result with its verifiers; what they say would be a fault of a handler.
static bool isValid(ModuleOp module, ErrorSink &errors) {
  ScopedDiagnosticHandler handler(module.getContext(), [&](Diagnostic &diagnostic) {
    std::string where;
    llvm::raw_string_ostream(where) << diagnostic.getLocation();
    (void)errors.unsupported("gives an invalid program at " + where + ": " + diagnostic.str());
    return success();
  });
  return succeeded(verify(module)) && !errors.hasErrors();
}

ImportedModel ds::importOnnx(MLIRContext &context, StringRef path, const ImportOptions &options, ImportError &error) {
  error = {};
  ErrorSink errors(error, path);
  context.loadDialect<DsDialect, arith::ArithDialect, func::FuncDialect, math::MathDialect>();
  std::unique_ptr<ModelFile> file = ModelFile::open(path, errors);
  if (!file)
    return {};
  FailureOr<int64_t> opset = findOpset(file->model, errors);
  if (failed(opset))
    return {};
  FailureOr<Graph> graph = Graph::create(*file, errors);
  if (failed(graph))
    return {};
  ImportedModel model = Importer(context, *file, std::move(*graph), errors, path).run(options, *opset);
  if (!model.module || !isValid(*model.module, errors))
    return {};
  return model;
}
