// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// Contractions. Transposed and broadcast operands become indices, never ops.

#include "Registry.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace ds::onnx_import;

namespace {
/// Letters of numpy's matmul: batch letters a.. by their distance from the right, then m, k and n.
struct MatmulIndices {
  std::string lhs, rhs, result;
};
} // namespace

static char batchLetter(int64_t fromRight) { return static_cast<char>('a' + fromRight % 10); }

/// The operand without batch dims of size 1 that the other broadcasts, and the letters of those that stay.
static Tensor dropUnitBatch(TensorBuilder &build, const Tensor &operand, const Tensor &other, std::string &letters) {
  Dims kept;
  int64_t batch = operand.rank() - 2, otherBatch = other.rank() - 2;
  for (int64_t dim = 0; dim < batch; ++dim) {
    int64_t fromRight = batch - 1 - dim, otherDim = otherBatch - 1 - fromRight;
    if (operand.shape()[dim] == 1 && otherDim >= 0 && other.shape()[otherDim] != 1)
      continue;
    letters.push_back(batchLetter(fromRight));
    kept.push_back(operand.shape()[dim]);
  }
  llvm::append_range(kept, operand.shape().drop_front(std::max<int64_t>(batch, 0)));
  return build.reshape(operand, kept);
}

static LogicalResult importMatmul(NodeContext &context) {
  const Tensor &lhs = context.input(0), &rhs = context.input(1);
  if (failed(context.expectSameElement(0, 1)) || failed(context.expectFloat(0)) ||
      failed(context.expectRank(0, 1, 10)) || failed(context.expectRank(1, 1, 10)))
    return failure();
  int64_t depth = lhs.shape().back(), rhsDepth = rhs.shape()[std::max<int64_t>(rhs.rank() - 2, 0)];
  if (depth != rhsDepth)
    return context.malformed("must contract dims of one size, got shapes " + textOf(lhs.shape()) + " and " +
                             textOf(rhs.shape()));
  Dims none;
  DimsRef lhsBatch = lhs.rank() > 2 ? lhs.shape().drop_back(2) : DimsRef(none);
  DimsRef rhsBatch = rhs.rank() > 2 ? rhs.shape().drop_back(2) : DimsRef(none);
  FailureOr<Dims> batch = context.broadcast(lhsBatch, rhsBatch);
  if (failed(batch))
    return failure();
  MatmulIndices indices;
  Tensor left = dropUnitBatch(context.build, lhs, rhs, indices.lhs),
         right = dropUnitBatch(context.build, rhs, lhs, indices.rhs);
  for (int64_t dim = batch->size(); dim-- > 0;)
    indices.result.push_back(batchLetter(dim));
  Dims shape = *batch;
  if (lhs.rank() > 1) {
    indices.lhs.push_back('m'), indices.result.push_back('m');
    shape.push_back(lhs.shape()[lhs.rank() - 2]);
  }
  indices.lhs.push_back('k'), indices.rhs.push_back('k');
  if (rhs.rank() > 1) {
    indices.rhs.push_back('n'), indices.result.push_back('n');
    shape.push_back(rhs.shape().back());
  }
  if (failed(context.expectShape(shape)))
    return failure();
  return context.finish(context.build.matmul(left, right, indices.lhs, indices.rhs, indices.result));
}

/// Scales by a factor, unless it is 1.
static Tensor scaled(TensorBuilder &build, const Tensor &tensor, double factor) {
  return factor == 1 ? tensor : build.binary(Binary::Mul, tensor, build.scalar(tensor, factor));
}

static LogicalResult importGemm(NodeContext &context) {
  const Tensor &lhs = context.input(0), &rhs = context.input(1);
  if (failed(context.expectSameElement(0, 1)) || failed(context.expectFloat(0)) ||
      failed(context.expectRank(0, 2, 2)) || failed(context.expectRank(1, 2, 2)))
    return failure();
  bool transA = context.intAttribute("transA", 0) != 0, transB = context.intAttribute("transB", 0) != 0;
  if (lhs.shape()[transA ? 0 : 1] != rhs.shape()[transB ? 1 : 0])
    return context.malformed("must contract dims of one size, got shapes " + textOf(lhs.shape()) + " and " +
                             textOf(rhs.shape()));
  Dims shape = {lhs.shape()[transA ? 1 : 0], rhs.shape()[transB ? 0 : 1]};
  if (failed(context.expectShape(shape)))
    return failure();
  Tensor product = context.build.matmul(lhs, rhs, transA ? "km" : "mk", transB ? "nk" : "kn", "mn");
  product = scaled(context.build, product, context.floatAttribute("alpha", 1));
  if (!context.hasInput(2))
    return context.finish(product);
  FailureOr<Dims> sum = context.broadcast(shape, context.input(2).shape());
  if (failed(context.expectSameElement(0, 2)) || failed(sum))
    return failure();
  if (*sum != shape)
    return context.malformed("must have an input 2 that broadcasts to " + textOf(shape) + ", got " +
                             textOf(context.input(2).shape()));
  Tensor bias = scaled(context.build, context.input(2), context.floatAttribute("beta", 1));
  return context.finish(context.build.binary(Binary::Add, product, bias));
}

/// An einsum of two operands whose letters are each in two tensors at least.
static LogicalResult importEinsum(NodeContext &context) {
  std::string equation = context.stringAttribute("equation", "");
  llvm::erase(equation, ' ');
  auto [operands, result] = StringRef(equation).split("->");
  auto [lhs, rhs] = operands.split(',');
  if (context.inputs.size() != 2 || !context.hasInput(1) || rhs.contains(',') || !StringRef(equation).contains("->") ||
      StringRef(equation).contains('.'))
    return context.unsupported("must have two operands and explicit letters, got '" + equation + "'");
  if (failed(context.expectSameElement(0, 1)) || failed(context.expectFloat(0)))
    return failure();
  std::map<char, std::pair<int64_t, int>> sizes;
  for (auto [letters, tensor] : {std::pair(lhs, context.input(0)), std::pair(rhs, context.input(1))}) {
    if (static_cast<int64_t>(letters.size()) != tensor.rank())
      return context.malformed("must have a letter per dim, got '" + equation + "'");
    for (auto [letter, size] : llvm::zip_equal(letters, tensor.shape())) {
      auto &entry = sizes.try_emplace(letter, size, 0).first->second;
      if (entry.first != size || letters.count(letter) != 1)
        return context.unsupported("must have one size per letter and each once per operand, got '" + equation + "'");
      ++entry.second;
    }
  }
  Dims shape;
  for (char letter : result) {
    if (!sizes.count(letter) || result.count(letter) != 1)
      return context.malformed("must have letters of operands in its result, got '" + equation + "'");
    shape.push_back(sizes[letter].first);
    ++sizes[letter].second;
  }
  for (const auto &entry : sizes)
    if (entry.second.second < 2 || !llvm::isAlpha(entry.first))
      return context.unsupported("must have each letter in two tensors, got '" + equation + "'");
  if (failed(context.expectShape(shape)))
    return failure();
  return context.finish(context.build.matmul(context.input(0), context.input(1), lhs.str(), rhs.str(), result));
}

void ds::onnx_import::addMatmulOps(Registry &registry) {
  registry.add("MatMul", 1, 2, 2, importMatmul);
  registry.add("Gemm", 7, 3, 3, importGemm);
  registry.add("Gemm", 11, 2, 3, importGemm);
  registry.add("Einsum", 12, 1, kAnyNumber, importEinsum);
}
