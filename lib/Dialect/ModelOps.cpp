// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// Verifiers of the model ops: shapes and attributes. Layouts are checked by `ds-verify-layouts`.

#include "ds/Dialect/DsDialect.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace ds;

#define GET_OP_CLASSES
#include "ds/Dialect/DsOps.cpp.inc"

//===----------------------------------------------------------------------===//
// Checks that many ops share
//===----------------------------------------------------------------------===//

static LogicalResult verifyDim(Operation *op, int64_t dim, int64_t rank) {
  if (dim >= 0 && dim < rank)
    return success();
  return op->emitOpError("dim must be in [0, ") << rank << "), got " << dim;
}

static LogicalResult verifyShape(Operation *op, StringRef what, ArrayRef<int64_t> shape, ArrayRef<int64_t> expected) {
  if (shape == expected)
    return success();
  InFlightDiagnostic diagnostic = op->emitOpError();
  diagnostic << what << " must have shape [";
  llvm::interleaveComma(expected, diagnostic);
  diagnostic << "], got [";
  llvm::interleaveComma(shape, diagnostic);
  return diagnostic << "]";
}

/// Checks that `dims` is ascending and inside [0, rank).
static LogicalResult verifyAscendingDims(Operation *op, ArrayRef<int64_t> dims, int64_t rank) {
  int64_t last = -1;
  for (int64_t dim : dims) {
    if (dim <= last || dim >= rank)
      return op->emitOpError("dims must be ascending and in [0, ") << rank << "), got " << dim << " after " << last;
    last = dim;
  }
  return success();
}

static LogicalResult verifyLength(Operation *op, StringRef what, size_t length, size_t expected) {
  if (length == expected)
    return success();
  return op->emitOpError() << what << " must have " << expected << " entries, got " << length;
}

//===----------------------------------------------------------------------===//
// Matmul
//===----------------------------------------------------------------------===//

static StringRef lhsIndices(StringRef indices) { return indices.split(',').first; }
static StringRef rhsIndices(StringRef indices) { return indices.split(',').second.split("->").first; }
static StringRef resultIndices(StringRef indices) { return indices.split("->").second; }

StringRef MatmulOp::getLhsIndices() { return lhsIndices(getIndices()); }
StringRef MatmulOp::getRhsIndices() { return rhsIndices(getIndices()); }
StringRef MatmulOp::getResultIndices() { return resultIndices(getIndices()); }
StringRef FusedMatmulOp::getLhsIndices() { return lhsIndices(getIndices()); }
StringRef FusedMatmulOp::getRhsIndices() { return rhsIndices(getIndices()); }
StringRef FusedMatmulOp::getResultIndices() { return resultIndices(getIndices()); }

template <typename OpT> static LogicalResult verifyContraction(OpT op) {
  struct Side {
    StringRef letters;
    RankedTensorType type;
    StringRef name;
  };
  const Side sides[] = {{op.getLhsIndices(), op.getLhs().getType(), "left operand"},
                        {op.getRhsIndices(), op.getRhs().getType(), "right operand"},
                        {op.getResultIndices(), op.getType(), "result"}};
  llvm::SmallDenseMap<char, std::pair<int64_t, int>> sizes; // letter -> size, number of tensors
  for (const Side &side : sides) {
    if (failed(
            verifyLength(op, (Twine("indices of the ") + side.name).str(), side.letters.size(), side.type.getRank())))
      return failure();
    for (auto [letter, size] : llvm::zip_equal(side.letters, side.type.getShape())) {
      if (!llvm::isAlpha(letter) || side.letters.count(letter) != 1)
        return op.emitOpError("indices must be letters, each once per tensor, got \"") << op.getIndices() << "\"";
      auto [it, isNew] = sizes.try_emplace(letter, size, 0);
      if (it->second.first != size)
        return op.emitOpError("index '") << letter << "' must have one size, got " << it->second.first << " and "
                                         << size;
      ++it->second.second;
    }
  }
  for (auto [letter, entry] : sizes)
    if (entry.second < 2)
      return op.emitOpError("index '") << letter << "' must be in two tensors at least";
  return success();
}

LogicalResult MatmulOp::verify() { return verifyContraction(*this); }

