// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Arithmetic on host tensors. Shapes are given and right: the callers have checked them.

#ifndef DS_IMPORT_ONNX_HOST_OPS_H
#define DS_IMPORT_ONNX_HOST_OPS_H

#include "HostTensor.h"

namespace ds::onnx_import {

enum class Unary { Neg, Abs, Sqrt, Exp, Log, Sin, Cos, Tanh, Erf, Floor, Ceil, Round, Reciprocal, Not };
enum class Binary { Add, Sub, Mul, Div, Pow, Mod, Remainder, Min, Max, And, Or, Xor };
enum class Comparison { Equal, Less, LessOrEqual, Greater, GreaterOrEqual };
enum class Fold { Sum, Max, Min, Product };

// Elementwise ops; operands have one shape or are splats of it.
HostTensor hostUnary(Unary kind, const HostTensor &input);
HostTensor hostBinary(Binary kind, const HostTensor &lhs, const HostTensor &rhs);
HostTensor hostCompare(Comparison kind, const HostTensor &lhs, const HostTensor &rhs);
HostTensor hostSelect(const HostTensor &condition, const HostTensor &onTrue, const HostTensor &onFalse);
HostTensor hostCast(const HostTensor &input, Element element);

/// Element (i0, i1, ..) of the result is element offset + sum of i_d strides[d] of the input's data.
HostTensor hostStrided(const HostTensor &input, DimsRef shape, int64_t offset, DimsRef strides);
/// Numpy's broadcast_to.
HostTensor hostBroadcast(const HostTensor &input, DimsRef shape);
/// Row-major strides of a shape.
Dims stridesOf(DimsRef shape);

HostTensor hostConcat(llvm::ArrayRef<const HostTensor *> inputs, int64_t dim, DimsRef shape);
/// Folds the dims in `dims` away.
HostTensor hostReduce(Fold kind, const HostTensor &input, DimsRef dims, DimsRef shape);
/// Picks along dim 0; ids are in range.
HostTensor hostGatherRows(const HostTensor &table, const HostTensor &ids, DimsRef shape);

} // namespace ds::onnx_import

#endif // DS_IMPORT_ONNX_HOST_OPS_H
