// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "EmitAttention.h"
#include "EmitKernel.h"
#include "EmitRotary.h"
#include "KernelCache.h"
#include "LowerKernel.h"
#include "NativeCode.h"

#include "ds/Analysis/OpStructure.h"
#include "ds/Codegen/Cpu.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "llvm/ADT/StringSet.h"

#include <atomic>
#include <deque>
#include <mutex>
#include <thread>

using namespace mlir;
using namespace ds;

namespace {

/// A kernel on its way to machine code.
struct PendingKernel {
  std::string hash;
  OwningOpRef<ModuleOp> module;     ///< its loops; none if the cache has it
  std::optional<ObjectCode> object; ///< once it is compiled, or found
};

class CpuCompiler final : public KernelCompiler {
public:
  CpuCompiler(MLIRContext *context, CpuTarget target, const CpuOptions &options)
      : context(context), cpu(std::move(target)), threads(std::max(options.threads, 1u)), cache(options.cache, cpu) {}
  ~CpuCompiler() override;

  LogicalResult start(func::FuncOp function, const Mesh &mesh) final;
  FailureOr<CompiledKernel> add(Operation *op, const Mesh &mesh) final;
  FailureOr<std::vector<uint8_t>> finish() final;
  std::vector<std::string> features() const final { return cpu.features; }
  std::string target() const final { return cpu.triple; }
  KernelCounts counts() const final;

private:
  FailureOr<CompiledKernel> addRows(KernelOp kernel, const Mesh &mesh);
  CompiledKernel addAttention(Operation *op);
  CompiledKernel addRotary(RotaryEmbeddingOp op);
  LogicalResult compile(PendingKernel &kernel);
  /// The next kernel that nobody has taken; null if there is none.
  PendingKernel *take();
  void compileTaken();
  void startHelpers();
  void joinHelpers();
  /// The hash of `structure`; if it is new, `emit` fills a module with the kernel of a symbol.
  std::string addKernel(StringRef structure, Location loc, function_ref<void(StringRef, ModuleOp)> emit);

  MLIRContext *context;
  CpuTarget cpu;
  unsigned threads;
  KernelCache cache;
  StructureMap<CompiledKernel> added;
  llvm::StringSet<> known;           ///< hashes
  std::mutex mutex;                  ///< of `kernels` and `numTaken`
  std::deque<PendingKernel> kernels; ///< in the order of their arrival
  size_t numTaken = 0;
  std::atomic<bool> isStopped = false; ///< a kernel failed, or nobody waits for them
  std::vector<std::thread> helpers;
};

} // namespace

std::string CpuCompiler::addKernel(StringRef structure, Location loc, function_ref<void(StringRef, ModuleOp)> emit) {
  std::string hash = hashOf(structure);
  if (!known.insert(hash).second)
    return hash;
  PendingKernel kernel = {hash, nullptr, cache.find(hash)};
  if (!kernel.object) {
    kernel.module = ModuleOp::create(loc);
    emit(kernelSymbol(hash), *kernel.module);
  }
  std::lock_guard<std::mutex> lock(mutex);
  kernels.push_back(std::move(kernel));
  return hash;
}

FailureOr<CompiledKernel> CpuCompiler::addRows(KernelOp kernel, const Mesh &mesh) {
  if (auto found = added.find(kernel); found != added.end())
    return found->second;
  FailureOr<KernelGraph> graph = buildKernelGraph(kernel);
  FailureOr<KernelShape> shape = analyzeKernel(kernel, mesh);
  if (failed(graph) || failed(shape))
    return failure();
  CompiledKernel compiled;
  compiled.hash = addKernel(structureOf(*graph), kernel.getLoc(), [&](StringRef symbol, ModuleOp module) {
    emitKernel(*graph, symbol, cpu.vectorBits(), module);
  });
  compiled.shape = std::move(*shape);
  added[kernel] = compiled;
  return compiled;
}

CompiledKernel CpuCompiler::addAttention(Operation *op) {
  return {addKernel(structureOfAttention(op), op->getLoc(),
                    [&](StringRef symbol, ModuleOp module) { emitAttention(op, symbol, cpu.vectorBits(), module); })};
}

CompiledKernel CpuCompiler::addRotary(RotaryEmbeddingOp op) {
  const RotaryForm form = {op.getTableRuns().size(), op.hasWholeTables(), op.getStreamed()};
  std::string structure = "rotary " + std::to_string(form.numRuns) + (form.isWhole ? " whole" : " half") +
                          (form.isStreamed ? " streamed" : "");
  return {addKernel(structure, UnknownLoc::get(context),
                    [&](StringRef symbol, ModuleOp module) { emitRotary(form, symbol, cpu.vectorBits(), module); })};
}

