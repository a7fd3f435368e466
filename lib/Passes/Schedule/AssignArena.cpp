// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Analysis/AttentionShape.h"
#include "ds/Analysis/KernelShape.h"
#include "ds/Analysis/Lifetimes.h"
#include "ds/Analysis/TensorSizes.h"
#include "ds/Dialect/Refusal.h"
#include "ds/Passes/Passes.h"
#include "ds/Passes/Solvers/ArenaPacking.h"

#include "mlir/IR/Remarks.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

namespace ds {
#define GEN_PASS_DEF_ASSIGNARENAPASS
#include "ds/Passes/Passes.h.inc"
} // namespace ds

using namespace mlir;
using namespace ds;

/// How many of the tensors at the peak are named.
static constexpr size_t kNamedTensors = 10;

namespace {

/// The storages of one function with their lifetimes, and the numbers that the program will carry.
class ArenaBuilder {
public:
  ArenaBuilder(func::FuncOp function, const Mesh &mesh)
      : function(function), mesh(mesh), storage(function, mesh), times(function),
        lifetimes(findLifetimes(storage, times)) {}

  /// Some ops need memory beside their results. Fails if a kernel has no shape.
  LogicalResult addWorkspaces();
  void pack();
  /// Adds the ds.arena and the numbers of its buffers.
  ArenaOp write();

private:
  void writeBuffers(ArenaOp arena);
  void writeNumbers();
  SmallVector<int64_t> largestAtPeak() const;

  func::FuncOp function;
  const Mesh &mesh;
  StoragePlan storage;
  OpTimes times;
  std::vector<Lifetime> lifetimes;
  DenseMap<Operation *, SmallVector<int64_t>> workspaces; ///< numbers
  std::vector<ArenaBuffer> buffers;
  ArenaPacking packing;
};

} // namespace

/// The bytes that a kernel or an attention needs beside its results. Fails if it is a kernel without a shape.
static FailureOr<SmallVector<uint64_t>> workspaceBytes(Operation *op, const Mesh &mesh) {
  if (isa<FusedAttentionOp, FusedAttentionGradOp>(op))
    return SmallVector<uint64_t>{analyzeAttention(op, mesh).chunks * attentionWorkspace(op) * sizeof(float)};
  FailureOr<KernelShape> shape = analyzeKernel(cast<KernelOp>(op), mesh);
  if (failed(shape))
    return failure();
  SmallVector<uint64_t> bytes;
  for (const KernelWorkspace &workspace : shape->workspaces)
    bytes.push_back(shape->chunks * workspace.elements * elementBytes(workspace.element));
  return bytes;
}

LogicalResult ArenaBuilder::addWorkspaces() {
  StructureMap<SmallVector<uint64_t>> needed; // that of all layers is the same
  for (Operation *op : times.ops()) {
    if (!isa<KernelOp, FusedAttentionOp, FusedAttentionGradOp>(op))
      continue;
    auto [found, isNew] = needed.try_emplace(op);
    if (isNew) {
      FailureOr<SmallVector<uint64_t>> own = workspaceBytes(op, mesh);
      if (failed(own))
        return failure();
      found->second = std::move(*own);
    }
    for (uint64_t bytes : found->second) {
      workspaces[op].push_back(storage.addScratch("workspace of " + describe(op), bytes));
      lifetimes.push_back({times.of(op), times.of(op)});
    }
  }
  return success();
}

void ArenaBuilder::pack() {
  for (auto [piece, lifetime] : llvm::zip_equal(storage.storages(), lifetimes))
    buffers.push_back({llvm::alignTo(piece.bytes, kArenaAlignment), lifetime.first, lifetime.last});
  packing = packArena(buffers);
  packing.bytes = llvm::alignTo(packing.bytes, kArenaPageBytes);
}

SmallVector<int64_t> ArenaBuilder::largestAtPeak() const {
  SmallVector<int64_t> live;
  for (auto [id, buffer] : llvm::enumerate(buffers))
    if (buffer.first <= packing.peakTime && packing.peakTime <= buffer.last)
      live.push_back(id);
  llvm::stable_sort(live, [&](int64_t a, int64_t b) { return buffers[a].bytes > buffers[b].bytes; });
  live.resize(std::min(live.size(), kNamedTensors));
  return live;
}

