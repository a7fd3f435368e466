// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "MatmulForm.h"

#include "ds/Runtime/StatusMacros.h"

#include "absl/strings/str_cat.h"

#include <algorithm>

using namespace ds;
using namespace ds::runtime;

namespace {
struct IndexRoles {
  std::vector<MatmulIndex> batch, rows, columns, sums;
};
/// Which operands have an index: bits.
enum : unsigned { kInA = 1, kInB = 2, kInC = 4 };
} // namespace

static int64_t sizeOfAll(const std::vector<MatmulIndex> &indices) {
  int64_t product = 1;
  for (const MatmulIndex &index : indices)
    product *= index.size;
  return product;
}

int64_t MatmulForm::outputs() const { return sizeOfAll(batch) * rows.size * columns.size; }
int64_t MatmulForm::terms() const { return sizeOfAll(outerSums) * sum.size; }

/// Writes the row-major strides of an operand with dims `dims` into field `stride` of its indices.
static absl::Status setStrides(const std::vector<uint16_t> &dims, int64_t MatmulIndex::*stride, unsigned bit,
                               std::vector<MatmulIndex> &indices, std::vector<unsigned> &present) {
  int64_t next = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    if (dims[i] >= indices.size())
      return absl::InvalidArgumentError(
          absl::StrCat("invalid plan: index must be below ", indices.size(), ", got ", dims[i]));
    if (present[dims[i]] & bit)
      return absl::InvalidArgumentError(
          absl::StrCat("invalid plan: an operand must have an index once, got ", dims[i], " twice"));
    present[dims[i]] |= bit;
    indices[dims[i]].*stride = next;
    next *= std::max<int64_t>(indices[dims[i]].size, 1);
  }
  return absl::OkStatus();
}

static bool isOneIndex(const MatmulIndex &major, const MatmulIndex &minor) {
  return major.a == minor.a * minor.size && major.b == minor.b * minor.size && major.c == minor.c * minor.size &&
         major.bias == minor.bias * minor.size;
}

/// Merges pairs of `indices` until none is left that is one index in all operands.
static void mergeNeighbours(std::vector<MatmulIndex> &indices) {
  for (size_t i = 0; i < indices.size(); ++i)
    for (size_t j = 0; j < indices.size(); ++j)
      if (i != j && isOneIndex(indices[i], indices[j])) {
        const MatmulIndex minor = indices[j];
        indices[i] = {indices[i].size * minor.size, minor.a, minor.b, minor.c, minor.bias};
        indices.erase(indices.begin() + static_cast<ptrdiff_t>(j));
        return mergeNeighbours(indices);
      }
}

static absl::StatusOr<IndexRoles> findRoles(const plan::MatmulT &matmul, const std::vector<int64_t> &extents) {
  std::vector<MatmulIndex> indices;
  for (int64_t extent : extents)
    indices.push_back({extent, 0, 0, 0, 0});
  std::vector<unsigned> present(indices.size(), 0);
  DS_RETURN_IF_ERROR(setStrides(matmul.a_dims, &MatmulIndex::a, kInA, indices, present));
  DS_RETURN_IF_ERROR(setStrides(matmul.b_dims, &MatmulIndex::b, kInB, indices, present));
  DS_RETURN_IF_ERROR(setStrides(matmul.c_dims, &MatmulIndex::c, kInC, indices, present));
  std::vector<unsigned> inBias(indices.size(), 0);
  DS_RETURN_IF_ERROR(setStrides(matmul.bias_dims, &MatmulIndex::bias, kInC, indices, inBias));
  IndexRoles roles;
  for (size_t i = 0; i < indices.size(); ++i) {
    if (inBias[i] && !(present[i] & kInC))
      return absl::InvalidArgumentError(absl::StrCat("invalid plan: index ", i, " of the bias must be one of C"));
    const bool known = present[i] == (kInA | kInB | kInC) || present[i] == (kInA | kInC) ||
                       present[i] == (kInB | kInC) || present[i] == (kInA | kInB);
    if (!known)
      return absl::InvalidArgumentError(absl::StrCat("invalid plan: index ", i, " must be in two or three operands"));
    std::vector<MatmulIndex> &role = present[i] == (kInA | kInB) ? roles.sums
                                     : !(present[i] & kInB)      ? roles.rows
                                     : !(present[i] & kInA)      ? roles.columns
                                                                 : roles.batch;
    if (indices[i].size != 1)
      role.push_back(indices[i]);
  }
  return roles;
}

