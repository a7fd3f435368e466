// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Builds elementwise ops, reductions and broadcasts on laid-out tensors: types follow from the operands.

#ifndef DS_LIB_PASSES_KERNELS_LAIDOUTBUILDER_H
#define DS_LIB_PASSES_KERNELS_LAIDOUTBUILDER_H

#include "ds/Dialect/DsDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace ds {

class LaidOutBuilder {
public:
  LaidOutBuilder(mlir::OpBuilder &builder, mlir::Location loc) : builder(builder), loc(loc) {}

  static mlir::RankedTensorType typeOf(mlir::Value value) {
    return mlir::cast<mlir::RankedTensorType>(value.getType());
  }
  static mlir::RankedTensorType withElement(mlir::RankedTensorType type, mlir::Type element) {
    return mlir::RankedTensorType::get(type.getShape(), element, type.getEncoding());
  }

  template <typename OpT, typename... Args> mlir::Value make(Args &&...args) {
    return builder.createOrFold<OpT>(loc, std::forward<Args>(args)...);
  }
  mlir::Value add(mlir::Value a, mlir::Value b) { return make<mlir::arith::AddFOp>(a, b); }
  mlir::Value sub(mlir::Value a, mlir::Value b) { return make<mlir::arith::SubFOp>(a, b); }
  mlir::Value mul(mlir::Value a, mlir::Value b) { return make<mlir::arith::MulFOp>(a, b); }
  mlir::Value div(mlir::Value a, mlir::Value b) { return make<mlir::arith::DivFOp>(a, b); }
  mlir::Value exp(mlir::Value a) { return make<mlir::math::ExpOp>(a); }
  /// exp(a) for `a` of at most 88.
  mlir::Value boundedExp(mlir::Value a);

  /// `value` on every element of a tensor laid out as `like`; rounded to `element`, a float or integer type.
  mlir::Value splat(double value, mlir::RankedTensorType like);
  mlir::Value addScalar(mlir::Value a, double b) { return add(a, splat(b, typeOf(a))); }
  mlir::Value mulScalar(mlir::Value a, double b) { return mul(a, splat(b, typeOf(a))); }

  /// Folds `dims`, which are whole on every rank.
  mlir::Value reduce(mlir::Value value, llvm::ArrayRef<int64_t> dims, Reduction kind);
  /// Repeats `value` to the shape and layout of `like`; its dims are `dims` of it.
  mlir::Value broadcast(mlir::Value value, mlir::RankedTensorType like, llvm::ArrayRef<int64_t> dims);
  /// Repeats a value of which `folded` dims of `like` were reduced.
  mlir::Value unreduce(mlir::Value value, mlir::RankedTensorType like, llvm::ArrayRef<int64_t> folded);
  /// [.., x, ..] -> [.., sizes.., ..], where the sizes multiply to x. Null if the dim's layout cannot be cut so.
  mlir::Value splitDim(mlir::Value value, int64_t dim, llvm::ArrayRef<int64_t> sizes, const Mesh &mesh);
  /// The coordinate along `dim` of `like`, as i32.
  mlir::Value iota(mlir::RankedTensorType like, int64_t dim);

  mlir::OpBuilder &builder;
  mlir::Location loc;
  /// If set: the splats that were made before and may be used again, by their elements.
  llvm::DenseMap<mlir::Attribute, mlir::Value> *splats = nullptr;
};

/// The type whose dim i is dim `order[i]` of `type`, layout and all.
mlir::RankedTensorType permutedType(mlir::RankedTensorType type, llvm::ArrayRef<int64_t> order);

/// The dims in [0, rank) that are not in `dims`.
llvm::SmallVector<int64_t> otherDims(int64_t rank, llvm::ArrayRef<int64_t> dims);

} // namespace ds

#endif // DS_LIB_PASSES_KERNELS_LAIDOUTBUILDER_H
