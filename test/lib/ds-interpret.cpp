// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// The interpreter as a tool of the tests: runs a function of a .mlir file for some steps, prints what it gives or
// compares it with files. Exit code 1 if something differs or fails.
//
//   ds-interpret step.mlir --function main --input 'input_ids=ids.npy[*]' --variables initial.safetensors --steps 3
//                --compare 'loss=losses.npy[*]' --tolerance 1e-9 --mesh dp=2

#include "ds/Dialect/DsDialect.h"
#include "ds/Interpreter/GradientCheck.h"
#include "ds/Interpreter/RandomInputs.h"
#include "ds/Interpreter/TensorFiles.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace ds;
namespace cl = llvm::cl;

static cl::opt<std::string> programFile(cl::Positional, cl::init("-"), cl::desc("<program.mlir>"));
static cl::opt<std::string> functionName("function", cl::desc("the function to run; default: the first one"));
static cl::list<std::string>
    inputSpecs("input",
               cl::desc("name=VALUES; VALUES: file.npy, file.npy[3] (entry 3), file.npy[*] (entry of the step), "
                        "or numbers 1,2,3 (one fills the tensor)"));
static cl::opt<bool> useRandom("random",
                               cl::desc("random values for inputs that are not given, and for all variables"));
static cl::opt<uint64_t> seed("seed", cl::init(0), cl::desc("of random values and of the summands of partial inputs"));
static cl::opt<std::string> variableFile("variables", cl::desc("a .safetensors file of variables"));
static cl::opt<std::string> stripPrefix("strip-prefix", cl::init("model."),
                                        cl::desc("prefix that variables may have before a file's key"));
static cl::opt<std::string> modelFolder("model-dir", cl::init("."),
                                        cl::desc("the folder of the variables' file ranges"));
static cl::opt<std::string> meshText("mesh", cl::desc("axis=size,... in place of the module's mesh"));
static cl::opt<Rounding> rounding("round", cl::init(Rounding::None), cl::desc("round every float result"),
                                  cl::values(clEnumValN(Rounding::None, "none", "not at all"),
                                             clEnumValN(Rounding::Float32, "f32", "to f32"),
                                             clEnumValN(Rounding::Storage, "storage", "to its element type")));
static cl::opt<int> steps("steps", cl::init(1), cl::desc("how often to run; assigned variables carry over"));
static cl::list<std::string>
    compareSpecs("compare", cl::desc("name=VALUES: a result must have these values; names and values as in --input"));
static cl::opt<std::string> compareGradients("compare-gradients",
                                             cl::desc("a .safetensors file that the gradients of step 0 must have"));
static cl::opt<std::string> compareVariables("compare-variables",
                                             cl::desc("a .safetensors file that the variables must have at the end"));
static cl::opt<double> tolerance("tolerance", cl::init(1e-6),
                                 cl::desc("of comparisons, relative to a tensor's largest entry"));
static cl::opt<bool> gradientCheck("check-gradients",
                                   cl::desc("compare gradients with finite differences, and do nothing else"));
static cl::opt<std::string> scalarFunction("scalar-function",
                                           cl::desc("for --check-gradients: gives the scalar; default: --function"));
static cl::opt<bool> quiet("quiet", cl::desc("print no values"));

namespace {
/// What went wrong, as in "comparing loss".
class Failures {
public:
  void add(const Twine &text) {
    llvm::errs() << "error: " << text << "\n";
    isFailed = true;
  }
  bool any() const { return isFailed; }

private:
  bool isFailed = false;
};
} // namespace

/// Numbers `1,2,3` for a tensor of `type`.
static llvm::Expected<DenseTensor> parseNumbers(StringRef text, Type type) {
  SmallVector<StringRef> parts;
  text.split(parts, ',');
  DenseTensor tensor = DenseTensor::zeros(shapeOf(type), isa<FloatType>(elementTypeOf(type)));
  if (parts.size() != 1 && static_cast<int64_t>(parts.size()) != tensor.size())
    return llvm::createStringError("must have 1 or " + Twine(tensor.size()) + " numbers, got " + Twine(parts.size()));
  for (int64_t i = 0; i < tensor.size(); ++i) {
    double number = 0;
    if (parts[parts.size() == 1 ? 0 : i].trim().getAsDouble(number))
      return llvm::createStringError("must be a file or numbers, got \"" + text + "\"");
    if (tensor.isFloat)
      tensor.floats[i] = number;
    else
      tensor.ints[i] = static_cast<int64_t>(number);
  }
  return tensor;
}

