// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Dialect/LayoutRule.h"

#include "ds/Dialect/DsDialect.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace ds;

ValueIndices LayoutRule::addDims(ArrayRef<int64_t> shape, IndexKind kind) {
  ValueIndices value;
  for (int64_t size : shape)
    value.push_back({addIndex(size, kind)});
  return value;
}

void LayoutRule::setLinear(PartialRule rule, ArrayRef<unsigned> operandNumbers, ArrayRef<ReduceKind> kinds) {
  partial = rule;
  linear.assign(operands.size(), false);
  for (unsigned number : operandNumbers)
    linear[number] = true;
  passes.assign(kinds.begin(), kinds.end());
}

LayoutRule ds::elementwiseRule(Operation *op) {
  LayoutRule rule;
  auto rankOf = [](Value value) {
    auto tensor = dyn_cast<RankedTensorType>(value.getType());
    return tensor ? tensor.getRank() : 0;
  };
  auto result = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  ValueIndices dims = result ? rule.addDims(result.getShape()) : ValueIndices();
  for (Value operand : op->getOperands())
    rule.operands.push_back(rankOf(operand) ? dims : ValueIndices());
  rule.results.assign(op->getNumResults(), dims);
  rule.linear.assign(op->getNumOperands(), false);
  rule.allowsFlat = true;
  return rule;
}

std::optional<LayoutRule> ds::findLayoutRule(Operation *op) {
  if (auto ruled = dyn_cast<LayoutRuleOpInterface>(op))
    return ruled.getLayoutRule();
  return std::nullopt;
}

std::optional<SmallVector<SmallVector<DimLayout, 2>, 4>> ds::splitsOfValue(const Layout &layout,
                                                                           const ValueIndices &value,
                                                                           const LayoutRule &rule, const Shape &shape,
                                                                           const Mesh &mesh) {
  SmallVector<SmallVector<DimLayout, 2>, 4> splits(value.size());
  for (auto [dim, indices] : llvm::enumerate(value)) {
    Shape sizes;
    for (unsigned index : indices)
      sizes.push_back(rule.indices[index].size);
    DimLayout resolved = resolvedDim(layout.dims[dim], shape[dim]);
    if (sizes.empty()) {
      if (llvm::any_of(resolved, [](const Factor &factor) { return !factor.axes.empty(); }))
        return std::nullopt;
      continue;
    }
    std::optional<std::vector<DimLayout>> parts = splitDim(resolved, sizes, mesh);
    if (!parts)
      return std::nullopt;
    splits[dim].assign(parts->begin(), parts->end());
  }
  return splits;
}