LogicalResult FusedMatmulOp::verify() {
  if (failed(verifyContraction(*this)))
    return failure();
  if (getAddend() && getAddend().getType() != getType())
    return emitOpError("addend must have the result's type, got ") << getAddend().getType();
  if (!getBias())
    return success();
  SmallVector<int64_t> expected;
  for (char letter : getBiasIndices()) {
    size_t place = getResultIndices().find(letter);
    if (place == StringRef::npos)
      return emitOpError("bias must run over indices of the result, got '") << letter << "'";
    expected.push_back(getType().getDimSize(place));
  }
  return verifyShape(*this, "bias", getBias().getType().getShape(), expected);
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

template <typename OpT>
static LogicalResult verifyWindow(OpT op, ArrayRef<int64_t> input, ArrayRef<int64_t> kernel, ArrayRef<int64_t> result) {
  size_t spatial = input.size() - 2;
  if (failed(verifyLength(op, "strides", op.getStrides().size(), spatial)) ||
      failed(verifyLength(op, "dilations", op.getDilations().size(), spatial)) ||
      failed(verifyLength(op, "pads", op.getPads().size(), 2 * spatial)))
    return failure();
  for (size_t i = 0; i < spatial; ++i) {
    if (op.getStrides()[i] < 1 || op.getDilations()[i] < 1 || op.getPads()[i] < 0 || op.getPads()[spatial + i] < 0)
      return op.emitOpError("strides and dilations must be >= 1 and pads >= 0");
    int64_t window = (kernel[i] - 1) * op.getDilations()[i] + 1;
    int64_t padded = input[2 + i] + op.getPads()[i] + op.getPads()[spatial + i];
    int64_t room = padded - window;
    // A pool may round up: its last window then reaches past the padding.
    int64_t low = room < 0 ? 0 : room / op.getStrides()[i] + 1,
            high = low + (isa<MaxPoolOp>(op) && room % op.getStrides()[i] ? 1 : 0);
    if (result[2 + i] < low || result[2 + i] > high)
      return op.emitOpError("spatial dim ") << i << " of the result must be " << low << ", got " << result[2 + i];
  }
  return success();
}

LogicalResult ConvolutionOp::verify() {
  ArrayRef<int64_t> input = getInput().getType().getShape(), weight = getWeight().getType().getShape();
  ArrayRef<int64_t> result = getType().getShape();
  if (input.size() < 3 || weight.size() != input.size() || result.size() != input.size())
    return emitOpError("must have tensors of one rank >= 3");
  if (getGroups() < 1 || weight[1] * static_cast<int64_t>(getGroups()) != input[1] || weight[0] % getGroups())
    return emitOpError("weight must have ")
           << input[1] << " / groups input channels and a multiple of groups output channels, got " << weight[1]
           << " and " << weight[0] << " for " << getGroups() << " groups";
  if (result[0] != input[0] || result[1] != weight[0])
    return emitOpError("result must start with [")
           << input[0] << ", " << weight[0] << "], got [" << result[0] << ", " << result[1] << "]";
  return verifyWindow(*this, input, weight.drop_front(2), result);
}

LogicalResult MaxPoolOp::verify() {
  ArrayRef<int64_t> input = getInput().getType().getShape(), result = getType().getShape();
  if (input.size() < 3 || result.size() != input.size() || result.take_front(2) != input.take_front(2))
    return emitOpError("result must have the batch and channels of the input");
  if (failed(verifyLength(*this, "kernel", getKernel().size(), input.size() - 2)))
    return failure();
  return verifyWindow(*this, input, getKernel(), result);
}

/// Checks that image, weight and result of a convolution's gradient have one rank >= 3 and fit in batch and channels.
static LogicalResult verifyConvolutionGradient(Operation *op, std::array<RankedTensorType, 3> types, uint64_t groups) {
  auto [image, weight, result] = types;
  if (image.getRank() < 3 || weight.getRank() != image.getRank() || result.getRank() != image.getRank())
    return op->emitOpError("must have tensors of one rank >= 3");
  if (image.getDimSize(0) != result.getDimSize(0) || weight.getDimSize(0) != result.getDimSize(1) ||
      weight.getDimSize(1) * static_cast<int64_t>(groups) != image.getDimSize(1))
    return op->emitOpError("must have one batch, and the weight's channels, got ")
           << image << ", " << weight << " and " << result;
  return success();
}

LogicalResult ConvolutionGradInputOp::verify() {
  return verifyConvolutionGradient(*this, {getType(), getWeight().getType(), getGradient().getType()}, getGroups());
}

LogicalResult ConvolutionGradWeightOp::verify() {
  return verifyConvolutionGradient(*this, {getInput().getType(), getType(), getGradient().getType()}, getGroups());
}

LogicalResult MaxPoolGradOp::verify() {
  RankedTensorType input = getInput().getType(), gradient = getGradient().getType();
  if (input.getRank() < 3 || gradient.getRank() != input.getRank() ||
      gradient.getShape().take_front(2) != input.getShape().take_front(2))
    return emitOpError("gradient must have the batch and channels of the input");
  return verifyShape(*this, "result", getType().getShape(), input.getShape());
}

//===----------------------------------------------------------------------===//
// Norms, reductions, losses
//===----------------------------------------------------------------------===//

LogicalResult SoftmaxOp::verify() { return verifyDim(*this, getDim(), getType().getRank()); }
LogicalResult LogSoftmaxOp::verify() { return verifyDim(*this, getDim(), getType().getRank()); }

template <typename OpT> static LogicalResult verifyNorm(OpT op) {
  RankedTensorType input = op.getInput().getType(), scale = op.getScale().getType();
  if (failed(verifyShape(op, "result", op.getType().getShape(), input.getShape())))
    return failure();
  if (scale.getRank() < 1 || scale.getRank() > input.getRank())
    return op.emitOpError("scale must have 1 to ") << input.getRank() << " dims, got " << scale.getRank();
  return verifyShape(op, "scale", scale.getShape(), input.getShape().take_back(scale.getRank()));
}

LogicalResult LayerNormOp::verify() {
  if (failed(verifyNorm(*this)))
    return failure();
  if (!getBias())
    return success();
  return verifyShape(*this, "bias", getBias().getType().getShape(), getScale().getType().getShape());
}

LogicalResult RmsNormOp::verify() { return verifyNorm(*this); }

LogicalResult ReduceOp::verify() {
  RankedTensorType input = getInput().getType();
  if (failed(verifyAscendingDims(*this, getDims(), input.getRank())))
    return failure();
  SmallVector<int64_t> kept;
  for (auto [dim, size] : llvm::enumerate(input.getShape()))
    if (!llvm::is_contained(getDims(), static_cast<int64_t>(dim)))
      kept.push_back(size);
  return verifyShape(*this, "result", getType().getShape(), kept);
}

LogicalResult CrossEntropyOp::verify() {
  ArrayRef<int64_t> logits = getLogits().getType().getShape();
  if (logits.empty())
    return emitOpError("logits must have a dim of classes");
  if (failed(verifyShape(*this, "labels", getLabels().getType().getShape(), logits.drop_back())))
    return failure();
  return verifyShape(*this, "result", getType().getShape(), logits.drop_back());
}

LogicalResult CrossEntropyGradOp::verify() {
  ArrayRef<int64_t> logits = getLogits().getType().getShape();
  if (logits.empty())
    return emitOpError("logits must have a dim of classes");
  if (failed(verifyShape(*this, "labels", getLabels().getType().getShape(), logits.drop_back())) ||
      failed(verifyShape(*this, "gradient", getGradient().getType().getShape(), logits.drop_back())))
    return failure();
  return verifyShape(*this, "result", getType().getShape(), logits);
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

LogicalResult BroadcastOp::verify() {
  RankedTensorType input = getInput().getType();
  if (failed(verifyLength(*this, "dims", getDims().size(), input.getRank())) ||
      failed(verifyAscendingDims(*this, getDims(), getType().getRank())))
    return failure();
  SmallVector<int64_t> placed;
  for (int64_t dim : getDims())
    placed.push_back(getType().getDimSize(dim));
  return verifyShape(*this, "input", input.getShape(), placed);
}

LogicalResult TransposeOp::verify() {
  RankedTensorType input = getInput().getType();
  if (!isPermutationVector(getPermutation()) || static_cast<int64_t>(getPermutation().size()) != input.getRank())
    return emitOpError("permutation must have each of the ") << input.getRank() << " dims once";
  SmallVector<int64_t> permuted;
  for (int64_t dim : getPermutation())
    permuted.push_back(input.getDimSize(dim));
  return verifyShape(*this, "result", getType().getShape(), permuted);
}

LogicalResult ReshapeOp::verify() {
  if (getInput().getType().getNumElements() == getType().getNumElements())
    return success();
  return emitOpError("result must have ")
         << getInput().getType().getNumElements() << " elements, got " << getType().getNumElements();
}

LogicalResult SliceOp::verify() {
  ArrayRef<int64_t> input = getInput().getType().getShape(), result = getType().getShape();
  if (failed(verifyLength(*this, "offsets", getOffsets().size(), input.size())) ||
      failed(verifyLength(*this, "strides", getStrides().size(), input.size())) ||
      failed(verifyLength(*this, "result", result.size(), input.size())))
    return failure();
  for (size_t dim = 0; dim < input.size(); ++dim) {
    int64_t first = getOffsets()[dim], last = first + (result[dim] - 1) * getStrides()[dim];
    if (result[dim] > 0 && (std::min(first, last) < 0 || std::max(first, last) >= input[dim]))
      return emitOpError("dim ") << dim << " must stay in [0, " << input[dim] << "), got " << first << " to " << last;
  }
  return success();
}

LogicalResult ConcatOp::verify() {
  if (failed(verifyDim(*this, getDim(), getType().getRank())))
    return failure();
  SmallVector<int64_t> expected(getType().getShape());
  expected[getDim()] = 0;
  int64_t total = 0;
  for (Value input : getInputs()) {
    SmallVector<int64_t> shape(cast<RankedTensorType>(input.getType()).getShape());
    if (shape.size() != expected.size())
      return emitOpError("inputs must have rank ") << expected.size() << ", got " << shape.size();
    total += std::exchange(shape[getDim()], 0);
    if (failed(verifyShape(*this, "input beside its concatenated dim", shape, expected)))
      return failure();
  }
  if (total != getType().getDimSize(getDim()))
    return emitOpError("dim ") << getDim() << " of the result must be " << total << ", got "
                               << getType().getDimSize(getDim());
  return success();
}

LogicalResult PadOp::verify() {
  ArrayRef<int64_t> input = getInput().getType().getShape(), result = getType().getShape();
  if (failed(verifyLength(*this, "low", getLow().size(), input.size())) ||
      failed(verifyLength(*this, "interior", getInterior().size(), input.size())) ||
      failed(verifyLength(*this, "result", result.size(), input.size())))
    return failure();
  for (size_t dim = 0; dim < input.size(); ++dim) {
    int64_t end = getLow()[dim] + (input[dim] ? (input[dim] - 1) * (getInterior()[dim] + 1) + 1 : 0);
    if (getLow()[dim] < 0 || getInterior()[dim] < 0 || end > result[dim])
      return emitOpError("dim ") << dim << " of the result must hold [" << getLow()[dim] << ", " << end << "), got "
                                 << result[dim];
  }
  return success();
}

LogicalResult IotaOp::verify() { return verifyDim(*this, getDim(), getType().getRank()); }

LogicalResult TakePartOp::verify() {
  SmallVector<int64_t> expected(getInput().getType().getShape());
  if (expected.empty() || getParts() < 1 || expected[0] % getParts())
    return emitOpError("parts must divide dim 0, got ") << getParts();
  expected[0] /= getParts();
  return verifyShape(*this, "result", getType().getShape(), expected);
}

//===----------------------------------------------------------------------===//
// Indexing
//===----------------------------------------------------------------------===//

LogicalResult GatherRowsOp::verify() {
  ArrayRef<int64_t> table = getTable().getType().getShape();
  if (table.empty())
    return emitOpError("table must have rows");
  SmallVector<int64_t> expected(getIds().getType().getShape());
  llvm::append_range(expected, table.drop_front());
  return verifyShape(*this, "result", getType().getShape(), expected);
}

LogicalResult ScatterAddRowsOp::verify() {
  if (getType().getRank() < 1)
    return emitOpError("result must have rows");
  SmallVector<int64_t> expected(getIds().getType().getShape());
  llvm::append_range(expected, getType().getShape().drop_front());
  return verifyShape(*this, "updates", getUpdates().getType().getShape(), expected);
}

/// Checks that `data` has the shape of `ids` but for `dim`.
static LogicalResult verifyElements(Operation *op, int64_t dim, RankedTensorType data, RankedTensorType ids) {
  if (data.getRank() != ids.getRank())
    return op->emitOpError("data and ids must have one rank, got ") << data.getRank() << " and " << ids.getRank();
  if (failed(verifyDim(op, dim, ids.getRank())))
    return failure();
  SmallVector<int64_t> expected(ids.getShape());
  expected[dim] = data.getDimSize(dim);
  return verifyShape(op, "data", data.getShape(), expected);
}

LogicalResult GatherElementsOp::verify() {
  if (failed(verifyElements(*this, getDim(), getInput().getType(), getIds().getType())))
    return failure();
  return verifyShape(*this, "result", getType().getShape(), getIds().getType().getShape());
}

LogicalResult ScatterElementsOp::verify() {
  if (failed(verifyElements(*this, getDim(), getType(), getIds().getType())))
    return failure();
  return verifyShape(*this, "updates", getUpdates().getType().getShape(), getIds().getType().getShape());
}

LogicalResult TopKOp::verify() {
  RankedTensorType input = getInput().getType(), values = getValues().getType();
  if (failed(verifyDim(*this, getDim(), input.getRank())))
    return failure();
  if (values.getRank() != input.getRank() || values.getDimSize(getDim()) > input.getDimSize(getDim()))
    return emitOpError("k must be at most ") << input.getDimSize(getDim());
  SmallVector<int64_t> expected(input.getShape());
  expected[getDim()] = values.getDimSize(getDim());
  if (failed(verifyShape(*this, "values", values.getShape(), expected)))
    return failure();
  return verifyShape(*this, "ids", getIds().getType().getShape(), expected);
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

LogicalResult AttentionOp::verify() {
  ArrayRef<int64_t> q = getQuery().getType().getShape(), k = getKey().getType().getShape(),
                    v = getValue().getType().getShape();
  if (q.size() != 4 || k.size() != 4 || v.size() != 4)
    return emitOpError("query, key and value must have 4 dims");
  if (k[0] != q[0] || k[3] != q[3] || k[1] < 1 || q[1] % k[1])
    return emitOpError("key must have the batch and the width of the query and divide its heads");
  if (failed(verifyShape(*this, "value", v, {q[0], k[1], k[2], v[3]})) ||
      failed(verifyShape(*this, "result", getType().getShape(), {q[0], q[1], q[2], v[3]})))
    return failure();
  if (!getBias())
    return success();
  ArrayRef<int64_t> bias = getBias().getType().getShape();
  const int64_t full[] = {q[0], q[1], q[2], k[2]};
  bool fits = bias.size() == 4 && bias[3] == full[3];
  for (size_t dim = 0; fits && dim < 3; ++dim)
    fits = bias[dim] == full[dim] || bias[dim] == 1;
  return fits ? success() : emitOpError("bias must have shape [B or 1, H or 1, S or 1, T]");
}

LogicalResult AttentionGradOp::verify() {
  ArrayRef<int64_t> q = getQuery().getType().getShape(), k = getKey().getType().getShape(),
                    v = getValue().getType().getShape();
  if (q.size() != 4 || k.size() != 4 || v.size() != 4 || k[1] < 1 || q[1] % k[1])
    return emitOpError("query, key and value must have 4 dims, and the key's heads divide the query's");
  if (failed(verifyShape(*this, "gradient", getGradient().getType().getShape(), {q[0], q[1], q[2], v[3]})) ||
      failed(verifyShape(*this, "gradient of the query", getQueryGradient().getType().getShape(), q)) ||
      failed(verifyShape(*this, "gradient of the key", getKeyGradient().getType().getShape(), k)))
    return failure();
  return verifyShape(*this, "gradient of the value", getValueGradient().getType().getShape(), v);
}

LogicalResult RotaryEmbeddingOp::verify() {
  ArrayRef<int64_t> input = getInput().getType().getShape();
  if (input.size() < 2 || input.back() % 2)
    return emitOpError("input must have an even last dim");
  const int64_t expected[] = {input[input.size() - 2], input.back() / 2};
  if (failed(verifyShape(*this, "cosine", getCosine().getType().getShape(), expected)) ||
      failed(verifyShape(*this, "sine", getSine().getType().getShape(), expected)))
    return failure();
  return verifyShape(*this, "result", getType().getShape(), input);
}

//===----------------------------------------------------------------------===//
// Optimizers
//===----------------------------------------------------------------------===//

/// Checks that the first `tensors` operands and all results have one shape, and the others none.
static LogicalResult verifyUpdate(Operation *op, unsigned tensors) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(op->getOperand(0).getType()).getShape();
  for (auto [number, operand] : llvm::enumerate(op->getOperands())) {
    ArrayRef<int64_t> expected = number < tensors ? shape : ArrayRef<int64_t>();
    if (failed(verifyShape(op, (Twine("operand ") + Twine(number)).str(),
                           cast<RankedTensorType>(operand.getType()).getShape(), expected)))
      return failure();
  }
  for (Type type : op->getResultTypes())
    if (failed(verifyShape(op, "result", cast<RankedTensorType>(type).getShape(), shape)))
      return failure();
  return success();
}

LogicalResult AdamUpdateOp::verify() { return verifyUpdate(*this, 4); }
LogicalResult SgdUpdateOp::verify() { return verifyUpdate(*this, 3); }