void ArenaBuilder::writeBuffers(ArenaOp arena) {
  OpBuilder builder(arena.getContext());
  builder.createBlock(&arena.getBody());
  for (auto [id, piece] : llvm::enumerate(storage.storages()))
    BufferOp::create(builder, arena.getLoc(), id, piece.name, packing.offsets[id], piece.bytes, buffers[id].first,
                     buffers[id].last);
}

void ArenaBuilder::writeNumbers() {
  Builder builder(function.getContext());
  for (BlockArgument argument : function.getArguments())
    if (isa<RankedTensorType>(argument.getType()))
      function.setArgAttr(argument.getArgNumber(), kBufferAttr, builder.getI64IntegerAttr(storage.storageOf(argument)));
  for (auto variable : function->getParentOfType<ModuleOp>().getOps<VariableOp>())
    variable->setAttr(kBufferAttr, builder.getI64IntegerAttr(storage.storageOfVariable(variable.getSymName())));
  for (Operation *op : times.ops()) {
    if (llvm::none_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>))
      continue;
    SmallVector<int64_t> numbers;
    for (Value result : op->getResults())
      numbers.push_back(isa<RankedTensorType>(result.getType()) ? storage.storageOf(result) : -1);
    llvm::append_range(numbers, workspaces.lookup(op));
    op->setAttr(kBuffersAttr, builder.getDenseI64ArrayAttr(numbers));
  }
}

ArenaOp ArenaBuilder::write() {
  OpBuilder builder(function);
  auto arena = ArenaOp::create(builder, function.getLoc(), function.getSymName(), packing.bytes, packing.lowerBound,
                               packing.peakTime, describe(times.ops()[packing.peakTime]), largestAtPeak());
  writeBuffers(arena);
  writeNumbers();
  return arena;
}

//===----------------------------------------------------------------------===//
// Reports
//===----------------------------------------------------------------------===//

/// Calls `fn` with the name and bytes of each named tensor at the peak.
static void forEachLargest(ArenaOp arena, llvm::function_ref<void(StringRef, int64_t)> fn) {
  SmallVector<BufferOp> buffers = llvm::to_vector(arena.getOps<BufferOp>());
  for (int64_t id : arena.getLargest())
    fn(buffers[id].getName(), buffers[id].getBytes());
}

static void remarkOn(ArenaOp arena, Location peak) {
  auto remark = [](Location location, StringRef name) {
    return remark::analysis(location, remark::RemarkOpts::name(name).category("ds-assign-arena"));
  };
  remark(arena.getLoc(), "arena") << std::to_string(arena.getBytes()) << " bytes, at least "
                                  << std::to_string(arena.getLowerBound()) << " are live at once";
  remark(peak, "peak") << "the largest live set is at " << arena.getPeakOp().str();
  forEachLargest(arena, [&](StringRef name, int64_t bytes) {
    remark(peak, "live at the peak") << name.str() << ", " << std::to_string(bytes) << " bytes";
  });
}

static LogicalResult checkBudget(ArenaOp arena, func::FuncOp function, uint64_t budget) {
  const uint64_t bytes = arena.getBytes();
  if (budget == 0 || bytes <= budget)
    return success();
  InFlightDiagnostic diagnostic = refuse(function, Refusal::Unsupported)
                                  << "the plan needs " << bytes << " bytes of device memory, " << bytes - budget
                                  << " bytes more than the budget of " << budget << "; the peak is at "
                                  << arena.getPeakOp();
  forEachLargest(arena, [&](StringRef name, int64_t size) {
    diagnostic.attachNote() << "live there: " << name << ", " << size << " bytes";
  });
  return diagnostic;
}

namespace {

struct AssignArena : ds::impl::AssignArenaPassBase<AssignArena> {
  using AssignArenaPassBase::AssignArenaPassBase;

  void runOnOperation() override {
    auto step = getOperation().lookupSymbol<func::FuncOp>(function);
    if (!step) {
      getOperation().emitError("has no function @") << function;
      return signalPassFailure();
    }
    const Mesh mesh = meshOf(getOperation());
    ArenaBuilder builder(step, mesh);
    if (failed(builder.addWorkspaces()))
      return signalPassFailure();
    builder.pack();
    ArenaOp arena = builder.write();
    remarkOn(arena, OpTimes(step).ops()[arena.getPeak()]->getLoc());
    if (failed(checkBudget(arena, step, memoryBudget)))
      signalPassFailure();
  }
};

} // namespace
