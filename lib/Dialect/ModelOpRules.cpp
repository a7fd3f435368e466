// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// The layout rules of the ds ops.

#include "ds/Dialect/DsDialect.h"

#include <numeric>

using namespace mlir;
using namespace ds;

static const ReduceKind kAllFolds[] = {ReduceKind::Sum, ReduceKind::Max, ReduceKind::Min};

static ArrayRef<int64_t> shapeOfTensor(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

//===----------------------------------------------------------------------===//
// Partial by whole
//===----------------------------------------------------------------------===//

LayoutRule ScaleOp::getLayoutRule() {
  LayoutRule rule = elementwiseRule(*this);
  rule.setLinear(PartialRule::Multilinear, {0});
  return rule;
}

LayoutRule DivideOp::getLayoutRule() {
  LayoutRule rule = elementwiseRule(*this);
  rule.setLinear(PartialRule::Multilinear, {0});
  return rule;
}

LayoutRule WhereOp::getLayoutRule() {
  LayoutRule rule = elementwiseRule(*this);
  rule.setLinear(PartialRule::Additive, {1, 2});
  return rule;
}

//===----------------------------------------------------------------------===//
// Matmul and windows
//===----------------------------------------------------------------------===//

/// The rule of a contraction; `extra` operands run over result indices: their letters, in order.
template <typename OpT> static LayoutRule contractionRule(OpT op, ArrayRef<StringRef> extra) {
  LayoutRule rule;
  llvm::SmallDenseMap<char, unsigned> numbers;
  auto numberOf = [&](StringRef letters, ArrayRef<int64_t> shape) {
    ValueIndices value;
    for (auto [letter, size] : llvm::zip_equal(letters, shape)) {
      auto [it, isNew] = numbers.try_emplace(letter, 0);
      if (isNew)
        it->second = rule.addIndex(size, op.getResultIndices().contains(letter) ? IndexKind::Parallel : IndexKind::Sum);
      value.push_back({it->second});
    }
    return value;
  };
  rule.operands = {numberOf(op.getLhsIndices(), shapeOfTensor(op.getLhs())),
                   numberOf(op.getRhsIndices(), shapeOfTensor(op.getRhs()))};
  rule.results = {numberOf(op.getResultIndices(), shapeOfTensor(op.getResult()))};
  for (StringRef letters : extra)
    rule.operands.push_back(numberOf(letters, shapeOfTensor(op->getOperand(rule.operands.size()))));
  return rule;
}

LayoutRule MatmulOp::getLayoutRule() {
  LayoutRule rule = contractionRule(*this, {});
  rule.setLinear(PartialRule::Multilinear, {0, 1});
  return rule;
}

LayoutRule FusedMatmulOp::getLayoutRule() {
  SmallVector<StringRef, 2> extra;
  if (getBias())
    extra.push_back(getBiasIndices());
  if (getAddend())
    extra.push_back(getResultIndices());
  LayoutRule rule = contractionRule(*this, extra);
  // A bias is added once: the product must be whole. An addend is partial as the product is.
  rule.needsWholeResult = static_cast<bool>(getBias());
  if (getAddend())
    rule.likeResult = rule.operands.size() - 1;
  rule.linear.assign(rule.operands.size(), false);
  return rule;
}

/// The dims of an image or kernel: two given indices, then whole spatial dims of its own.
static ValueIndices windowDims(LayoutRule &rule, unsigned first, unsigned second, ArrayRef<int64_t> shape) {
  ValueIndices value = {{first}, {second}};
  for (int64_t size : shape.drop_front(2))
    value.push_back({rule.addIndex(size, IndexKind::Whole)});
  return value;
}

/// The rule of a convolution and its gradients: batch n, input channels c, output channels m; `summed` is contracted.
/// With groups the channels stay whole.
static LayoutRule convolutionRule(char summed, uint64_t groups, Value input, Value weight, Value result,
                                  StringRef order) {
  LayoutRule rule;
  auto kindOf = [&](char index) {
    if (index != 'n' && groups != 1)
      return IndexKind::Whole;
    return index == summed ? IndexKind::Sum : IndexKind::Parallel;
  };
  unsigned n = rule.addIndex(shapeOfTensor(input)[0], kindOf('n'));
  unsigned c = rule.addIndex(shapeOfTensor(input)[1], kindOf('c'));
  unsigned m = rule.addIndex(shapeOfTensor(weight)[0], kindOf('m'));
  // With groups the weight's second dim is c / groups.
  unsigned weightC = groups == 1 ? c : rule.addIndex(shapeOfTensor(weight)[1], IndexKind::Whole);
  for (char tensor : order) {
    ValueIndices value = tensor == 'i'   ? windowDims(rule, n, c, shapeOfTensor(input))
                         : tensor == 'w' ? windowDims(rule, m, weightC, shapeOfTensor(weight))
                                         : windowDims(rule, n, m, shapeOfTensor(result));
    if (rule.operands.size() < 2)
      rule.operands.push_back(value);
    else
      rule.results.push_back(value);
  }
  rule.setLinear(PartialRule::Multilinear, {0, 1});
  return rule;
}

LayoutRule ConvolutionOp::getLayoutRule() {
  return convolutionRule('c', getGroups(), getInput(), getWeight(), getResult(), "iwo");
}
LayoutRule ConvolutionGradInputOp::getLayoutRule() {
  return convolutionRule('m', getGroups(), getResult(), getWeight(), getGradient(), "woi");
}
LayoutRule ConvolutionGradWeightOp::getLayoutRule() {
  return convolutionRule('n', getGroups(), getInput(), getResult(), getGradient(), "iow");
}

LayoutRule MaxPoolOp::getLayoutRule() {
  LayoutRule rule;
  unsigned n = rule.addIndex(shapeOfTensor(getInput())[0]), c = rule.addIndex(shapeOfTensor(getInput())[1]);
  rule.operands = {windowDims(rule, n, c, shapeOfTensor(getInput()))};
  rule.results = {windowDims(rule, n, c, shapeOfTensor(getResult()))};
  return rule;
}

LayoutRule MaxPoolGradOp::getLayoutRule() {
  LayoutRule rule;
  unsigned n = rule.addIndex(shapeOfTensor(getInput())[0]), c = rule.addIndex(shapeOfTensor(getInput())[1]);
  ValueIndices image = windowDims(rule, n, c, shapeOfTensor(getInput()));
  rule.operands = {image, windowDims(rule, n, c, shapeOfTensor(getGradient()))};
  rule.results = {image};
  return rule;
}

//===----------------------------------------------------------------------===//
// Along a dim
//===----------------------------------------------------------------------===//

/// All dims parallel but `dim`, which is whole; one operand and one result alike.
static LayoutRule alongDimRule(ArrayRef<int64_t> shape, int64_t dim) {
  LayoutRule rule;
  ValueIndices value = rule.addDims(shape);
  rule.indices[value[dim][0]].kind = IndexKind::Whole;
  rule.operands = {value};
  rule.results = {value};
  return rule;
}

LayoutRule SoftmaxOp::getLayoutRule() { return alongDimRule(shapeOfTensor(getInput()), getDim()); }
LayoutRule LogSoftmaxOp::getLayoutRule() { return alongDimRule(shapeOfTensor(getInput()), getDim()); }

/// The last rank(scale) dims are whole, and are those of scale and bias.
static LayoutRule normRule(Operation *op) {
  LayoutRule rule;
  ValueIndices value = rule.addDims(shapeOfTensor(op->getOperand(0)));
  ValueIndices row(ArrayRef(value).take_back(shapeOfTensor(op->getOperand(1)).size()));
  for (ArrayRef<unsigned> dim : row)
    rule.indices[dim[0]].kind = IndexKind::Whole;
  rule.operands.assign(op->getNumOperands(), row);
  rule.operands[0] = value;
  rule.results = {value};
  return rule;
}

LayoutRule LayerNormOp::getLayoutRule() { return normRule(*this); }
LayoutRule RmsNormOp::getLayoutRule() { return normRule(*this); }

LayoutRule GeluOp::getLayoutRule() { return elementwiseRule(*this); }
LayoutRule SiluOp::getLayoutRule() { return elementwiseRule(*this); }
LayoutRule AdamUpdateOp::getLayoutRule() { return elementwiseRule(*this); }
LayoutRule SgdUpdateOp::getLayoutRule() { return elementwiseRule(*this); }

LayoutRule ReduceOp::getLayoutRule() {
  ReduceKind kind = static_cast<ReduceKind>(getKind());
  IndexKind folded = kind == ReduceKind::Sum   ? IndexKind::Sum
                     : kind == ReduceKind::Max ? IndexKind::Max
                     : kind == ReduceKind::Min ? IndexKind::Min
                                               : IndexKind::Whole;
  LayoutRule rule;
  ValueIndices value = rule.addDims(shapeOfTensor(getInput())), kept;
  for (auto [dim, indices] : llvm::enumerate(value)) {
    if (llvm::is_contained(getDims(), static_cast<int64_t>(dim)))
      rule.indices[indices[0]].kind = folded;
    else
      kept.push_back(indices);
  }
  rule.operands = {value};
  rule.results = {kept};
  rule.setLinear(PartialRule::Multilinear, {0}, {kind});
  return rule;
}

LayoutRule CrossEntropyOp::getLayoutRule() {
  LayoutRule rule;
  ValueIndices logits = rule.addDims(shapeOfTensor(getLogits()));
  rule.indices[logits.back()[0]].kind = IndexKind::Whole;
  ValueIndices rows(ArrayRef(logits).drop_back());
  rule.operands = {logits, rows};
  rule.results = {rows};
  return rule;
}

LayoutRule CrossEntropyGradOp::getLayoutRule() {
  LayoutRule rule;
  ValueIndices logits = rule.addDims(shapeOfTensor(getLogits()));
  rule.indices[logits.back()[0]].kind = IndexKind::Whole;
  ValueIndices rows(ArrayRef(logits).drop_back());
  rule.operands = {logits, rows, rows};
  rule.results = {logits};
  return rule;
}

//===----------------------------------------------------------------------===//
// Shapes: every fold passes
//===----------------------------------------------------------------------===//

static LayoutRule movementRule(LayoutRule rule) {
  SmallVector<unsigned> all = llvm::to_vector(llvm::seq<unsigned>(0, rule.operands.size()));
  rule.setLinear(all.size() > 1 ? PartialRule::Additive : PartialRule::Multilinear, all, kAllFolds);
  return rule;
}

LayoutRule BroadcastOp::getLayoutRule() {
  LayoutRule rule;
  ValueIndices result = rule.addDims(shapeOfTensor(getResult())), input;
  for (int64_t dim : getDims())
    input.push_back(result[dim]);
  rule.operands = {input};
  rule.results = {result};
  rule.allowsFlat = input.empty(); // a scalar is the same on every element
  return movementRule(rule);
}

LayoutRule TransposeOp::getLayoutRule() {
  LayoutRule rule;
  ValueIndices input = rule.addDims(shapeOfTensor(getInput())), result;
  for (int64_t dim : getPermutation())
    result.push_back(input[dim]);
  rule.operands = {input};
  rule.results = {result};
  return movementRule(rule);
}

/// Cuts both shapes at the places where the products of their leading dims agree, and inside at the greatest common
/// divisors.
LayoutRule ReshapeOp::getLayoutRule() {
  LayoutRule rule;
  ArrayRef<int64_t> input = shapeOfTensor(getInput()), result = shapeOfTensor(getResult());
  ValueIndices inputDims(input.size()), resultDims(result.size());
  bool isEmpty = llvm::is_contained(input, 0);
  // The part of the current dim of each side that is not yet covered, seen from the minor end.
  size_t i = input.size(), j = result.size();
  int64_t restI = 1, restJ = 1;
  while (!isEmpty && (i > 0 || restI > 1 || j > 0 || restJ > 1)) {
    while (restI == 1 && i > 0)
      restI = input[--i];
    while (restJ == 1 && j > 0)
      restJ = result[--j];
    int64_t common = std::gcd(restI, restJ);
    if (restI == 1 && restJ == 1)
      break;
    if (common == 1) {
      // No common cut: one index over the rest of both groups cannot be said, so these dims stay whole.
      inputDims[i].insert(inputDims[i].begin(), rule.addIndex(restI, IndexKind::Whole));
      resultDims[j].insert(resultDims[j].begin(), rule.addIndex(restJ, IndexKind::Whole));
      int64_t left = restI, right = restJ;
      while (left != right) {
        bool takeLeft = left < right;
        int64_t size = takeLeft ? input[--i] : result[--j];
        (takeLeft ? inputDims[i] : resultDims[j])
            .insert(takeLeft ? inputDims[i].begin() : resultDims[j].begin(), rule.addIndex(size, IndexKind::Whole));
        (takeLeft ? left : right) *= size;
      }
      restI = restJ = 1;
      continue;
    }
    unsigned index = rule.addIndex(common);
    inputDims[i].insert(inputDims[i].begin(), index);
    resultDims[j].insert(resultDims[j].begin(), index);
    restI /= common;
    restJ /= common;
  }
  if (isEmpty) {
    inputDims = rule.addDims(input, IndexKind::Whole);
    resultDims = rule.addDims(result, IndexKind::Whole);
  }
  rule.operands = {inputDims};
  rule.results = {resultDims};
  return movementRule(rule);
}

/// A dim of `size` as whole leading parts and a shared index of `shared` elements; just the shared one if they are
/// equal.
static SmallVector<unsigned, 2> partsOf(LayoutRule &rule, int64_t size, unsigned shared) {
  int64_t inner = rule.indices[shared].size;
  if (inner == size)
    return {shared};
  return {rule.addIndex(inner ? size / inner : size, IndexKind::Whole), shared};
}

/// A dim of which a part [offset, offset + part) is taken or filled: both sides see it as parts of the common divisor.
static void addPart(LayoutRule &rule, ValueIndices &whole, ValueIndices &part, int64_t size, int64_t partSize,
                    int64_t offset) {
  int64_t common = std::gcd(std::gcd(size, partSize), offset);
  if (common <= 1 || partSize == 0) {
    whole.push_back({rule.addIndex(size, IndexKind::Whole)});
    part.push_back({rule.addIndex(partSize, IndexKind::Whole)});
    return;
  }
  unsigned shared = rule.addIndex(common);
  whole.push_back(partsOf(rule, size, shared));
  part.push_back(partsOf(rule, partSize, shared));
}

LayoutRule SliceOp::getLayoutRule() {
  LayoutRule rule;
  ValueIndices inputDims, resultDims;
  for (auto [size, part, offset, stride] :
       llvm::zip_equal(shapeOfTensor(getInput()), shapeOfTensor(getResult()), getOffsets(), getStrides())) {
    if (size == part && offset == 0 && stride == 1) {
      inputDims.push_back({rule.addIndex(size)});
      resultDims.push_back(inputDims.back());
    } else if (stride == 1) {
      addPart(rule, inputDims, resultDims, size, part, offset);
    } else {
      inputDims.push_back({rule.addIndex(size, IndexKind::Whole)});
      resultDims.push_back({rule.addIndex(part, IndexKind::Whole)});
    }
  }
  rule.operands = {inputDims};
  rule.results = {resultDims};
  return movementRule(rule);
}

LayoutRule PadOp::getLayoutRule() {
  LayoutRule rule;
  ValueIndices inputDims, resultDims;
  for (auto [part, size, low, interior] :
       llvm::zip_equal(shapeOfTensor(getInput()), shapeOfTensor(getResult()), getLow(), getInterior())) {
    if (size == part && low == 0 && interior == 0) {
      inputDims.push_back({rule.addIndex(size)});
      resultDims.push_back(inputDims.back());
    } else if (interior == 0) {
      addPart(rule, resultDims, inputDims, size, part, low);
    } else {
      inputDims.push_back({rule.addIndex(part, IndexKind::Whole)});
      resultDims.push_back({rule.addIndex(size, IndexKind::Whole)});
    }
  }
  rule.operands = {inputDims};
  rule.results = {resultDims};
  // Zeros are neutral for sums alone.
  rule.setLinear(PartialRule::Multilinear, {0});
  return rule;
}

LayoutRule ConcatOp::getLayoutRule() {
  LayoutRule rule;
  ValueIndices result = rule.addDims(shapeOfTensor(getResult()));
  size_t dim = getDim();
  int64_t common = 0;
  for (Value input : getInputs())
    common = std::gcd(common, shapeOfTensor(input)[dim]);
  int64_t total = shapeOfTensor(getResult())[dim];
  rule.indices[result[dim][0]] = {common ? common : 1, common > 1 ? IndexKind::Parallel : IndexKind::Whole};
  unsigned shared = result[dim][0];
  for (Value input : getInputs()) {
    ValueIndices value = result;
    value[dim] = partsOf(rule, shapeOfTensor(input)[dim], shared);
    rule.operands.push_back(value);
  }
  result[dim] = partsOf(rule, total, shared);
  rule.results = {result};
  return movementRule(rule);
}

LayoutRule IotaOp::getLayoutRule() {
  LayoutRule rule;
  rule.results = {rule.addDims(shapeOfTensor(getResult()))};
  return rule;
}

LayoutRule TakePartOp::getLayoutRule() {
  LayoutRule rule;
  ValueIndices result = rule.addDims(shapeOfTensor(getResult()));
  ValueIndices input = result;
  input[0].insert(input[0].begin(), rule.addIndex(getParts(), IndexKind::Whole));
  rule.operands = {input, {}};
  rule.results = {result};
  rule.setLinear(PartialRule::Multilinear, {0}, kAllFolds);
  return rule;
}

//===----------------------------------------------------------------------===//
// Indexing
//===----------------------------------------------------------------------===//

LayoutRule GatherRowsOp::getLayoutRule() {
  LayoutRule rule;
  ValueIndices table = rule.addDims(shapeOfTensor(getTable())), ids = rule.addDims(shapeOfTensor(getIds()));
  rule.indices[table[0][0]].kind = IndexKind::Sum;
  ValueIndices result = ids;
  llvm::append_range(result, ArrayRef(table).drop_front());
  rule.operands = {table, ids};
  rule.results = {result};
  rule.setLinear(PartialRule::Multilinear, {0});
  return rule;
}

LayoutRule ScatterAddRowsOp::getLayoutRule() {
  LayoutRule rule;
  ValueIndices ids = rule.addDims(shapeOfTensor(getIds()), IndexKind::Sum),
               table = rule.addDims(shapeOfTensor(getResult()));
  ValueIndices updates = ids;
  llvm::append_range(updates, ArrayRef(table).drop_front());
  rule.operands = {ids, updates};
  rule.results = {table};
  rule.setLinear(PartialRule::Multilinear, {1});
  return rule;
}

/// Two values alike but for `dim`, which is whole in both.
static std::pair<ValueIndices, ValueIndices> addAlongDim(LayoutRule &rule, ArrayRef<int64_t> first,
                                                         ArrayRef<int64_t> second, int64_t dim) {
  ValueIndices a = rule.addDims(first), b = a;
  rule.indices[a[dim][0]].kind = IndexKind::Whole;
  b[dim] = {rule.addIndex(second[dim], IndexKind::Whole)};
  return {a, b};
}

LayoutRule GatherElementsOp::getLayoutRule() {
  LayoutRule rule;
  auto [data, ids] = addAlongDim(rule, shapeOfTensor(getInput()), shapeOfTensor(getIds()), getDim());
  rule.operands = {data, ids};
  rule.results = {ids};
  rule.setLinear(PartialRule::Multilinear, {0});
  return rule;
}

LayoutRule ScatterElementsOp::getLayoutRule() {
  LayoutRule rule;
  auto [data, ids] = addAlongDim(rule, shapeOfTensor(getResult()), shapeOfTensor(getIds()), getDim());
  rule.operands = {ids, ids};
  rule.results = {data};
  rule.setLinear(PartialRule::Multilinear, {1});
  return rule;
}

LayoutRule TopKOp::getLayoutRule() {
  LayoutRule rule;
  auto [data, picked] = addAlongDim(rule, shapeOfTensor(getInput()), shapeOfTensor(getValues()), getDim());
  rule.operands = {data};
  rule.results = {picked, picked};
  return rule;
}

//===----------------------------------------------------------------------===//
// Attention: batch and heads are parallel
//===----------------------------------------------------------------------===//

namespace {
struct AttentionIndices {
  ValueIndices query, key, value, result, bias;
};
} // namespace

static AttentionIndices addAttention(LayoutRule &rule, ArrayRef<int64_t> query, ArrayRef<int64_t> key,
                                     ArrayRef<int64_t> value, Value bias) {
  unsigned batch = rule.addIndex(query[0]), keyHeads = rule.addIndex(key[1]), group = rule.addIndex(query[1] / key[1]);
  unsigned rows = rule.addIndex(query[2], IndexKind::Whole), columns = rule.addIndex(key[2], IndexKind::Whole);
  unsigned width = rule.addIndex(query[3], IndexKind::Whole), valueWidth = rule.addIndex(value[3], IndexKind::Whole);
  AttentionIndices indices;
  indices.query = {{batch}, {keyHeads, group}, {rows}, {width}};
  indices.key = {{batch}, {keyHeads}, {columns}, {width}};
  indices.value = {{batch}, {keyHeads}, {columns}, {valueWidth}};
  indices.result = {{batch}, {keyHeads, group}, {rows}, {valueWidth}};
  indices.bias = {{batch}, {keyHeads, group}, {rows}, {columns}};
  if (bias)
    for (auto [dim, size] : llvm::enumerate(shapeOfTensor(bias)))
      if (size == 1)
        indices.bias[dim].clear();
  return indices;
}

LayoutRule AttentionOp::getLayoutRule() {
  LayoutRule rule;
  AttentionIndices a =
      addAttention(rule, shapeOfTensor(getQuery()), shapeOfTensor(getKey()), shapeOfTensor(getValue()), getBias());
  rule.operands = {a.query, a.key, a.value};
  if (getBias())
    rule.operands.push_back(a.bias);
  rule.results = {a.result};
  return rule;
}

LayoutRule AttentionGradOp::getLayoutRule() {
  LayoutRule rule;
  AttentionIndices a =
      addAttention(rule, shapeOfTensor(getQuery()), shapeOfTensor(getKey()), shapeOfTensor(getValue()), getBias());
  rule.operands = {a.query, a.key, a.value, a.result};
  if (getBias())
    rule.operands.push_back(a.bias);
  rule.results = {a.query, a.key, a.value};
  return rule;
}

LayoutRule RotaryEmbeddingOp::getLayoutRule() {
  LayoutRule rule;
  ValueIndices value = rule.addDims(shapeOfTensor(getInput()));
  rule.indices[value.back()[0]].kind = IndexKind::Whole;
  unsigned half = rule.addIndex(shapeOfTensor(getCosine())[1], IndexKind::Whole);
  ValueIndices angles = {value[value.size() - 2], {half}};
  rule.operands = {value, angles, angles};
  rule.results = {value};
  rule.setLinear(PartialRule::Multilinear, {0});
  return rule;
}
