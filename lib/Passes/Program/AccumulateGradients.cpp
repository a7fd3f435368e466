// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "StepBuilder.h"
#include "StepFunction.h"

#include "ds/Dialect/Refusal.h"
#include "ds/Passes/Passes.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/BitVector.h"

namespace ds {
#define GEN_PASS_DEF_ACCUMULATEGRADIENTSPASS
#include "ds/Passes/Passes.h.inc"
} // namespace ds

using namespace mlir;
using namespace ds;

namespace {

/// Puts the computation of a step into a loop over the parts of its batch:
/// 1. The loop carries the sum of each result, from zeros, and each variable that the step assigns, from its read.
/// 2. Everything between reads and assigns moves into it; arguments become parts of wider arguments.
/// 3. It adds each result to its sum; afterwards the sums are divided by the number of parts, or of labels if the step
///    counts them.
class PartsLoop {
public:
  PartsLoop(func::FuncOp function, int64_t parts)
      : function(function), parts(parts), reads(function), results(returnOf(function).getOperands()),
        assigns(function.front().getOps<AssignOp>().begin(), function.front().getOps<AssignOp>().end()) {}

  void build() {
    createLoop();
    moveComputation();
    takeParts();
    yieldSums();
    useLoopResults();
  }

private:
  void createLoop() {
    OpBuilder builder(endOfComputation(function));
    StepBuilder build(builder, function.getLoc());
    SmallVector<Value> initial;
    for (Value result : results)
      initial.push_back(build.zeros(result.getType()));
    SymbolTableCollection symbols;
    for (AssignOp assign : assigns)
      initial.push_back(reads.get(symbols.lookupNearestSymbolFrom<VariableOp>(assign, assign.getVariableAttr())));
    auto bound = [&](int64_t value) { return build.value<arith::ConstantIndexOp>(value); };
    Value lower = bound(0), upper = bound(parts), step = bound(1);
    loop = build.create<scf::ForOp>(lower, upper, step, initial);
    loop->setAttr(kLoopGradientsAttr, loopGradients(builder));
  }

  /// Per loop result the variable whose gradient it is; unit for the others.
  ArrayAttr loopGradients(Builder &builder) {
    SmallVector<Attribute> variables(loop.getNumResults(), builder.getUnitAttr());
    for (unsigned i = 0; i < results.size(); ++i)
      if (FlatSymbolRefAttr variable = gradientVariableOf(function, i))
        variables[i] = variable;
    return builder.getArrayAttr(variables);
  }

  /// Moves the ops between the reads and the constants of the loop.
  void moveComputation() {
    Block &block = function.front();
    Block::iterator first = reads.last() ? std::next(reads.last()->getIterator()) : block.begin();
    Block::iterator end = loop.getInitArgs().front().getDefiningOp()->getIterator();
    loop.getBody()->getOperations().splice(loop.getBody()->begin(), block.getOperations(), first, end);
  }

  void takeParts() {
    OpBuilder builder = OpBuilder::atBlockBegin(loop.getBody());
    for (BlockArgument argument : function.getArguments()) {
      RankedTensorType type = tensorTypeOf(argument);
      if (type.getRank() == 0 || function.getArgAttr(argument.getArgNumber(), kWholeAttr))
        continue;
      SmallVector<int64_t> shape(type.getShape());
      shape.front() *= parts;
      argument.setType(type.clone(shape));
      auto part = TakePartOp::create(builder, argument.getLoc(), type, argument, loop.getInductionVar(), parts);
      argument.replaceAllUsesExcept(part, part);
    }
    function.setType(
        FunctionType::get(function.getContext(), function.front().getArgumentTypes(), function.getResultTypes()));
  }

  void yieldSums() {
    OpBuilder builder = OpBuilder::atBlockEnd(loop.getBody());
    SmallVector<Value> yielded;
    for (auto [sum, result] : llvm::zip(loop.getRegionIterArgs(), results))
      yielded.push_back(StepBuilder(builder, result.getLoc()).add(sum, result));
    for (auto [carried, assign] : llvm::zip_equal(loop.getRegionIterArgs().drop_front(results.size()), assigns)) {
      Value read = reads.find(assign.getVariableAttr().getAttr()).getResult();
      read.replaceUsesWithIf(carried, [&](OpOperand &use) { return loop->isProperAncestor(use.getOwner()); });
      yielded.push_back(assign.getValue() == read ? Value(carried) : Value(assign.getValue()));
    }
    scf::YieldOp::create(builder, loop.getLoc(), yielded);
  }

  void useLoopResults() {
    OpBuilder builder(endOfComputation(function));
    StepBuilder build(builder, function.getLoc());
    const bool countsLabels = findResult(function, kLabelCountName).has_value();
    for (auto [number, use] : llvm::enumerate(returnOf(function)->getOpOperands()))
      use.set(countsLabels ? loop.getResult(number) : build.mul(loop.getResult(number), 1.0 / parts));
    for (auto [number, assign] : llvm::enumerate(assigns))
      assign.getValueMutable().assign(loop.getResult(results.size() + number));
  }

  func::FuncOp function;
  int64_t parts;
  StepReads reads;
  SmallVector<Value> results;
  SmallVector<AssignOp> assigns;
  scf::ForOp loop;
};

/// Divides all results by the number of labels, which is no result any more.
static void divideByLabels(func::FuncOp function, unsigned countNumber) {
  OpBuilder builder(endOfComputation(function));
  StepBuilder build(builder, function.getLoc());
  Value count = returnOf(function).getOperand(countNumber);
  count = build.value<arith::MaximumFOp>(count, build.splat(count.getType(), 1)); // no labels: sums of 0
  for (OpOperand &use : returnOf(function)->getOpOperands()) {
    RankedTensorType type = tensorTypeOf(use.get());
    use.set(build.div(use.get(), build.broadcast(build.convert(count, type), {}, type.getShape())));
  }
  llvm::BitVector isDropped(function.getNumResults());
  isDropped.set(countNumber);
  dropResults(function, isDropped);
}

struct AccumulateGradients : ds::impl::AccumulateGradientsPassBase<AccumulateGradients> {
  using AccumulateGradientsPassBase::AccumulateGradientsPassBase;

  void runOnOperation() override {
    FailureOr<func::FuncOp> function = findFunction(getOperation(), kStepFunction);
    if (failed(function) || failed(verify(*function)))
      return signalPassFailure();
    if (parts > 1)
      PartsLoop(*function, parts).build();
    if (std::optional<unsigned> count = findResult(*function, kLabelCountName))
      divideByLabels(*function, *count);
  }

private:
  LogicalResult verify(func::FuncOp function) {
    if (parts < 1)
      return function.emitOpError("parts must be >= 1, got ") << parts.getValue();
    if (function.getNumResults() == 0)
      return function.emitOpError("must have a result");
    for (Type type : function.getResultTypes())
      if (!isa<FloatType>(getElementTypeOrSelf(type)))
        return refuse(function, Refusal::Unsupported)
               << "results must be floats, so that their mean over the parts exists, got " << type;
    return success();
  }
};

} // namespace
