// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "OpWork.h"

#include "ds/Analysis/OpEffects.h"
#include "ds/Analysis/RowSchedule.h"
#include "ds/Analysis/TensorSizes.h"
#include "ds/Dialect/IndexNotation.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace ds;

/// How many cheap operations a polynomial of many terms stands for.
static constexpr double kOpsOfPolynomial = 10;

static double elementsOf(Type type, const Mesh &mesh) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? static_cast<double>(maxOwnedElements(layoutOf(tensor), shapeOf(tensor), mesh)) : 0;
}

static double localBytesOf(Type type, const Mesh &mesh) {
  return isa<RankedTensorType>(type) ? static_cast<double>(maxLocalBytes(type, mesh)) : 0;
}

static double localBytesOf(Operation *op, const Mesh &mesh) {
  double bytes = 0;
  for (Type type : op->getOperandTypes())
    bytes += localBytesOf(type, mesh);
  for (Type type : op->getResultTypes())
    bytes += localBytesOf(type, mesh);
  return bytes;
}

//===----------------------------------------------------------------------===//
// Classes of ops
//===----------------------------------------------------------------------===//

/// The product of the local sizes of all letters of some operands.
static double pointsOf(Operation *op, ArrayRef<unsigned> operands, const Mesh &mesh) {
  IndexNotation notation = notationOf(op);
  llvm::SmallDenseMap<char, int64_t> sizes;
  for (unsigned number : operands) {
    Value value = op->getOperand(number);
    Shape block = maxBlockShape(layoutOf(value), shapeOf(value.getType()), mesh);
    for (auto [letter, size] : llvm::zip_equal(notation.operands[number], block))
      if (llvm::isAlpha(letter))
        sizes[letter] = size;
  }
  double points = 1;
  for (auto [letter, size] : sizes)
    points *= static_cast<double>(size);
  return points;
}

/// Two FLOPs per point of the iteration space on this rank.
static OpWork matmulWork(Operation *op, const Mesh &mesh) {
  return {2 * pointsOf(op, {0, 1}, mesh), 0, localBytesOf(op, mesh)};
}

/// Two matmuls, or five for the gradient; with a causal mask half of each.
static OpWork attentionWork(Operation *op, const Mesh &mesh) {
  const double matmuls = isa<FusedAttentionOp>(op) ? 2 : 5, part = op->hasAttr("causal") ? 0.5 : 1;
  return {2 * matmuls * part * pointsOf(op, {0, 1}, mesh), 0, localBytesOf(op, mesh)};
}

/// Per element of `image`, the side with the output's channels, one row of `weight` [out, in, window...].
static OpWork convolutionWork(Operation *op, Value image, Value weight, const Mesh &mesh) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(weight.getType()).getShape();
  double perElement = 1;
  for (int64_t size : shape.drop_front())
    perElement *= static_cast<double>(size);
  return {2 * perElement * elementsOf(image.getType(), mesh), 0, localBytesOf(op, mesh)};
}

static double opsPerElement(Operation &op) {
  if (isa<BroadcastOp, YieldOp, arith::ConstantOp>(op))
    return 0;
  return isCostly(&op) ? kOpsOfPolynomial : 1;
}

static OpWork kernelWork(KernelOp kernel, const Mesh &mesh) {
  OpWork work;
  work.bytes = localBytesOf(kernel.getOperation(), mesh);
  for (Operation &op : kernel.getBody().front()) {
    double elements = 0;
    for (Type type : op.getOperandTypes())
      elements = std::max(elements, elementsOf(type, mesh));
    for (Type type : op.getResultTypes())
      elements = std::max(elements, elementsOf(type, mesh));
    work.elementOps += opsPerElement(op) * elements;
  }
  return work;
}

std::optional<OpWork> ds::workOf(Operation *op, const Mesh &mesh) {
  if (isAlias(op) || isa<WaitOp, AssignOp, scf::ForOp, scf::YieldOp, func::ReturnOp>(op) ||
      llvm::none_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>))
    return std::nullopt;
  return llvm::TypeSwitch<Operation *, OpWork>(op)
      .Case<MatmulOp, FusedMatmulOp>([&](Operation *matmul) { return matmulWork(matmul, mesh); })
      .Case<FusedAttentionOp, FusedAttentionGradOp>(
          [&](Operation *attention) { return attentionWork(attention, mesh); })
      .Case([&](KernelOp kernel) { return kernelWork(kernel, mesh); })
      .Case([&](ConvolutionOp conv) { return convolutionWork(op, conv.getResult(), conv.getWeight(), mesh); })
      .Case(
          [&](ConvolutionGradInputOp conv) { return convolutionWork(op, conv.getGradient(), conv.getWeight(), mesh); })
      .Case(
          [&](ConvolutionGradWeightOp conv) { return convolutionWork(op, conv.getGradient(), conv.getResult(), mesh); })
      .Default([&](Operation *) {
        return OpWork{0, 0, localBytesOf(op, mesh)};
      });
}

//===----------------------------------------------------------------------===//
// Seconds
//===----------------------------------------------------------------------===//

double ds::secondsOf(const OpWork &work, const Machine &rank) {
  const double cores = static_cast<double>(rank.cores);
  const double arithmetic =
      (work.matmulFlops / rank.matmulFlopsPerCore + work.elementOps / rank.elementOpsPerCore) / cores;
  return rank.callSeconds + std::max(arithmetic, work.bytes / rank.memoryBytesPerSecond);
}

double ds::secondsOf(StartOp start, const Mesh &mesh, const Machine &rank) {
  double in = 0, out = 0;
  for (auto [input, type] : llvm::zip_equal(start.getInputs(), start.getDestinationTypes())) {
    in += localBytesOf(input.getType(), mesh);
    out += localBytesOf(cast<TypeAttr>(type).getValue(), mesh);
  }
  const auto ranks = static_cast<double>(mesh.axisSize(start.getAxis().str()));
  if (ranks == 1)
    return rank.callSeconds + (in + out) / rank.memoryBytesPerSecond;
  const double steps = ranks - 1, part = steps / ranks;
  auto seconds = [&](double rounds, double received) {
    return rank.callSeconds + rounds * rank.linkSeconds + received / rank.linkBytesPerSecond;
  };
  switch (start.getKind()) {
  case CollectiveKind::AllGather:
    return seconds(steps, out - in);
  case CollectiveKind::AllReduce:
    return seconds(2 * steps, 2 * part * in);
  case CollectiveKind::ReduceScatter:
  case CollectiveKind::AllToAll:
    return seconds(steps, part * in);
  }
  llvm_unreachable("every kind has its time");
}