/// The choices for one role: each of its indices, or the unit index if it has none.
static std::vector<MatmulIndex> choicesOf(const std::vector<MatmulIndex> &role) {
  return role.empty() ? std::vector<MatmulIndex>{MatmulIndex()} : role;
}

/// `role` without its element number `chosen`.
static std::vector<MatmulIndex> restOf(std::vector<MatmulIndex> role, size_t chosen) {
  if (chosen < role.size())
    role.erase(role.begin() + static_cast<ptrdiff_t>(chosen));
  return role;
}

/// Whether a stride is 1, or does not matter.
static bool isUnit(const MatmulIndex &index, int64_t MatmulIndex::*stride) {
  return index.size == 1 || index.*stride == 1;
}

static bool isMatrixProduct(const MatmulIndex &rows, const MatmulIndex &columns, const MatmulIndex &sum) {
  return isUnit(columns, &MatmulIndex::c) && (isUnit(rows, &MatmulIndex::a) || isUnit(sum, &MatmulIndex::a)) &&
         (isUnit(columns, &MatmulIndex::b) || isUnit(sum, &MatmulIndex::b));
}

static void swapOperands(IndexRoles &roles) {
  std::swap(roles.rows, roles.columns);
  for (std::vector<MatmulIndex> *role : {&roles.batch, &roles.rows, &roles.columns, &roles.sums})
    for (MatmulIndex &index : *role)
      std::swap(index.a, index.b);
}

/// Replaces `best` by the best pick in `roles` if that is better: a matrix product first, then the larger one.
static void improve(const IndexRoles &roles, bool isSwapped, std::optional<MatmulForm> &best) {
  const std::vector<MatmulIndex> rows = choicesOf(roles.rows), columns = choicesOf(roles.columns),
                                 sums = choicesOf(roles.sums);
  for (size_t r = 0; r < rows.size(); ++r)
    for (size_t c = 0; c < columns.size(); ++c)
      for (size_t s = 0; s < sums.size(); ++s) {
        MatmulForm form{{}, {}, rows[r], columns[c], sums[s], isSwapped, isMatrixProduct(rows[r], columns[c], sums[s])};
        const int64_t volume = form.rows.size * form.columns.size * form.sum.size;
        if (best) {
          const int64_t bestVolume = best->rows.size * best->columns.size * best->sum.size;
          if (std::make_pair(form.isMatrix, volume) <= std::make_pair(best->isMatrix, bestVolume))
            continue;
        }
        form.batch = roles.batch;
        for (const std::vector<MatmulIndex> &rest : {restOf(roles.rows, r), restOf(roles.columns, c)})
          form.batch.insert(form.batch.end(), rest.begin(), rest.end());
        form.outerSums = restOf(roles.sums, s);
        best = std::move(form);
      }
}

absl::StatusOr<MatmulForm> ds::runtime::resolveMatmul(const plan::MatmulT &matmul,
                                                      const std::vector<int64_t> &extents) {
  DS_ASSIGN_OR_RETURN(IndexRoles roles, findRoles(matmul, extents));
  for (std::vector<MatmulIndex> *role : {&roles.batch, &roles.rows, &roles.columns, &roles.sums})
    mergeNeighbours(*role);
  std::optional<MatmulForm> best;
  improve(roles, false, best);
  swapOperands(roles);
  improve(roles, true, best);
  // Large strides first, so that the batch is walked in memory order.
  std::sort(best->batch.begin(), best->batch.end(),
            [](const MatmulIndex &x, const MatmulIndex &y) { return x.c > y.c; });
  return *std::move(best);
}
