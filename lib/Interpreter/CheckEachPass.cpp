// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Interpreter/CheckEachPass.h"

#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace ds;

namespace {

/// The program before a pass that is running.
struct Snapshot {
  OwningOpRef<ModuleOp> module;
  OperationFingerPrint fingerPrint;
};

class ValueChecker : public PassInstrumentation {
public:
  ValueChecker(CheckEachPassOptions options, std::shared_ptr<bool> hasFailed)
      : options(std::move(options)), hasFailed(std::move(hasFailed)) {}

  void runBeforePass(Pass *, Operation *op) override {
    ModuleOp module = moduleOf(op);
    snapshots.push_back(
        {*hasFailed ? OwningOpRef<ModuleOp>() : OwningOpRef<ModuleOp>(module.clone()), OperationFingerPrint(module)});
  }

  void runAfterPass(Pass *pass, Operation *op) override {
    Snapshot before = std::move(snapshots.back());
    snapshots.pop_back();
    ModuleOp module = moduleOf(op);
    if (*hasFailed || isAdaptor(pass) || OperationFingerPrint(module) == before.fingerPrint ||
        llvm::is_contained(options.exempt, pass->getArgument()))
      return;
    for (auto function : before.module->getOps<func::FuncOp>())
      if (func::FuncOp after = findFunction(module, function.getSymName()); after && !after.isExternal() && !*hasFailed)
        check(pass, function, after);
  }

  void runAfterPassFailed(Pass *, Operation *) override { snapshots.pop_back(); }

private:
  /// Runs nested passes, which are checked themselves.
  static bool isAdaptor(Pass *pass) { return pass->getName().ends_with("OpToOpPassAdaptor"); }

  /// The function of this name; if it is gone the only one, which a pass may have renamed.
  static func::FuncOp findFunction(ModuleOp module, StringRef name) {
    if (auto function = module.lookupSymbol<func::FuncOp>(name))
      return function;
    auto functions = module.getOps<func::FuncOp>();
    return llvm::hasSingleElement(functions) ? *functions.begin() : func::FuncOp();
  }

  static ModuleOp moduleOf(Operation *op) {
    while (Operation *parent = op->getParentOp())
      op = parent;
    return cast<ModuleOp>(op);
  }

  /// Whether a constant of a float type of `function` may have been rounded from f64.
  static bool roundsFloats(func::FuncOp function) {
    return function
        .walk([](Operation *op) {
          const bool isNarrow = llvm::any_of(op->getResultTypes(), [](Type type) {
            auto element = dyn_cast<FloatType>(getElementTypeOrSelf(type));
            return element && element.getWidth() < 64;
          });
          return isNarrow ? WalkResult::interrupt() : WalkResult::advance();
        })
        .wasInterrupted();
  }

  void check(Pass *pass, func::FuncOp before, func::FuncOp after) {
    // An op such as cross_entropy shows which integers are allowed, and a later pass replaces it. So the range is
    // remembered now, for the random inputs of later programs.
    narrowIntSets(before, options.compare.intSets);
    StringRef name = pass->getArgument().empty() ? pass->getName() : pass->getArgument();
    CompareOptions compare = options.compare;
    if (llvm::is_contained(options.rounding, name) && roundsFloats(before))
      compare.tolerance = std::max(compare.tolerance, options.roundingTolerance);
    FailureOr<std::optional<ValueChange>> change = compareRuns(before, after, compare);
    if (succeeded(change) && !*change)
      return;
    *hasFailed = true;
    if (failed(change))
      emitError(after.getLoc()) << "pass \"" << name << "\" must leave a program that can be interpreted";
    else
      emitError(after.getLoc()) << "pass \"" << name << "\" must keep the values of @" << after.getSymName()
                                << ", but changed " << (*change)->value << " by "
                                << llvm::formatv("{0:e2}", (*change)->error).str() << " of its largest entry";
  }

  CheckEachPassOptions options;
  std::shared_ptr<bool> hasFailed;
  std::vector<Snapshot> snapshots; ///< a stack: passes nest
};

/// Instrumentation cannot end a pipeline, so its last pass does.
class FailIfValuesChanged : public PassWrapper<FailIfValuesChanged, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(FailIfValuesChanged)
  explicit FailIfValuesChanged(std::shared_ptr<bool> hasFailed) : hasFailed(std::move(hasFailed)) {}

  void runOnOperation() override {
    if (*hasFailed)
      signalPassFailure();
  }

private:
  std::shared_ptr<bool> hasFailed;
};

} // namespace

void ds::checkEachPass(PassManager &manager, CheckEachPassOptions options) {
  auto hasFailed = std::make_shared<bool>(false);
  manager.getContext()->disableMultithreading();
  manager.addPass(std::make_unique<FailIfValuesChanged>(hasFailed));
  manager.addInstrumentation(std::make_unique<ValueChecker>(std::move(options), hasFailed));
}
