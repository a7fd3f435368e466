// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "Kernels.h"
#include "ObjectCall.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>
#include <cstring>
#include <random>

using namespace mlir;
using namespace ds;
using namespace ds::test;

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

ParsedKernel::ParsedKernel(const std::vector<std::string> &types, const std::string &inputs, const std::string &results,
                           const std::string &body) {
  DialectRegistry registry;
  registerProgramDialects(registry);
  mlirContext.appendDialectRegistry(registry);
  mlirContext.loadAllAvailableDialects();
  std::string text;
  for (const std::string &type : types)
    text += "!" + type + "\n";
  SmallVector<StringRef> inputTypes;
  StringRef(inputs).split(inputTypes, ", ", -1, /*KeepEmpty=*/false);
  std::string parameters, operands;
  for (auto [number, type] : llvm::enumerate(inputTypes)) {
    std::string name = "%outer" + std::to_string(number);
    parameters += (number ? ", " : "") + name + ": " + type.str();
    operands += (number ? ", " : "") + name;
  }
  bool hasMany = StringRef(results).contains(", ");
  std::string list = hasMany ? "(" + results + ")" : results;
  text += "func.func @f(" + parameters + ") {\n  %results" +
          (hasMany ? ":" + std::to_string(StringRef(results).count(", ") + 1) : "") + " = ds.kernel(" + operands +
          ") : (" + inputs + ") -> " + list + " {\n" + body + "\n  }\n  return\n}\n";
  module = parseSourceString<ModuleOp>(text, &mlirContext);
  if (!module)
    llvm::report_fatal_error(StringRef("must parse:\n" + text));
  module->walk([&](KernelOp op) { kernel = op; });
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

static Type elementOf(Value value) { return cast<RankedTensorType>(value.getType()).getElementType(); }
static int64_t bytesOf(Type element) { return llvm::divideCeil(element.getIntOrFloatBitWidth(), 8u); }

static APFloat narrow(double value, const llvm::fltSemantics &semantics) {
  APFloat number(value);
  bool losesInfo;
  number.convert(semantics, APFloat::rmNearestTiesToEven, &losesInfo);
  return number;
}

static void write(char *target, double value, Type element) {
  uint64_t bits;
  if (auto real = dyn_cast<FloatType>(element))
    bits = narrow(value, real.getFloatSemantics()).bitcastToAPInt().getZExtValue();
  else
    bits = static_cast<int64_t>(value);
  std::memcpy(target, &bits, bytesOf(element));
}

static double read(const char *source, Type element) {
  uint64_t bits = 0;
  std::memcpy(&bits, source, bytesOf(element));
  if (auto real = dyn_cast<FloatType>(element)) {
    APFloat number(real.getFloatSemantics(), APInt(element.getIntOrFloatBitWidth(), bits));
    bool losesInfo;
    number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &losesInfo);
    return number.convertToDouble();
  }
  unsigned width = 8 * bytesOf(element);
  return static_cast<double>(static_cast<int64_t>(bits << (64 - width)) >> (64 - width));
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

CompiledKernel ds::test::compileOnly(KernelOp kernel, std::vector<uint8_t> &object, const CpuOptions &options) {
  FailureOr<std::unique_ptr<KernelCompiler>> compiler = createCpuCompiler(kernel.getContext(), options);
  if (failed(compiler))
    llvm::report_fatal_error("no compiler");
  FailureOr<CompiledKernel> compiled = (*compiler)->add(kernel, Mesh({{"x", 1, {}}}));
  if (failed(compiled))
    llvm::report_fatal_error("no kernel");
  FailureOr<std::vector<uint8_t>> bytes = (*compiler)->finish();
  if (failed(bytes))
    llvm::report_fatal_error("no object");
  object = std::move(*bytes);
  return *compiled;
}

static std::vector<std::pair<int64_t, int64_t>> wholeExtents(const KernelShape &shape) {
  std::vector<std::pair<int64_t, int64_t>> extents;
  for (auto [begin, end] : shape.groups) {
    int64_t length = 1;
    for (int64_t dim = begin; dim < end; ++dim)
      length *= shape.space.getDimSize(dim);
    extents.push_back({length, 0});
  }
  return extents;
}

std::vector<Tensor> ds::test::compileAndCall(KernelOp kernel, const std::vector<Tensor> &inputs,
                                             const CallOptions &options) {
  std::vector<uint8_t> bytes;
  CompiledKernel compiled = compileOnly(kernel, bytes);
  LoadedObject object(bytes);
  auto *run = object.find<KernelFunction>(kernelSymbol(compiled.hash));
  auto *finish = object.find<void(void *const *, const int64_t *, int64_t)>(kernelSymbol(compiled.hash) + "_finish");
  if (!run || compiled.shape.hasFinish != (finish != nullptr))
    llvm::report_fatal_error("a function is missing");

  std::vector<std::pair<int64_t, int64_t>> lengths =
      options.extents.empty() ? wholeExtents(compiled.shape) : options.extents;
  std::vector<int64_t> extents;
  int64_t rows = 1, chunks = options.chunks ? options.chunks : compiled.shape.chunks;
  for (auto [number, extent] : llvm::enumerate(lengths)) {
    extents.insert(extents.end(), {extent.first, extent.second});
    rows *= number < compiled.shape.numRowGroups ? extent.first : 1;
  }

  std::vector<GuardedBuffer> memory;
  memory.reserve(inputs.size() + kernel.getNumResults() + compiled.shape.workspaces.size());
  std::vector<void *> buffers;
  auto allocate = [&](int64_t count, Type element) {
    buffers.push_back(memory.emplace_back(count * bytesOf(element)).data());
  };
  for (auto [number, input] : llvm::enumerate(inputs)) {
    Type element = elementOf(kernel.getInputs()[number]);
    allocate(input.elements.size(), element);
    for (auto [place, value] : llvm::enumerate(input.elements))
      write(static_cast<char *>(buffers.back()) + place * bytesOf(element), value, element);
  }
  for (Value result : kernel.getResults())
    allocate(cast<RankedTensorType>(result.getType()).getNumElements(), elementOf(result));
  for (auto [result, input] : options.shared)
    buffers[inputs.size() + result] = buffers[input];
  for (const KernelWorkspace &workspace : compiled.shape.workspaces)
    allocate(chunks * workspace.elements, workspace.element);

  for (int64_t chunk = chunks; chunk-- > 0;) // in any order
    run(buffers.data(), extents.data(), chunk * rows / chunks, (chunk + 1) * rows / chunks, chunk);
  if (finish)
    finish(buffers.data(), extents.data(), chunks);

  std::vector<Tensor> results;
  for (auto [number, value] : llvm::enumerate(kernel.getResults())) {
    auto type = cast<RankedTensorType>(value.getType());
    Tensor result{type.getShape().vec(), {}};
    const char *data = static_cast<char *>(buffers[inputs.size() + number]);
    for (int64_t place = 0; place < type.getNumElements(); ++place)
      result.elements.push_back(read(data + place * bytesOf(type.getElementType()), type.getElementType()));
    results.push_back(std::move(result));
  }
  for (GuardedBuffer &buffer : memory)
    buffer.checkGuard();
  return results;
}

std::vector<Tensor> ds::test::randomInputs(KernelOp kernel, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> real(-2, 2);
  std::vector<Tensor> inputs;
  for (Value input : kernel.getInputs()) {
    auto type = cast<RankedTensorType>(input.getType());
    Tensor tensor{type.getShape().vec(), {}};
    for (int64_t place = 0; place < type.getNumElements(); ++place) {
      double value = type.getElementType().isInteger(1) ? random() % 2 : random() % 20;
      if (auto element = dyn_cast<FloatType>(type.getElementType()))
        value = narrow(real(random), element.getFloatSemantics()).convertToDouble();
      tensor.elements.push_back(value);
    }
    inputs.push_back(std::move(tensor));
  }
  return inputs;
}

double ds::test::difference(const Tensor &a, const Tensor &b) {
  double greatest = 1e-30, apart = 0;
  if (a.elements.size() != b.elements.size())
    return 1e30;
  for (size_t place = 0; place < a.elements.size(); ++place) {
    double x = a.elements[place], y = b.elements[place];
    if (x == y || (std::isnan(x) && std::isnan(y)))
      continue;
    if (!std::isfinite(x) || !std::isfinite(y))
      return 1e30;
    apart = std::max(apart, std::abs(x - y));
  }
  for (double value : b.elements)
    if (std::isfinite(value))
      greatest = std::max(greatest, std::abs(value));
  return apart / greatest;
}
