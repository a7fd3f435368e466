// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "Collectives.h"

#include "ds/Analysis/TensorSizes.h"
#include "ds/Passes/Passes.h"
#include "ds/Passes/Solvers/Buckets.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Remarks.h"

namespace ds {
#define GEN_PASS_DEF_BUCKETCOLLECTIVESPASS
#include "ds/Passes/Passes.h.inc"
} // namespace ds

using namespace mlir;
using namespace ds;

namespace {

/// What collectives must have in common: kind, element type, and for reductions the fold.
using Kind = std::tuple<CollectiveKind, Type, int>;

/// The number of `key` among those that were asked for.
template <typename Key> uint32_t numberOf(SmallVectorImpl<Key> &known, const Key &key) {
  auto found = llvm::find(known, key);
  if (found == known.end())
    found = known.insert(known.end(), key);
  return static_cast<uint32_t>(found - known.begin());
}

class Bucketer {
public:
  Bucketer(Block &block, const Mesh &mesh) : block(block), mesh(mesh) {}

  void run(const BucketLimits &gathers, const BucketLimits &others) {
    for (AssignOp assign : llvm::to_vector(block.getOps<AssignOp>()))
      assign->moveBefore(block.getTerminator());
    for (auto [number, op] : llvm::enumerate(block))
      places[&op] = static_cast<int64_t>(number) + 1;
    SmallVector<StartOp> parameterGathers, rest;
    for (StartOp start : block.getOps<StartOp>())
      (gathersParameters(start) ? parameterGathers : rest).push_back(start);
    joinAll(parameterGathers, gathers);
    joinAll(rest, others);
  }

private:
  static Kind kindOf(StartOp start) {
    Value input = start.getInputs().front();
    const Layout layout = layoutOf(input);
    auto partial = layout.partial.find(start.getAxis().str());
    const int fold = partial == layout.partial.end() ? -1 : static_cast<int>(partial->second);
    return {start.getKind(), cast<RankedTensorType>(input.getType()).getElementType(), fold};
  }

  /// The place of the first op of the block that uses a result of `start`, or has an op inside that does.
  int64_t firstUse(StartOp start) const {
    int64_t first = places.lookup(block.getTerminator());
    for (Operation *user : waitOf(start)->getUsers())
      first = std::min(first, places.lookup(block.findAncestorOpInBlock(*user)));
    return first;
  }

  BucketMember memberOf(StartOp start) {
    BucketMember member;
    member.stream = numberOf<Attribute>(streams, start.getAxisAttr());
    member.kind = numberOf(kinds, kindOf(start));
    for (auto [input, output] : llvm::zip_equal(start.getInputs(), waitOf(start).getResults()))
      member.bytes +=
          static_cast<int64_t>(std::max(maxLocalBytes(input.getType(), mesh), maxLocalBytes(output.getType(), mesh)));
    // The gather of a parameter could start at any time; it stands where its result is needed.
    const int64_t place = places.lookup(start);
    member.ready = gathersParameters(start) ? 0 : place;
    member.needed = gathersParameters(start) ? place : firstUse(start);
    return member;
  }

  void joinAll(ArrayRef<StartOp> starts, const BucketLimits &limits) {
    std::vector<BucketMember> members;
    for (StartOp start : starts)
      members.push_back(memberOf(start));
    for (const Bucket &bucket : formBuckets(members, limits)) {
      if (bucket.size() == 1)
        continue;
      SmallVector<StartOp> joined;
      int64_t bytes = 0;
      for (const size_t number : bucket) {
        joined.push_back(starts[number]);
        bytes += members[number].bytes;
      }
      join(joined, bytes);
    }
  }

  /// One start and wait for all of `starts`. Gathers of parameters join the first of them, as what they gather is there
  /// already; the others join the last.
  void join(ArrayRef<StartOp> starts, int64_t bytes) {
    StartOp first = starts.front();
    const bool isBefore = gathersParameters(first);
    Operation *place = isBefore ? first : waitOf(starts.back());
    OpBuilder builder(place);
    if (!isBefore)
      builder.setInsertionPointAfter(place);
    SmallVector<Value> inputs;
    SmallVector<Type> types;
    for (StartOp start : starts) {
      for (Value input : start.getInputs()) {
        if (auto fence = input.getDefiningOp<FenceOp>(); fence && isBefore)
          fence->moveBefore(place);
        inputs.push_back(input);
      }
      llvm::append_range(types, waitOf(start).getResultTypes());
    }
    auto start = StartOp::create(builder, place->getLoc(), first.getKind(), inputs, first.getAxisAttr(),
                                 builder.getTypeArrayAttr(types));
    auto wait = WaitOp::create(builder, place->getLoc(), types, start.getToken(), inputs);
    remark::passed(place->getLoc(), remark::RemarkOpts::name("bucketed").category("ds-bucket-collectives"))
        << std::to_string(inputs.size()) << " tensors, " << std::to_string(bytes) << " bytes";
    unsigned next = 0;
    for (StartOp old : starts) {
      WaitOp oldWait = waitOf(old);
      for (Value result : oldWait.getResults())
        result.replaceAllUsesWith(wait.getResult(next++));
      oldWait.erase();
      old.erase();
    }
  }

  Block &block;
  const Mesh &mesh;
  DenseMap<Operation *, int64_t> places; ///< before anything was joined
  SmallVector<Attribute> streams;        ///< axes
  SmallVector<Kind> kinds;
};

struct BucketCollectives : ds::impl::BucketCollectivesPassBase<BucketCollectives> {
  using BucketCollectivesPassBase::BucketCollectivesPassBase;

  void runOnOperation() override {
    const Mesh mesh = meshOf(getOperation());
    SmallVector<Block *> blocks;
    getOperation().walk([&](Block *block) {
      if (!isa<KernelOp>(block->getParentOp()))
        blocks.push_back(block);
    });
    for (Block *block : blocks)
      Bucketer(*block, mesh).run({bytes, window}, {bytes});
  }
};

} // namespace
