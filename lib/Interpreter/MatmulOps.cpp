// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "Semantics.h"

#include "ds/Dialect/DsDialect.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace ds;

namespace {
/// The letters of a contraction by their part in it: of both operands and the result, of one operand and the result,
/// summed.
struct ContractionLetters {
  std::string batch, rows, columns, summed;
};
} // namespace

template <typename OpT> static ContractionLetters lettersOf(OpT op) {
  ContractionLetters letters;
  StringRef lhs = op.getLhsIndices(), rhs = op.getRhsIndices(), result = op.getResultIndices();
  for (char letter : result)
    (lhs.contains(letter) ? rhs.contains(letter) ? letters.batch : letters.rows : letters.columns) += letter;
  for (char letter : lhs)
    if (!result.contains(letter))
      letters.summed += letter;
  return letters;
}

/// The place in `from` of each letter of `to`.
static SmallVector<unsigned> permutationTo(StringRef from, StringRef to) {
  SmallVector<unsigned> permutation;
  for (char letter : to)
    permutation.push_back(from.find(letter));
  return permutation;
}

/// result[b, m, n] += sum over k, ascending, of lhs[b, m, k] rhs[b, k, n].
static void multiply(const double *lhs, const double *rhs, double *result, const std::array<int64_t, 4> &sizes) {
  const auto [batches, rows, columns, summed] = sizes;
  for (int64_t b = 0; b < batches; ++b, lhs += rows * summed, rhs += summed * columns, result += rows * columns)
    for (int64_t m = 0; m < rows; ++m)
      for (int64_t k = 0; k < summed; ++k) {
        const double factor = lhs[m * summed + k];
        const double *in = rhs + k * columns;
        double *out = result + m * columns;
        for (int64_t n = 0; n < columns; ++n)
          out[n] += factor * in[n];
      }
}

template <typename OpT> static LogicalResult contract(LocalCall &call) {
  auto op = cast<OpT>(call.op);
  const ContractionLetters letters = lettersOf(op);
  std::map<char, int64_t> sizes;
  auto addSizes = [&](StringRef names, const Shape &shape) {
    return llvm::all_of(llvm::zip_equal(names, shape), [&](auto pair) {
      return sizes.emplace(std::get<0>(pair), std::get<1>(pair)).first->second == std::get<1>(pair);
    });
  };
  if (!addSizes(op.getLhsIndices(), call.operand(0).shape) || !addSizes(op.getRhsIndices(), call.operand(1).shape) ||
      !addSizes(op.getResultIndices(), call.result().shape))
    return call.fail("each index must have one local size");
  auto sizeOf = [&](const std::string &names) {
    int64_t size = 1;
    for (char letter : names)
      size *= sizes[letter];
    return size;
  };
  const DenseTensor lhs =
      permuted(call.operand(0), permutationTo(op.getLhsIndices(), letters.batch + letters.rows + letters.summed));
  const DenseTensor rhs =
      permuted(call.operand(1), permutationTo(op.getRhsIndices(), letters.batch + letters.summed + letters.columns));
  const std::string order = letters.batch + letters.rows + letters.columns;
  Shape shape;
  for (char letter : order)
    shape.push_back(sizes[letter]);
  DenseTensor product = DenseTensor::zeros(shape, true);
  multiply(lhs.floats.data(), rhs.floats.data(), product.floats.data(),
           {sizeOf(letters.batch), sizeOf(letters.rows), sizeOf(letters.columns), sizeOf(letters.summed)});
  call.result() = permuted(product, permutationTo(order, op.getResultIndices()));
  return success();
}

/// Adds the bias, repeated along the other indices, and the addend; then activates.
static LogicalResult fusedMatmul(LocalCall &call) {
  if (failed(contract<FusedMatmulOp>(call)))
    return failure();
  auto op = cast<FusedMatmulOp>(call.op);
  DenseTensor &result = call.result();
  unsigned next = 2;
  if (op.getBias()) {
    const DenseTensor &bias = call.operand(next++);
    const SmallVector<unsigned> places = permutationTo(op.getResultIndices(), op.getBiasIndices());
    for (size_t i = 0; i < result.floats.size(); ++i) {
      // The coordinates of element i, minor first.
      SmallVector<int64_t> coordinates(result.shape.size());
      int64_t rest = i;
      for (size_t dim = result.shape.size(); dim-- > 0; rest /= result.shape[dim])
        coordinates[dim] = rest % result.shape[dim];
      int64_t at = 0;
      for (auto [dim, place] : llvm::enumerate(places))
        at = at * bias.shape[dim] + coordinates[place];
      result.floats[i] += bias.floats[at];
    }
  }
  if (op.getAddend())
    for (auto [sum, added] : llvm::zip_equal(result.floats, call.operand(next).floats))
      sum += added;
  for (double &element : result.floats)
    element = activate(op.getActivation(), element);
  return success();
}

void ds::addMatmulOps(SemanticsTable &table) {
  table.add<MatmulOp>(contract<MatmulOp>);
  table.add<FusedMatmulOp>(fusedMatmul);
}
