// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// Every op, with its gradient, under random layouts: what the plan computes on six ranks is what the program means.
// The passes are checked against the interpreter elsewhere; this test is about the numbers of the plan (extents, views,
// segments), which the interpreter does not use.

#include "../Files/TemporaryFolder.h"
#include "../Passes/OpContext.h"
#include "../Passes/OpPrograms.h"
#include "../Runtime/ForkedRanks.h"

#include "ds/Codegen/Cpu.h"
#include "ds/Codegen/EmitPlan.h"
#include "ds/Dialect/DsDialect.h"
#include "ds/Interpreter/RandomInputs.h"
#include "ds/Passes/GreedyRewrites.h"
#include "ds/Passes/Passes.h"
#include "ds/Passes/Pipelines.h"
#include "ds/Plan/Extents.h"
#include "ds/Plan/LayoutTables.h"
#include "ds/Runtime/Executor.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

#include <cstdlib>
#include <numeric>
#include <random>

using namespace mlir;
using namespace ds;
using namespace ds::test;
using namespace ds::runtime;

namespace {

/// With what ops become in plans, too.
MLIRContext &compilerContext() {
  static MLIRContext &context = []() -> MLIRContext & {
    DialectRegistry registry;
    registerInstructionModels(registry);
    contextWithRules().appendDialectRegistry(registry);
    return contextWithRules();
  }();
  return context;
}

/// The program in f32, as plans compute in it.
std::string inFloat32(std::string text) {
  for (StringRef from : {"xf64>", "<f64>"})
    for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; ++at)
      text.replace(at, from.size(), from[0] + std::string("f32>"));
  return text;
}

/// @step of a program: its loss and gradients are the results `out0`, `out1`, ...
OwningOpRef<ModuleOp> stepOf(const OpProgram &program) {
  MLIRContext &context = compilerContext();
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(inFloat32(forwardText(program)), ParserConfig(&context));
  PassManager manager(&context);
  manager.addPass(createDifferentiatePass());
  manager.addPass(createCanonicalizerPass(flatRewrites()));
  manager.addPass(createCSEPass());
  if (!module || failed(manager.run(*module)))
    return nullptr;
  auto step = module->lookupSymbol<func::FuncOp>("step");
  for (unsigned number = 0; number < step.getNumResults(); ++number)
    step.setResultAttr(number, kNameAttr, StringAttr::get(&context, "out" + Twine(number)));
  return module;
}

//===----------------------------------------------------------------------===//
// Random layouts
//===----------------------------------------------------------------------===//

class LayoutMaker {
public:
  explicit LayoutMaker(uint32_t seed) : random(seed) {}

  /// A layout over the axes a and b, in places at random: none, a factor of a dim, or flat if `mayBeFlat`.
  Layout make(const Shape &shape, bool mayBeFlat) {
    Layout layout = Layout::replicated(shape.size());
    if (shape.empty())
      return layout;
    for (size_t dim = 0; dim < shape.size(); ++dim)
      layout.dims[dim] = factorsOf(shape[dim]);
    const bool aFirst = below(2) == 0;
    for (const char *axis : {aFirst ? "a" : "b", aFirst ? "b" : "a"})
      addAxis(layout, axis, mayBeFlat);
    return normalized(layout, shape);
  }

private:
  size_t below(size_t limit) { return random() % limit; }

  DimLayout factorsOf(int64_t size) {
    DimLayout factors;
    while (size > 1 && below(3) != 0) {
      const int64_t major = 1 + static_cast<int64_t>(below(static_cast<size_t>(size)));
      if (size % major != 0)
        continue;
      factors.push_back({major, {}});
      size /= major;
    }
    factors.push_back({size, {}});
    return factors;
  }

  void addAxis(Layout &layout, const char *axis, bool mayBeFlat) {
    const size_t choice = below(8);
    if (choice == 0)
      return;
    if (mayBeFlat && choice == 1)
      return layout.flat.push_back(axis);
    DimLayout &dim = layout.dims[below(layout.dims.size())];
    dim[below(dim.size())].axes.push_back(axis);
  }

  std::mt19937 random;
};

