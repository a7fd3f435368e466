// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "NativeCode.h"

#include "ds/Codegen/Cpu.h"

#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/X86TargetParser.h"

#include <mutex>

using namespace mlir;
using namespace ds;

//===----------------------------------------------------------------------===//
// Targets
//===----------------------------------------------------------------------===//

/// What kernels gain from. Others of a CPU (system calls, cryptography) would only make plans refuse to run elsewhere.
static bool isUseful(StringRef feature) {
  static const llvm::StringSet<> names = {"avx",     "avx2",     "avx512bf16", "avx512bw", "avx512cd", "avx512dq",
                                          "avx512f", "avx512vl", "bmi",        "bmi2",     "f16c",     "fma",
                                          "lzcnt",   "popcnt",   "sse3",       "sse4.1",   "sse4.2",   "ssse3"};
  return names.contains(feature);
}

static void initializeTarget() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
}

std::optional<CpuTarget> CpuTarget::find(StringRef cpu, std::string &error) {
  initializeTarget();
  CpuTarget target;
  target.triple = llvm::sys::getDefaultTargetTriple();
  if (!llvm::Triple(target.triple).isX86()) {
    error = "must make code for x86-64, got a machine of type " + target.triple;
    return std::nullopt;
  }
  if (cpu == "native") {
    target.tuning = llvm::sys::getHostCPUName().str();
    for (const auto &feature : llvm::sys::getHostCPUFeatures())
      if (feature.second && isUseful(feature.first()))
        target.features.push_back(feature.first().str());
  } else {
    SmallVector<StringRef> known;
    llvm::X86::fillValidCPUArchList(known, /*Only64Bit=*/true);
    if (!llvm::is_contained(known, cpu)) {
      error = ("must know the CPU, got \"" + cpu + "\"").str();
      return std::nullopt;
    }
    target.tuning = cpu.str();
    SmallVector<StringRef> features;
    llvm::X86::getFeaturesForCPU(cpu, features, /*NeedPlus=*/false);
    for (StringRef feature : features)
      if (isUseful(feature))
        target.features.push_back(feature.str());
  }
  llvm::sort(target.features);
  return target;
}

std::string CpuTarget::describe() const {
  std::string text = triple + " " + tuning;
  for (const std::string &feature : features)
    text += " " + feature;
  return text;
}

std::optional<std::string> ds::describeCpu(StringRef cpu, std::string &error) {
  const std::optional<CpuTarget> target = CpuTarget::find(cpu, error);
  return target ? std::optional(target->describe()) : std::nullopt;
}

unsigned CpuTarget::vectorBits() const {
  auto has = [&](StringRef feature) { return llvm::is_contained(features, feature); };
  if (has("avx512f") && has("avx512bw") && has("avx512dq") && has("avx512vl"))
    return 512;
  return has("avx2") && has("fma") ? 256 : 128;
}

static std::string featureText(const CpuTarget &target) {
  std::string text;
  for (const std::string &feature : target.features)
    text += (text.empty() ? "+" : ",+") + feature;
  return text;
}

static std::unique_ptr<llvm::TargetMachine> makeMachine(const CpuTarget &target) {
  std::string error;
  llvm::Triple triple(target.triple);
  const llvm::Target *found = llvm::TargetRegistry::lookupTarget(triple, error);
  llvm::TargetOptions options;
  // What fuses is in the code (fmuladd, or the flag): it must not depend on what else reads a product.
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
  return std::unique_ptr<llvm::TargetMachine>(found->createTargetMachine(
      triple, "x86-64", featureText(target), options, llvm::Reloc::PIC_, std::nullopt, llvm::CodeGenOptLevel::Default));
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

static void setAttributes(llvm::Module &module, const CpuTarget &target) {
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr(llvm::Attribute::NoUnwind);
    function.addFnAttr("target-cpu", "x86-64");
    function.addFnAttr("tune-cpu", target.tuning);
    function.addFnAttr("target-features", featureText(target));
    std::string width = std::to_string(target.vectorBits());
    function.addFnAttr("prefer-vector-width", width);
    function.addFnAttr("min-legal-vector-width", width);
  }
}

/// The code is vectors already: what vectorizes or unrolls loops would only take time.
static void optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = tuning.SLPVectorization = tuning.LoopUnrolling = tuning.LoopInterleaving = false;
  llvm::PassBuilder builder(&machine, tuning);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager graphs;
  llvm::ModuleAnalysisManager modules;
  // No loop becomes a call of memset or memcpy.
  llvm::TargetLibraryInfoImpl library(machine.getTargetTriple());
  library.disableAllFunctions();
  functions.registerPass([&] { return llvm::TargetLibraryAnalysis(library); });
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(graphs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, graphs, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2).run(module, modules);
}

FailureOr<ObjectCode> ds::compileToObject(ModuleOp module, const CpuTarget &target) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> code = translateModuleToLLVMIR(module, context, "kernel");
  if (!code)
    return module.emitError("must translate to LLVM IR");
  std::unique_ptr<llvm::TargetMachine> machine = makeMachine(target);
  code->setTargetTriple(machine->getTargetTriple());
  code->setDataLayout(machine->createDataLayout());
  setAttributes(*code, target);
  optimize(*code, *machine);
  ObjectCode object;
  llvm::raw_svector_ostream out(object);
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, out, nullptr, llvm::CodeGenFileType::ObjectFile))
    return module.emitError("must compile for ") << target.triple;
  passes.run(*code);
  return object;
}
