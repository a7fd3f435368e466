// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// The primitives in which all handlers are written. Each computes at import if all operands are known, and else emits
/// ops: one definition of an operator serves shape arithmetic and the program.

#ifndef DS_IMPORT_ONNX_TENSOR_BUILDER_H
#define DS_IMPORT_ONNX_TENSOR_BUILDER_H

#include "HostOps.h"
#include "HostTensor.h"

#include "ds/Dialect/DsDialect.h"

#include "mlir/IR/Builders.h"

#include <memory>
#include <string>

namespace ds::onnx_import {

struct Variable;

/// A value of the graph: known at import, or computed by the program.
class Tensor {
public:
  Tensor() = default;
  Tensor(HostTensor host)
      : host(std::make_shared<HostTensor>(std::move(host))), elementType(this->host->element), dims(this->host->shape) {
  }
  explicit Tensor(mlir::Value value, const Variable *weight = nullptr);

  explicit operator bool() const { return host || value; }
  bool isHost() const { return host != nullptr; }
  const HostTensor &getHost() const { return *host; }
  mlir::Value getValue() const { return value; }
  /// The variable that this is the value of, if it is one.
  const Variable *getWeight() const { return weight; }
  /// Of the graph; the program may hold them wider (heldOf).
  Element element() const { return elementType; }
  /// The same value, whose elements are those of a type that the program holds so.
  Tensor as(Element element) const {
    Tensor other = *this;
    other.elementType = element;
    return other;
  }
  DimsRef shape() const { return dims; }
  int64_t rank() const { return static_cast<int64_t>(dims.size()); }
  int64_t count() const { return *countOf(dims); }

private:
  std::shared_ptr<const HostTensor> host;
  mlir::Value value;
  const Variable *weight = nullptr;
  Element elementType = Element::F32;
  Dims dims;
};

/// The numpy broadcast of two shapes, if there is one that does not overflow.
std::optional<Dims> broadcastShapes(DimsRef a, DimsRef b);

class TensorBuilder {
public:
  explicit TensorBuilder(mlir::OpBuilder &builder) : builder(builder) {}

  mlir::OpBuilder &ops() { return builder; }
  void setLocation(mlir::Location newLocation) { location = newLocation; }
  mlir::Location loc() const { return location ? *location : builder.getUnknownLoc(); }
  /// What could not be said in a program since the last call, if anything.
  std::string takeProblem() { return std::exchange(problem, {}); }

  /// The value in the program; a known tensor becomes a constant.
  mlir::Value materialize(const Tensor &tensor);
  mlir::RankedTensorType type(Element element, DimsRef shape);

  // Elementwise, on operands that broadcast. Operands have one element type.
  Tensor unary(Unary kind, const Tensor &input);
  Tensor binary(Binary kind, const Tensor &lhs, const Tensor &rhs);
  Tensor compare(Comparison kind, const Tensor &lhs, const Tensor &rhs);
  Tensor select(const Tensor &condition, const Tensor &onTrue, const Tensor &onFalse);
  /// `input` between two bounds, of which each may be null; where they cross, the upper one. At a bound the gradient is
  /// the input's, or, if `boundsWin`, the bound's.
  Tensor bounded(const Tensor &input, const Tensor &lower, const Tensor &upper, bool boundsWin);
  Tensor cast(const Tensor &input, Element element);
  /// A scalar of the element type of `like`.
  Tensor scalar(const Tensor &like, double value) { return makeSplat(like.element(), {}, value); }

  // Movement.
  Tensor reshape(const Tensor &input, DimsRef shape);
  Tensor transpose(const Tensor &input, DimsRef permutation);
  /// Numpy's broadcast_to: `shape` is the broadcast of both shapes.
  Tensor broadcastTo(const Tensor &input, DimsRef shape);
  /// Elements offsets + i * steps of each dim.
  Tensor slice(const Tensor &input, DimsRef offsets, DimsRef steps, DimsRef shape);
  Tensor concat(llvm::ArrayRef<Tensor> inputs, int64_t dim);
  Tensor padZeros(const Tensor &input, DimsRef low, DimsRef shape);
  /// Surrounded by a scalar of its element type.
  Tensor padWith(const Tensor &value, const Tensor &input, DimsRef low, DimsRef shape);
  /// Picks along one dim; dims of `ids` take its place. Ids may be negative; known ids are in range.
  Tensor gather(const Tensor &input, const Tensor &ids, int64_t dim);
  /// Folds dims away.
  Tensor reduce(Fold kind, const Tensor &input, DimsRef dims);

  /// A contraction; transposes and broadcasts of the operands go into the indices.
  Tensor matmul(const Tensor &lhs, const Tensor &rhs, std::string lhsIndices, std::string rhsIndices,
                llvm::StringRef result);

  /// An op of the program with one result of the given type.
  template <typename OpT, typename... Args> Tensor emit(mlir::Type resultType, Args &&...args) {
    return Tensor(OpT::create(builder, loc(), resultType, std::forward<Args>(args)...).getResult());
  }

private:
  bool mayFold(int64_t count);
  mlir::Value broadcastValue(const Tensor &input, DimsRef shape);
  Tensor emitUnary(Unary kind, mlir::Value input);
  Tensor emitBinary(Binary kind, mlir::Value lhs, mlir::Value rhs);
  Tensor emitCast(mlir::Value input, Element from, Element to);
  Tensor wrap(const Tensor &input, Element element);
  Tensor constantLike(mlir::Value like, double value);
  Tensor sliceByIds(const Tensor &input, const HostTensor &ids, int64_t dim);

  mlir::OpBuilder &builder;
  std::optional<mlir::Location> location;
  std::string problem;
  int64_t foldedElements = 0; ///< of known results so far, without those that are always folded
};

} // namespace ds::onnx_import

#endif // DS_IMPORT_ONNX_TENSOR_BUILDER_H
