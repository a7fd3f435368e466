// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "OpWork.h"

#include "ds/Analysis/AttentionShape.h"
#include "ds/Analysis/KernelShape.h"
#include "ds/Analysis/OpEffects.h"
#include "ds/Analysis/TensorSizes.h"
#include "ds/Dialect/IndexNotation.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace ds;

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
// On the compute queue
//===----------------------------------------------------------------------===//

namespace {
/// The local sizes of the letters of an op's index notation, on the rank that has most.
struct LetterSizes {
  LetterSizes(Operation *op, ArrayRef<unsigned> operands, const Mesh &mesh) {
    const IndexNotation notation = notationOf(op);
    for (unsigned number : operands) {
      const Value value = op->getOperand(number);
      const Shape block = maxBlockShape(layoutOf(value), shapeOf(value.getType()), mesh);
      for (auto [letter, size] : llvm::zip_equal(notation.operands[number], block))
        if (llvm::isAlpha(letter))
          sizes[letter] = static_cast<double>(size);
    }
  }
  double product() const {
    double points = 1;
    for (auto [letter, size] : sizes)
      points *= size;
    return points;
  }

  llvm::SmallDenseMap<char, double> sizes;
};
} // namespace

/// Two FLOPs per point of the iteration space on this rank.
static Work matmulWork(Operation *op, const Mesh &mesh) {
  Work work;
  work.matmulFlops = 2 * LetterSizes(op, {0, 1}, mesh).product();
  work.bytes = localBytesOf(op, mesh);
  return work;
}

/// Two products, or five for the gradient, and an exponential with what is around it for each score.
static Work attentionWork(Operation *op, const Mesh &mesh) {
  constexpr double kOperationsPerScore = 20;
  const AttentionShape shape = analyzeAttention(op, mesh);
  const LetterSizes letters(op, {0, 1}, mesh);
  const double products = isa<FusedAttentionOp>(op) ? 2 : 5, points = shape.visited * letters.product();
  Work work;
  work.attentionFlops = 2 * products * points;
  work.elementOps = kOperationsPerScore * points / letters.sizes.lookup('d');
  work.bytes = localBytesOf(op, mesh);
  work.parts = static_cast<double>(shape.chunks);
  return work;
}

/// Per element of `image`, the side with the output's channels, one row of `weight` [out, in, window...].
static Work convolutionWork(Operation *op, Value image, Value weight, const Mesh &mesh) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(weight.getType()).getShape();
  double perElement = 1;
  for (int64_t size : shape.drop_front())
    perElement *= static_cast<double>(size);
  Work work;
  work.matmulFlops = 2 * perElement * elementsOf(image.getType(), mesh);
  work.bytes = localBytesOf(op, mesh);
  return work;
}

static FailureOr<Work> kernelWork(KernelOp kernel, const Mesh &mesh) {
  const FailureOr<KernelShape> shape = analyzeKernel(kernel, mesh);
  if (failed(shape))
    return failure();
  Work work;
  work.elementOps = shape->operations;
  work.bytes = localBytesOf(kernel.getOperation(), mesh);
  work.parts = static_cast<double>(shape->chunks);
  return work;
}

static Work movementWork(Operation *op, const Mesh &mesh) {
  Work work;
  work.bytes = localBytesOf(op, mesh);
  return work;
}

//===----------------------------------------------------------------------===//
// Between ranks
//===----------------------------------------------------------------------===//

/// Latency per step and bytes received, as on a ring; on an axis of size 1 a copy. Source: Thakur, Rabenseifner and
/// Gropp, "Optimization of Collective Communication Operations in MPICH", 2005, sections 4.1 to 4.4.
static Work collectiveWork(StartOp start, const Mesh &mesh) {
  double in = 0, out = 0;
  for (auto [input, type] : llvm::zip_equal(start.getInputs(), start.getDestinationTypes())) {
    in += localBytesOf(input.getType(), mesh);
    out += localBytesOf(cast<TypeAttr>(type).getValue(), mesh);
  }
  const auto ranks = static_cast<double>(mesh.axisSize(start.getAxis().str()));
  const double steps = ranks - 1, part = steps / ranks;
  Work work;
  if (ranks == 1) {
    work.bytes = in + out;
    return work;
  }
  switch (start.getKind()) {
  case CollectiveKind::AllGather:
    work.linkRounds = steps;
    work.linkBytes = out - in;
    return work;
  case CollectiveKind::AllReduce:
    work.linkRounds = 2 * steps;
    work.linkBytes = 2 * part * in;
    return work;
  case CollectiveKind::ReduceScatter:
  case CollectiveKind::AllToAll:
    work.linkRounds = steps;
    work.linkBytes = part * in;
    return work;
  }
  llvm_unreachable("every kind has its work");
}

//===----------------------------------------------------------------------===//
// All ops
//===----------------------------------------------------------------------===//

bool ds::takesTime(Operation *op) {
  return isa<StartOp>(op) ||
         (!isAlias(op) && !isa<WaitOp, AssignOp, scf::ForOp, scf::YieldOp, func::ReturnOp, func::FuncOp>(op) &&
          llvm::any_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>));
}

FailureOr<Work> ds::workOf(Operation *op, const Mesh &mesh) {
  return llvm::TypeSwitch<Operation *, FailureOr<Work>>(op)
      .Case([&](StartOp start) { return collectiveWork(start, mesh); })
      .Case<MatmulOp, FusedMatmulOp>([&](Operation *matmul) { return matmulWork(matmul, mesh); })
      .Case<FusedAttentionOp, FusedAttentionGradOp>(
          [&](Operation *attention) { return attentionWork(attention, mesh); })
      .Case([&](KernelOp kernel) { return kernelWork(kernel, mesh); })
      .Case([&](ConvolutionOp conv) { return convolutionWork(op, conv.getResult(), conv.getWeight(), mesh); })
      .Case(
          [&](ConvolutionGradInputOp conv) { return convolutionWork(op, conv.getGradient(), conv.getWeight(), mesh); })
      .Case(
          [&](ConvolutionGradWeightOp conv) { return convolutionWork(op, conv.getGradient(), conv.getResult(), mesh); })
      .Default([&](Operation *other) { return movementWork(other, mesh); });
}