/// Whether `op` is one that add() takes.
static bool isCompiled(Operation *op) {
  return isa<KernelOp, FusedAttentionOp, FusedAttentionGradOp, RotaryEmbeddingOp>(op);
}

FailureOr<CompiledKernel> CpuCompiler::add(Operation *op, const Mesh &mesh) {
  if (auto kernel = dyn_cast<KernelOp>(op))
    return addRows(kernel, mesh);
  if (auto rotary = dyn_cast<RotaryEmbeddingOp>(op))
    return addRotary(rotary);
  return addAttention(op);
}

KernelCounts CpuCompiler::counts() const {
  KernelCounts counts;
  counts.all = kernels.size();
  counts.cached = llvm::count_if(kernels, [](const PendingKernel &kernel) { return !kernel.module; });
  return counts;
}

LogicalResult CpuCompiler::compile(PendingKernel &kernel) {
  if (kernel.object)
    return success();
  ModuleOp module = *kernel.module;
  if (failed(lowerKernel(module)) || failed(mlir::verify(module)) || failed(verifyLoweredKernels(module)))
    return failure();
  FailureOr<ObjectCode> object = compileToObject(module, cpu);
  if (failed(object))
    return failure();
  cache.store(kernel.hash, *object);
  kernel.object = std::move(*object);
  return success();
}

PendingKernel *CpuCompiler::take() {
  std::lock_guard<std::mutex> lock(mutex);
  return numTaken < kernels.size() && !isStopped ? &kernels[numTaken++] : nullptr;
}

void CpuCompiler::compileTaken() {
  while (PendingKernel *kernel = take())
    if (failed(compile(*kernel)))
      isStopped = true;
}

/// One thread less than may compile: the caller is the last.
void CpuCompiler::startHelpers() {
  while (context->isMultithreadingEnabled() && helpers.size() + 1 < std::min<size_t>(threads, kernels.size()))
    helpers.emplace_back([this] { compileTaken(); });
}

void CpuCompiler::joinHelpers() {
  for (std::thread &helper : helpers)
    helper.join();
  helpers.clear();
}

CpuCompiler::~CpuCompiler() {
  isStopped = true;
  joinHelpers();
}

LogicalResult CpuCompiler::start(func::FuncOp function, const Mesh &mesh) {
  WalkResult walked = function.walk<WalkOrder::PreOrder>([&](Operation *op) -> WalkResult {
    if (!isCompiled(op))
      return WalkResult::advance();
    return failed(add(op, mesh)) ? WalkResult::interrupt() : WalkResult::skip();
  });
  startHelpers();
  return failure(walked.wasInterrupted());
}

FailureOr<std::vector<uint8_t>> CpuCompiler::finish() {
  if (kernels.empty())
    return std::vector<uint8_t>();
  startHelpers();
  compileTaken();
  joinHelpers();
  if (isStopped)
    return failure();
  cache.trim();
  if (std::optional<std::string> fault = cache.fault())
    emitWarning(UnknownLoc::get(context)) << "kernels are not kept for the next compilation: " << *fault;
  std::vector<ObjectCode> objects;
  for (PendingKernel &kernel : kernels)
    objects.push_back(std::move(*kernel.object));
  kernels.clear();
  numTaken = 0;
  std::string error;
  std::optional<std::vector<uint8_t>> linked = linkObjects(objects, error);
  if (!linked)
    return emitError(UnknownLoc::get(context)) << "kernels must link, got: " << error;
  return std::move(*linked);
}

FailureOr<std::unique_ptr<KernelCompiler>> ds::createCpuCompiler(MLIRContext *context, const CpuOptions &options) {
  std::string error;
  std::optional<CpuTarget> target = CpuTarget::find(options.cpu, error);
  if (!target)
    return emitError(UnknownLoc::get(context)) << error;
  context->loadDialect<arith::ArithDialect, cf::ControlFlowDialect, func::FuncDialect, LLVM::LLVMDialect,
                       math::MathDialect, scf::SCFDialect, vector::VectorDialect>();
  registerBuiltinDialectTranslation(*context);
  registerLLVMDialectTranslation(*context);
  return std::unique_ptr<KernelCompiler>(std::make_unique<CpuCompiler>(context, std::move(*target), options));
}