/// The values of a spec's right side in step `step`.
static llvm::Expected<DenseTensor> readValues(StringRef text, Type type, int64_t step) {
  if (!text.contains(".npy"))
    return parseNumbers(text, type);
  auto [path, entry] = text.split('[');
  llvm::Expected<DenseTensor> whole = readNpy(path);
  if (!whole || entry.empty())
    return whole;
  int64_t index = step;
  if (entry != "*]" && entry.drop_back().getAsInteger(10, index))
    return llvm::createStringError("an entry must be [number] or [*], got [" + entry);
  return entryOf(*whole, index);
}

static std::optional<Mesh> parseMesh(StringRef text, Failures &failures) {
  std::vector<MeshAxis> axes;
  SmallVector<StringRef> parts;
  text.split(parts, ',', -1, false);
  for (StringRef part : parts) {
    auto [name, size] = part.split('=');
    axes.push_back({name.str(), 1, {}});
    if (size.getAsInteger(10, axes.back().size) || axes.back().size < 1)
      failures.add("a mesh axis must be name=size, got " + part);
  }
  return text.empty() ? std::nullopt : std::optional<Mesh>(Mesh(axes));
}

static void print(const Twine &name, const DenseTensor &value) {
  llvm::outs() << name << " = [";
  llvm::interleaveComma(value.shape, llvm::outs());
  llvm::outs() << "]";
  for (int64_t i = 0; i < std::min<int64_t>(value.size(), 64); ++i) {
    if (value.isFloat)
      llvm::outs() << llvm::format(" %.6g", value.floats[i]);
    else
      llvm::outs() << " " << value.ints[i];
  }
  llvm::outs() << (value.size() > 64 ? " ...\n" : "\n");
}

static void compare(const Twine &name, const DenseTensor &found, const DenseTensor &expected, Failures &failures) {
  const double error = relativeError(expected, found);
  llvm::outs() << name << llvm::format(": error %.2e\n", error);
  if (error > tolerance || error != error)
    failures.add(name + " must be within the tolerance of the expected values");
}

/// The key of variable `name` in a file: its name, or that without the prefix.
static const DenseTensor *findKey(const TensorMap &tensors, StringRef name) {
  auto found = tensors.find(name.str());
  if (found == tensors.end() && name.consume_front(stripPrefix))
    found = tensors.find(name.str());
  return found == tensors.end() ? nullptr : &found->second;
}

static TensorMap readTensors(StringRef path, Failures &failures) {
  llvm::Expected<TensorMap> tensors = readSafetensors(path);
  if (tensors)
    return std::move(*tensors);
  failures.add(llvm::toString(tensors.takeError()));
  return {};
}

static Type typeOfArgument(func::FuncOp function, StringRef name) {
  for (unsigned number = 0; number < function.getNumArguments(); ++number)
    if (argumentName(function, number) == name)
      return function.getArgumentTypes()[number];
  return Type();
}

static Type typeOfResult(func::FuncOp function, StringRef name) {
  for (unsigned number = 0; number < function.getNumResults(); ++number)
    if (resultName(function, number) == name)
      return function.getResultTypes()[number];
  return Type();
}

static void readInputs(func::FuncOp function, int64_t step, TensorMap &inputs, Failures &failures) {
  for (StringRef spec : inputSpecs) {
    auto [name, text] = spec.split('=');
    Type type = typeOfArgument(function, name);
    if (!type) {
      failures.add("function has no input \"" + name + "\"");
      continue;
    }
    llvm::Expected<DenseTensor> values = readValues(text, type, step);
    if (values)
      inputs[name.str()] = std::move(*values);
    else
      failures.add("input \"" + name + "\": " + llvm::toString(values.takeError()));
  }
}

static void setVariables(ModuleOp module, Interpreter &interpreter, Failures &failures) {
  if (variableFile.empty())
    return;
  const TensorMap tensors = readTensors(variableFile, failures);
  for (VariableOp variable : module.getOps<VariableOp>())
    if (const DenseTensor *value = findKey(tensors, variable.getSymName()))
      interpreter.setVariable(variable.getSymName(), *value);
}