/// Lays out the parameters, the inputs and %y at random.
void addLayouts(ModuleOp module, uint32_t seed) {
  LayoutMaker layouts(seed);
  auto layoutFor = [&](Type type, bool mayBeFlat) {
    return LayoutAttr::get(module.getContext(), layouts.make(shapeOf(type), mayBeFlat));
  };
  for (VariableOp variable : module.getOps<VariableOp>())
    variable.setLayoutAttr(layoutFor(variable.getType(), true));
  auto step = module.lookupSymbol<func::FuncOp>("step");
  for (BlockArgument arg : step.getArguments())
    step.setArgAttr(arg.getArgNumber(), kLayoutAttr, layoutFor(arg.getType(), false));
  Value weighted = step.front().getTerminator()->getOperand(0);
  if (auto sum = weighted.getDefiningOp<ReduceOp>()) // of a scalar there is none
    weighted = sum.getInput();
  Value y = weighted.getDefiningOp()->getOperand(0);
  OpBuilder builder(module.getContext());
  builder.setInsertionPointAfterValue(y);
  auto constrained = ConstrainOp::create(builder, y.getLoc(), y, layoutFor(y.getType(), true));
  y.replaceAllUsesExcept(constrained, constrained);
}

/// The layouts that a failure is about.
std::string describe(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream out(text);
  module.print(out);
  return text;
}

//===----------------------------------------------------------------------===//
// Running a plan
//===----------------------------------------------------------------------===//

std::unique_ptr<plan::PlanT> compile(ModuleOp module, const std::string &kernelCache) {
  PassManager manager(module.getContext());
  PlacementOptions placement;
  placement.axes = {"dp=1", "a=2", "b=3"};
  buildPlacementPipeline(manager, placement);
  buildKernelPipeline(manager);
  buildSchedulePipeline(manager);
  buildPlanPipeline(manager, {});
  if (failed(manager.run(module)))
    return nullptr;
  auto kernels = createCpuCompiler(module.getContext(), {"native", 1, kernelCache});
  if (failed(kernels))
    return nullptr;
  FailureOr<std::unique_ptr<plan::PlanT>> plan = emitPlan(module, **kernels, EmitOptions());
  return failed(plan) ? nullptr : std::move(*plan);
}

/// Calls `visit` with the pointer to each element that `rank` holds of a port or variable, and its global number.
template <typename Table, typename Visit>
void forEachHeld(const Executor &executor, const plan::PlanT &plan, const Table &table, int64_t rank, Visit visit) {
  const Layout layout = plan::layoutOf(plan, *table.layout);
  const Mesh mesh = plan::meshOf(plan);
  char *data = static_cast<char *>(executor.buffer(table.buffer).data);
  for (int64_t index : ownedIndices(layout, table.shape, mesh, rank)) {
    visit(data, index);
    data += plan::sizeOf(table.type);
  }
}

void store(plan::DataType type, char *to, const DenseTensor &value, int64_t index) {
  if (type == plan::DataType::F32)
    *reinterpret_cast<float *>(to) = static_cast<float>(value.floats[index]);
  else
    *reinterpret_cast<int64_t *>(to) = value.ints[index];
}

/// What is wrong with what this rank holds of an output, or nothing.
std::string compare(const Executor &executor, const plan::PlanT &plan, const plan::PortT &port,
                    const DenseTensor &expected, int64_t rank) {
  double largest = 0.1; // what is smaller is a difference of numbers around 1
  for (double value : expected.floats)
    largest = std::max(largest, std::abs(value));
  std::string fault;
  forEachHeld(executor, plan, port, rank, [&](const char *data, int64_t index) {
    const double found = *reinterpret_cast<const float *>(data);
    // Sums of at most 120 terms in f32.
    if (!(std::abs(found - expected.floats[index]) <= 2e-5 * largest) && fault.empty())
      fault = port.name + "[" + std::to_string(index) + "] must be " + std::to_string(expected.floats[index]) +
              ", got " + std::to_string(found);
  });
  return fault;
}

