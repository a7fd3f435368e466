// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// A plan::Matmul, a contraction with named indices, as matrix products with strides.

#ifndef DS_RUNTIME_DEVICE_CPU_MATMULFORM_H
#define DS_RUNTIME_DEVICE_CPU_MATMULFORM_H

#include "ds/Runtime/Device/Task.h"

namespace ds::runtime {

/// One index of the contraction; strides in elements, 0 where an operand lacks the index.
struct MatmulIndex {
  int64_t size = 1;
  int64_t a = 0, b = 0, c = 0, bias = 0;
};

/// The contraction as loops around one matrix product C[rows, columns] (+)= sum over `sum` of A[rows, sum] * B[sum,
/// columns].
struct MatmulForm {
  std::vector<MatmulIndex> batch;     ///< around the product; A or B may have stride 0
  std::vector<MatmulIndex> outerSums; ///< products to add up
  MatmulIndex rows, columns, sum;
  bool isSwapped = false; ///< A and B are exchanged against the plan's
  bool isMatrix = false;  ///< each operand has a unit stride where a matrix library needs one, C along its columns

  int64_t outputs() const; ///< number of elements of C
  int64_t terms() const;   ///< summands of each
};

/// Merges indices that are neighbours in all operands, then picks rows, columns and sum so that the product is a matrix
/// product if possible, and as large as possible. Fails if an index has none of the roles of a contraction.
absl::StatusOr<MatmulForm> resolveMatmul(const plan::MatmulT &matmul, const std::vector<int64_t> &extents);

} // namespace ds::runtime

#endif // DS_RUNTIME_DEVICE_CPU_MATMULFORM_H