std::vector<DimLayout> ds::dimsOfValue(const ValueIndices &value, const LayoutRule &rule, const IndexSplits &splits,
                                       const Shape &shape) {
  Layout layout;
  for (const SmallVector<unsigned, 2> &indices : value) {
    if (indices.size() == 1) { // nothing to join
      layout.dims.push_back(splits[indices.front()]);
      continue;
    }
    std::vector<DimLayout> parts;
    for (unsigned index : indices)
      parts.push_back(resolvedDim(splits[index], rule.indices[index].size));
    layout.dims.push_back(parts.empty() ? DimLayout(1) : joinDims(parts));
  }
  return normalized(std::move(layout), shape).dims;
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

namespace {
/// Checks one op against its rule; the first fault is kept.
class RuleChecker {
public:
  RuleChecker(Operation *op, const LayoutRule &rule, const Mesh &mesh)
      : op(op), rule(rule), mesh(mesh), splits(rule.indices.size()), isKnown(rule.indices.size(), false) {}

  std::optional<std::string> run() {
    checkTiers();
    bool isFlat = llvm::any_of(op->getOperandTypes(), hasFlat) || llvm::any_of(op->getResultTypes(), hasFlat);
    if (isFlat)
      checkFlat();
    else
      checkDims();
    if (!fault)
      checkPartial();
    return fault;
  }

private:
  static bool hasFlat(Type type) { return !layoutOf(type).flat.empty(); }
  static bool isTensor(Type type) { return isa<RankedTensorType>(type); }

  void fail(const Twine &text) {
    if (!fault)
      fault = text.str();
  }

  void checkTiers() {
    std::optional<Layout> first;
    auto check = [&](Type type) {
      if (!isTensor(type))
        return;
      Layout layout = layoutOf(type);
      if (!first)
        first = layout;
      else if (first->at != layout.at || first->memory != layout.memory)
        fail("operands and results must have one memory tier and one place");
    };
    llvm::for_each(op->getOperandTypes(), check);
    llvm::for_each(op->getResultTypes(), check);
  }

  /// On flat: an elementwise op with identical layouts, or a full reduction.
  void checkFlat() {
    if (isFullReduction())
      return;
    if (!rule.allowsFlat)
      return fail("must have no flat operand or result");
    std::optional<Layout> first;
    auto check = [&](Type type) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      if (!tensor || tensor.getRank() == 0)
        return;
      Layout layout = layoutOf(type);
      layout.partial.clear();
      if (!first)
        first = layout;
      else if (*first != layout)
        fail("flat operands and results must have one layout, got [" + Twine(first->str()) + "] and [" + layout.str() +
             "]");
    };
    llvm::for_each(op->getOperandTypes(), check);
    llvm::for_each(op->getResultTypes(), check);
    if (first)
      for (const std::string &axis : first->dimAxes())
        splitAxes.insert(axis);
    if (first)
      splitAxes.insert(first->flat.begin(), first->flat.end());
  }

  bool isFullReduction() {
    auto reduce = dyn_cast<ReduceOp>(op);
    if (!reduce || reduce.getType().getRank() != 0)
      return false;
    Layout layout = layoutOf(reduce.getInput());
    for (const AxisList &axes : {layout.dimAxes(), layout.flat})
      for (const std::string &axis : axes)
        contracted[axis] = static_cast<ReduceKind>(reduce.getKind());
    return true;
  }

  void checkDims() {
    for (auto [number, operand] : llvm::enumerate(op->getOperands()))
      addValue(operand.getType(), rule.operands[number], "operand " + std::to_string(number));
    for (auto [number, result] : llvm::enumerate(op->getResults()))
      addValue(result.getType(), rule.results[number], "result " + std::to_string(number));
    for (auto [number, index] : llvm::enumerate(rule.indices))
      addAxesOf(number, index);
  }

  void addValue(Type type, const ValueIndices &value, const std::string &what) {
    if (!isTensor(type))
      return;
    Layout layout = layoutOf(type);
    auto found = splitsOfValue(layout, value, rule, shapeOf(type), mesh);
    if (!found)
      return fail(what + " must be split at the op's indices, got [" + layout.str() + "]");
    for (auto [dim, indices] : llvm::enumerate(value))
      for (auto [place, index] : llvm::enumerate(indices))
        addSplit(index, (*found)[dim][place], what + " dim " + std::to_string(dim));
  }

  void addSplit(unsigned index, const DimLayout &split, const std::string &what) {
    Layout one;
    one.dims = {split};
    one = normalized(one, {rule.indices[index].size});
    if (!isKnown[index]) {
      isKnown[index] = true;
      splits[index] = one.dims[0];
    } else if (splits[index] != one.dims[0]) {
      fail(what + " must be split as " + spelling(splits[index]) + " like the values that share its index, got " +
           one.str());
    }
  }

  static std::string spelling(const DimLayout &split) {
    Layout one;
    one.dims = {split};
    return one.str();
  }

  void addAxesOf(unsigned number, const RuleIndex &index) {
    if (index.needsInterval && isKnown[number] && !isInterval(splits[number]))
      fail("a dim whose positions the op computes with must be one interval on each rank, got " +
           Twine(spelling(splits[number])));
    for (const Factor &factor : splits[number])
      for (const std::string &axis : factor.axes) {
        if (index.kind == IndexKind::Whole)
          fail("a dim that the op needs whole must not be split, got axis \"" + axis + "\"");
        if (!splitAxes.insert(axis).second)
          fail("axis \"" + axis + "\" must be on one index only");
        if (index.kind != IndexKind::Parallel && index.kind != IndexKind::Whole)
          contracted[axis] = index.kind == IndexKind::Sum   ? ReduceKind::Sum
                             : index.kind == IndexKind::Max ? ReduceKind::Max
                                                            : ReduceKind::Min;
      }
  }

  void checkPartial() {
    std::map<std::string, ReduceKind> expected = contracted;
    unsigned linearOperands = 0;
    for (auto [number, operand] : llvm::enumerate(op->getOperands())) {
      if (!isTensor(operand.getType()) || rule.likeResult == number)
        continue;
      Layout layout = layoutOf(operand);
      bool isLinear = number < rule.linear.size() && rule.linear[number];
      if (!isLinear && !layout.partial.empty())
        return fail("operand " + std::to_string(number) + " must not be partial, got partial over \"" +
                    layout.partial.begin()->first + "\"");
      if (isLinear)
        addPartial(layout, expected, linearOperands++);
    }
    if (rule.needsWholeResult && !expected.empty())
      return fail("result must be whole, got partial over {" + names(expected) + "}");
    if (rule.likeResult && layoutOf(op->getOperand(*rule.likeResult)).partial != expected)
      return fail("operand " + std::to_string(*rule.likeResult) + " must be partial over {" + names(expected) +
                  "} as the result");
    for (Value result : op->getResults()) {
      Layout layout = layoutOf(result);
      if (layout.partial != expected && !(matchPattern(result, m_AnyZeroFloat()) || matchPattern(result, m_Zero())))
        fail("result must be partial over {" + names(expected) + "}, got {" + names(layout.partial) + "}");
    }
  }

  void addPartial(const Layout &layout, std::map<std::string, ReduceKind> &expected, unsigned number) {
    for (auto &[axis, kind] : layout.partial) {
      if (!llvm::is_contained(rule.passes, kind))
        fail("a partial " + std::string(reduceKindName(kind)) + " must not pass, got axis \"" + axis + "\"");
      if (splitAxes.count(axis))
        fail("axis \"" + axis + "\" must not be partial and on an index");
      if (rule.partial == PartialRule::Multilinear && expected.count(axis))
        fail("at most one operand must be partial over \"" + axis + "\"");
    }
    if (rule.partial == PartialRule::Additive && number > 0 && layout.partial != expected)
      return fail("operands must be partial over the same axes, got {" + names(expected) + "} and {" +
                  names(layout.partial) + "}");
    expected.insert(layout.partial.begin(), layout.partial.end());
  }

  static std::string names(const std::map<std::string, ReduceKind> &partial) {
    std::string text;
    for (auto &[axis, kind] : partial)
      text +=
          (text.empty() ? "" : ", ") + axis + (kind == ReduceKind::Sum ? "" : ":" + std::string(reduceKindName(kind)));
    return text;
  }

  Operation *op;
  const LayoutRule &rule;
  const Mesh &mesh;
  IndexSplits splits;
  SmallVector<bool> isKnown;
  std::set<std::string> splitAxes;
  std::map<std::string, ReduceKind> contracted;
  std::optional<std::string> fault;
};
} // namespace

std::optional<std::string> ds::findRuleFault(Operation *op, const LayoutRule &rule, const Mesh &mesh) {
  return RuleChecker(op, rule, mesh).run();
}