/// Runs one step of `plan` on this rank and compares its outputs with `expected`.
std::string runRank(const plan::PlanT &plan, const RandomInputs &inputs, const FunctionRun &expected, int64_t rank,
                    Transport &transport) {
  absl::StatusOr<std::unique_ptr<Executor>> executor = Executor::create(plan, rank, transport, {});
  if (!executor.ok())
    return executor.status().ToString();
  for (const auto &variable : plan.variables)
    if (auto value = inputs.variables.find(variable->name); value != inputs.variables.end())
      forEachHeld(**executor, plan, *variable, rank,
                  [&](char *data, int64_t index) { store(variable->type, data, value->second, index); });
  for (const auto &port : plan.inputs)
    forEachHeld(**executor, plan, *port, rank,
                [&](char *data, int64_t index) { store(port->type, data, inputs.inputs.at(port->name), index); });
  if (absl::Status status = (*executor)->runStep(); !status.ok())
    return status.ToString();
  std::string fault;
  for (const auto &port : plan.outputs)
    for (const FunctionResult &result : expected.results)
      if (result.name == port->name && fault.empty())
        fault = compare(**executor, plan, *port, result.value, rank);
  return fault;
}

} // namespace

class PlanOfOp : public ::testing::TestWithParam<OpProgram> {};

/// The layouts that each op is tried under: the environment variable for those who look for faults.
static uint32_t numTries() {
  const char *text = std::getenv("DS_LAYOUT_TRIES");
  return text ? static_cast<uint32_t>(std::atoi(text)) : 1;
}

TEST_P(PlanOfOp, computesWhatTheProgramMeans) {
  static const TemporaryFolder cache;
  const std::string &name = GetParam().name;
  const uint32_t first =
      std::accumulate(name.begin(), name.end(), 0u, [](uint32_t sum, char c) { return 31 * sum + c; });
  for (uint32_t seed = first; seed < first + numTries(); ++seed) {
    OwningOpRef<ModuleOp> program = stepOf(GetParam());
    ASSERT_TRUE(program);
    auto step = program->lookupSymbol<func::FuncOp>("step");
    const RandomInputs inputs = randomInputs({step}, seed);
    InterpreterOptions options;
    options.rounding = Rounding::Storage;
    Interpreter interpreter(*program, options);
    for (const auto &[name, value] : inputs.variables)
      interpreter.setVariable(name, value);
    FailureOr<FunctionRun> expected = interpreter.run(step, inputs.inputs);
    ASSERT_TRUE(succeeded(expected));

    addLayouts(*program, seed);
    const std::string text = describe(*program);
    std::unique_ptr<plan::PlanT> plan = compile(*program, cache.path);
    ASSERT_TRUE(plan) << "seed " << seed << "\n" << text;
    const Mesh mesh = plan::meshOf(*plan);
    const JobShape shape = jobShapeOf(mesh, 1 << 16, static_cast<uint32_t>(plan->queues.size()));
    expectOnAllRanks(mesh, shape, [&](int64_t rank, runtime::Transport &transport) {
      return runRank(*plan, inputs, *expected, rank, transport);
    });
    ASSERT_FALSE(HasFailure()) << "seed " << seed << "\n" << text;
  }
}

static std::string nameOf(const ::testing::TestParamInfo<OpProgram> &info) { return info.param.name; }

/// Programs whose numbers are f32 already, or change their type.
static std::vector<OpProgram> inOneType(llvm::ArrayRef<OpProgram> programs) {
  std::vector<OpProgram> kept(programs.begin(), programs.end());
  llvm::erase_if(kept, [](const OpProgram &program) { return program.name == "extf"; });
  return kept;
}

INSTANTIATE_TEST_SUITE_P(Arith, PlanOfOp, ::testing::ValuesIn(inOneType(arithPrograms())), nameOf);
INSTANTIATE_TEST_SUITE_P(Math, PlanOfOp, ::testing::ValuesIn(mathPrograms()), nameOf);
INSTANTIATE_TEST_SUITE_P(Matmul, PlanOfOp, ::testing::ValuesIn(matmulPrograms()), nameOf);
INSTANTIATE_TEST_SUITE_P(Rows, PlanOfOp, ::testing::ValuesIn(rowPrograms()), nameOf);
INSTANTIATE_TEST_SUITE_P(Shapes, PlanOfOp, ::testing::ValuesIn(shapePrograms()), nameOf);
INSTANTIATE_TEST_SUITE_P(Indices, PlanOfOp, ::testing::ValuesIn(indexPrograms()), nameOf);
INSTANTIATE_TEST_SUITE_P(Attention, PlanOfOp, ::testing::ValuesIn(attentionPrograms()), nameOf);
INSTANTIATE_TEST_SUITE_P(Windows, PlanOfOp, ::testing::ValuesIn(windowPrograms()), nameOf);
