// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Builds arith, math and ds ops on whole tensors at one location. Results have no layout.

#ifndef DS_PASSES_PROGRAM_STEPBUILDER_H
#define DS_PASSES_PROGRAM_STEPBUILDER_H

#include "ds/Dialect/DsDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"

namespace ds {

/// The type of a tensor value.
inline mlir::RankedTensorType tensorTypeOf(mlir::Value value) {
  return llvm::cast<mlir::RankedTensorType>(value.getType());
}

/// The dims [first, last).
llvm::SmallVector<int64_t> dimRange(int64_t first, int64_t last);

class StepBuilder {
public:
  StepBuilder(mlir::OpBuilder &builder, mlir::Location location) : builder(builder), location(location) {}

  /// Creates any op at this builder's place.
  template <typename OpT, typename... Args> OpT create(Args &&...args) {
    return OpT::create(builder, location, std::forward<Args>(args)...);
  }
  /// Creates an op of one result.
  template <typename OpT, typename... Args> mlir::Value value(Args &&...args) {
    return create<OpT>(std::forward<Args>(args)...).getResult();
  }

  /// A constant whose elements are all `number`; of floats or integers.
  mlir::Value splat(mlir::Type type, double number);
  mlir::Value zeros(mlir::Type type) { return splat(type, 0); }

  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value sub(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, double factor);
  mlir::Value div(mlir::Value a, mlir::Value b);
  mlir::Value neg(mlir::Value a);
  mlir::Value add(mlir::Value a, double number) { return add(a, splat(a.getType(), number)); }
  mlir::Value compare(mlir::arith::CmpFPredicate predicate, mlir::Value a, mlir::Value b);
  /// `condition ? a : 0`.
  mlir::Value keepWhere(mlir::Value condition, mlir::Value a);
  mlir::Value select(mlir::Value condition, mlir::Value a, mlir::Value b);

  /// Folds `dims` (ascending) away; the value itself if there are none.
  mlir::Value reduce(mlir::Value input, llvm::ArrayRef<int64_t> dims, Reduction kind = Reduction::Sum);
  /// Repeats `input` so that its dim i is dim `dims[i]` of a tensor of `shape`.
  mlir::Value broadcast(mlir::Value input, llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<int64_t> shape);
  /// Repeats `input` along the dims where it has size 1 and `shape` has another; both have one rank.
  mlir::Value expand(mlir::Value input, llvm::ArrayRef<int64_t> shape);
  mlir::Value reshape(mlir::Value input, llvm::ArrayRef<int64_t> shape);
  /// Elements [offset, offset + size) of one dim.
  mlir::Value slice(mlir::Value input, int64_t dim, int64_t offset, int64_t size);
  mlir::Value concat(mlir::ValueRange inputs, int64_t dim);
  mlir::Value matmul(mlir::Value lhs, mlir::Value rhs, llvm::StringRef indices);

  /// The value in f32 if its elements are narrower floats, else itself.
  mlir::Value widen(mlir::Value input);
  /// The value in floats of the element type of `type`.
  mlir::Value convert(mlir::Value input, mlir::Type type);

private:
  mlir::OpBuilder &builder;
  mlir::Location location;
};

} // namespace ds

#endif // DS_PASSES_PROGRAM_STEPBUILDER_H