static void reportStep(func::FuncOp function, const FunctionRun &run, int64_t step, Failures &failures) {
  for (const FunctionResult &result : run.results)
    if (!quiet)
      print(result.gradientOf.empty() ? result.name : "gradient of @" + result.gradientOf, result.value);
  for (const auto &[name, value] : run.assigned)
    if (!quiet)
      print("@" + name, value);
  for (StringRef spec : compareSpecs) {
    auto [name, text] = spec.split('=');
    Type type = typeOfResult(function, name);
    llvm::Expected<DenseTensor> expected =
        type ? readValues(text, type, step) : llvm::createStringError("function has no such result");
    if (!expected) {
      failures.add("result \"" + name + "\": " + llvm::toString(expected.takeError()));
      continue;
    }
    for (const FunctionResult &result : run.results)
      if (result.name == name)
        compare("step " + Twine(step) + ": " + name, result.value, *expected, failures);
  }
  if (compareGradients.empty() || step != 0)
    return;
  const TensorMap tensors = readTensors(compareGradients, failures);
  for (const FunctionResult &result : run.results)
    if (const DenseTensor *expected = findKey(tensors, result.gradientOf))
      compare("gradient of @" + result.gradientOf, result.value, *expected, failures);
}

static void reportVariables(ModuleOp module, Interpreter &interpreter, Failures &failures) {
  if (compareVariables.empty())
    return;
  const TensorMap tensors = readTensors(compareVariables, failures);
  for (VariableOp variable : module.getOps<VariableOp>())
    if (const DenseTensor *expected = findKey(tensors, variable.getSymName()))
      if (FailureOr<DenseTensor> value = interpreter.variable(variable.getSymName()); succeeded(value))
        compare("@" + variable.getSymName(), *value, *expected, failures);
}

static void runSteps(ModuleOp module, func::FuncOp function, Failures &failures) {
  InterpreterOptions options;
  options.seed = seed;
  options.mesh = parseMesh(meshText, failures);
  options.rounding = rounding;
  options.modelFolder = modelFolder;
  Interpreter interpreter(module, options);
  TensorMap inputs;
  if (useRandom) {
    RandomInputs random = randomInputs({function}, seed);
    inputs = std::move(random.inputs);
    for (auto &[name, value] : random.variables)
      interpreter.setVariable(name, std::move(value));
  }
  setVariables(module, interpreter, failures);
  for (int64_t step = 0; step < steps && !failures.any(); ++step) {
    readInputs(function, step, inputs, failures);
    if (failures.any())
      return;
    FailureOr<FunctionRun> run = interpreter.run(function, inputs);
    if (failed(run))
      return failures.add("function @" + function.getSymName() + " must run");
    reportStep(function, *run, step, failures);
    interpreter.commit(*run);
  }
  reportVariables(module, interpreter, failures);
}

static void runGradientCheck(func::FuncOp scalar, func::FuncOp gradients, Failures &failures) {
  GradientCheckOptions options;
  options.seed = seed;
  FailureOr<std::vector<GradientError>> errors = checkGradients(scalar, gradients, options);
  if (failed(errors))
    return failures.add("gradients must be computable");
  for (const GradientError &error : *errors) {
    llvm::outs() << "gradient of @" << error.variable << llvm::format(": error %.2e\n", error.error);
    if (!(error.error <= tolerance))
      failures.add("gradient of @" + error.variable + " must agree with finite differences");
  }
}

static func::FuncOp findFunction(ModuleOp module, StringRef name) {
  for (auto function : module.getOps<func::FuncOp>())
    if (name.empty() || function.getSymName() == name)
      return function;
  return {};
}

int main(int argc, char **argv) {
  llvm::InitLLVM initialize(argc, argv);
  cl::ParseCommandLineOptions(argc, argv, "runs a function of a ds program on virtual ranks\n");
  DialectRegistry registry;
  registerProgramDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.printOpOnDiagnostic(false);
  llvm::SourceMgr sources;
  std::string error;
  auto buffer = openInputFile(programFile, &error);
  if (!buffer) {
    llvm::errs() << "error: " << error << "\n";
    return 1;
  }
  sources.AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());
  SourceMgrDiagnosticHandler diagnostics(sources, &context);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, &context);
  if (!module)
    return 1;
  Failures failures;
  func::FuncOp function = findFunction(*module, functionName);
  func::FuncOp scalar = scalarFunction.empty() ? function : findFunction(*module, scalarFunction);
  if (!function || !scalar)
    failures.add("program has no such function");
  else if (gradientCheck)
    runGradientCheck(scalar, function, failures);
  else
    runSteps(*module, function, failures);
  return failures.any();
}
