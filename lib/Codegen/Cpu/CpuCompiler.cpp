// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "EmitAttention.h"
#include "EmitKernel.h"
#include "EmitRotary.h"
#include "LowerKernel.h"
#include "NativeCode.h"

#include "ds/Codegen/CodegenPasses.h"
#include "ds/Codegen/Cpu.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/xxhash.h"

#include <atomic>
#include <thread>

using namespace mlir;
using namespace ds;

namespace {

class CpuCompilerImpl final : public CpuCompiler {
public:
  CpuCompilerImpl(MLIRContext *context, CpuTarget target, unsigned threads)
      : context(context), cpu(std::move(target)), threads(std::max(threads, 1u)) {}

  FailureOr<CompiledKernel> add(KernelOp kernel, const Mesh &mesh) final;
  std::string addAttention(Operation *op) final;
  std::string addRotary() final;
  FailureOr<std::vector<uint8_t>> finish() final;
  std::vector<std::string> features() const final { return cpu.features; }
  std::string target() const final { return cpu.triple; }

private:
  FailureOr<ObjectCode> compile(ModuleOp module);
  /// The hash of `structure`; if it is new, `emit` fills a module with the kernel of a symbol.
  std::string addKernel(StringRef structure, Location loc, function_ref<void(StringRef, ModuleOp)> emit);

  MLIRContext *context;
  CpuTarget cpu;
  unsigned threads;
  llvm::StringSet<> known;                    ///< hashes
  std::vector<OwningOpRef<ModuleOp>> modules; ///< one per kernel, in the order of their arrival
};

} // namespace

static std::string hashOf(StringRef text) {
  llvm::XXH128_hash_t hash = llvm::xxh3_128bits(llvm::arrayRefFromStringRef(text));
  return llvm::utohexstr(hash.high64, /*LowerCase=*/true, 16) + llvm::utohexstr(hash.low64, /*LowerCase=*/true, 16);
}

std::string CpuCompilerImpl::addKernel(StringRef structure, Location loc,
                                       function_ref<void(StringRef, ModuleOp)> emit) {
  std::string hash = hashOf(structure);
  if (known.insert(hash).second) {
    modules.push_back(ModuleOp::create(loc));
    emit(kernelSymbol(hash), *modules.back());
  }
  return hash;
}

FailureOr<CompiledKernel> CpuCompilerImpl::add(KernelOp kernel, const Mesh &mesh) {
  FailureOr<KernelGraph> graph = buildKernelGraph(kernel);
  FailureOr<KernelShape> shape = analyzeKernel(kernel, mesh);
  if (failed(graph) || failed(shape))
    return failure();
  CompiledKernel compiled;
  compiled.hash = addKernel(structureOf(*graph), kernel.getLoc(), [&](StringRef symbol, ModuleOp module) {
    emitKernel(*graph, symbol, cpu.vectorBits(), module);
  });
  compiled.symbol = kernelSymbol(compiled.hash);
  compiled.hasFinish = shape->hasFinish;
  compiled.shape = std::move(*shape);
  return compiled;
}

std::string CpuCompilerImpl::addAttention(Operation *op) {
  return addKernel(structureOfAttention(op), op->getLoc(),
                   [&](StringRef symbol, ModuleOp module) { emitAttention(op, symbol, cpu.vectorBits(), module); });
}

std::string CpuCompilerImpl::addRotary() {
  return addKernel("rotary", UnknownLoc::get(context),
                   [&](StringRef symbol, ModuleOp module) { emitRotary(symbol, cpu.vectorBits(), module); });
}

FailureOr<ObjectCode> CpuCompilerImpl::compile(ModuleOp module) {
  PassManager verifier(context);
  verifier.addPass(createVerifyKernelsPass());
  if (failed(lowerKernel(module)) || failed(verifier.run(module)))
    return failure();
  return compileToObject(module, cpu);
}

FailureOr<std::vector<uint8_t>> CpuCompilerImpl::finish() {
  if (modules.empty())
    return std::vector<uint8_t>();
  std::vector<ObjectCode> objects(modules.size());
  std::atomic<size_t> next = 0;
  std::atomic<bool> hasFailed = false;
  auto work = [&] {
    for (size_t number = next++; number < modules.size() && !hasFailed; number = next++) {
      FailureOr<ObjectCode> object = compile(*modules[number]);
      if (failed(object))
        hasFailed = true;
      else
        objects[number] = std::move(*object);
    }
  };
  std::vector<std::thread> helpers;
  for (unsigned number = 1; number < std::min<size_t>(threads, modules.size()) && context->isMultithreadingEnabled();
       ++number)
    helpers.emplace_back(work);
  work();
  for (std::thread &helper : helpers)
    helper.join();
  modules.clear();
  if (hasFailed)
    return failure();
  std::string error;
  std::optional<std::vector<uint8_t>> linked = linkObjects(objects, error);
  if (!linked)
    return emitError(UnknownLoc::get(context)) << "kernels must link, got: " << error;
  return std::move(*linked);
}

CpuCompiler::~CpuCompiler() = default;

FailureOr<std::unique_ptr<CpuCompiler>> CpuCompiler::create(MLIRContext *context, const CpuOptions &options) {
  std::string error;
  std::optional<CpuTarget> target = CpuTarget::find(options.cpu, error);
  if (!target)
    return emitError(UnknownLoc::get(context)) << error;
  context->loadDialect<arith::ArithDialect, cf::ControlFlowDialect, func::FuncDialect, LLVM::LLVMDialect,
                       math::MathDialect, scf::SCFDialect, vector::VectorDialect>();
  registerBuiltinDialectTranslation(*context);
  registerLLVMDialectTranslation(*context);
  return std::unique_ptr<CpuCompiler>(std::make_unique<CpuCompilerImpl>(context, std::move(*target), options.threads));
}
