// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "Semantics.h"

#include "ds/Dialect/DsDialect.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace mlir;
using namespace ds;

static void addElement(DenseTensor &to, int64_t index, const DenseTensor &from, int64_t fromIndex) {
  if (to.isFloat)
    to.floats[index] += from.floats[fromIndex];
  else
    to.ints[index] = foldInts(ReduceKind::Sum, to.ints[index], from.ints[fromIndex]);
}

/// `id`, counted from the end if negative, in [0, size); reports others.
static FailureOr<int64_t> checkedId(const LocalCall &call, int64_t id, int64_t size) {
  if (id < -size || id >= size)
    return call.fail("id must be in [" + Twine(-size) + ", " + Twine(size) + "), got " + Twine(id));
  return id < 0 ? id + size : id;
}

/// Rows that this rank does not hold give zeros.
static LogicalResult gatherRows(LocalCall &call) {
  const DenseTensor &table = call.operand(0), &ids = call.operand(1);
  Shape shape = ids.shape;
  shape.insert(shape.end(), table.shape.begin() + 1, table.shape.end());
  if (failed(call.requireShape(shape)))
    return failure();
  const std::vector<int64_t> places = localPlaces(*call.operandPlacements[0], call.rank, 0);
  const int64_t width = RowView(table.shape, 1).width;
  for (int64_t i = 0; i < ids.size(); ++i) {
    FailureOr<int64_t> id = checkedId(call, ids.ints[i], places.size());
    if (failed(id))
      return failure();
    for (int64_t j = 0; places[*id] >= 0 && j < width; ++j)
      copyElement(call.result(), i * width + j, table, places[*id] * width + j);
  }
  return success();
}

/// Rows that this rank does not hold are left out.
static LogicalResult scatterAddRows(LocalCall &call) {
  const DenseTensor &ids = call.operand(0), &updates = call.operand(1);
  DenseTensor &result = call.result();
  Shape shape = ids.shape;
  shape.insert(shape.end(), result.shape.begin() + 1, result.shape.end());
  if (updates.shape != shape)
    return call.fail("updates must have the local shape of ids and of the result's rows");
  const std::vector<int64_t> places = localPlaces(*call.resultPlacements[0], call.rank, 0);
  const int64_t width = RowView(result.shape, 1).width;
  for (int64_t i = 0; i < ids.size(); ++i) {
    FailureOr<int64_t> id = checkedId(call, ids.ints[i], places.size());
    if (failed(id))
      return failure();
    for (int64_t j = 0; places[*id] >= 0 && j < width; ++j)
      addElement(result, places[*id] * width + j, updates, i * width + j);
  }
  return success();
}

/// Calls `visit(data index, ids index)` for each id along `dim`; data is [.., size, ..], ids [.., picked, ..].
template <typename Function>
static LogicalResult visitElements(const LocalCall &call, const DenseTensor &data, const DenseTensor &ids, int64_t dim,
                                   Function visit) {
  const DimView dataView(data.shape, dim), idsView(ids.shape, dim);
  if (dataView.outer != idsView.outer || dataView.inner != idsView.inner)
    return call.fail("data and ids must have one local shape but for dim " + Twine(dim));
  for (int64_t before = 0; before < idsView.outer; ++before)
    for (int64_t i = 0; i < idsView.size; ++i)
      for (int64_t after = 0; after < idsView.inner; ++after) {
        const int64_t index = idsView.index(before, i, after);
        FailureOr<int64_t> id = checkedId(call, ids.ints[index], dataView.size);
        if (failed(id))
          return failure();
        visit(dataView.index(before, *id, after), index);
      }
  return success();
}

static LogicalResult gatherElements(LocalCall &call) {
  const int64_t dim = cast<GatherElementsOp>(call.op).getDim();
  const DenseTensor &input = call.operand(0), &ids = call.operand(1);
  if (failed(call.requireWhole(0, dim)) || failed(call.requireShape(ids.shape)))
    return failure();
  return visitElements(call, input, ids, dim,
                       [&](int64_t from, int64_t to) { copyElement(call.result(), to, input, from); });
}

static LogicalResult scatterElements(LocalCall &call) {
  const int64_t dim = cast<ScatterElementsOp>(call.op).getDim();
  const DenseTensor &ids = call.operand(0), &updates = call.operand(1);
  if (failed(call.requireWhole(0, dim)))
    return failure();
  if (call.resultPlacements[0]->shape()[dim] != call.result().shape[dim] || updates.shape != ids.shape)
    return call.fail("dim " + Twine(dim) +
                     " of the result must be whole, and updates must have the local shape of ids");
  return visitElements(call, call.result(), ids, dim,
                       [&](int64_t to, int64_t from) { addElement(call.result(), to, updates, from); });
}

/// Descending, NaN first; of equal elements the one at the lower index.
static bool comesBefore(double a, int64_t indexOfA, double b, int64_t indexOfB) {
  if (a == b || (std::isnan(a) && std::isnan(b)))
    return indexOfA < indexOfB;
  return std::isnan(a) || a > b;
}

static LogicalResult topK(LocalCall &call) {
  const int64_t dim = cast<TopKOp>(call.op).getDim();
  const DenseTensor &input = call.operand(0);
  if (failed(call.requireWhole(0, dim)) || failed(call.requireShape(call.result(0).shape, 1)))
    return failure();
  const DimView view(input.shape, dim), picked(call.result(0).shape, dim);
  if (view.outer != picked.outer || view.inner != picked.inner || picked.size > view.size)
    return call.fail("input and results must have one local shape but for dim " + Twine(dim));
  std::vector<int64_t> order(view.size);
  for (int64_t before = 0; before < view.outer; ++before)
    for (int64_t after = 0; after < view.inner; ++after) {
      auto valueAt = [&](int64_t i) { return input.floats[view.index(before, i, after)]; };
      std::iota(order.begin(), order.end(), 0);
      std::sort(order.begin(), order.end(),
                [&](int64_t a, int64_t b) { return comesBefore(valueAt(a), a, valueAt(b), b); });
      for (int64_t i = 0; i < picked.size; ++i) {
        call.result(0).floats[picked.index(before, i, after)] = valueAt(order[i]);
        call.result(1).ints[picked.index(before, i, after)] = order[i];
      }
    }
  return success();
}

void ds::addIndexOps(SemanticsTable &table) {
  table.add<GatherElementsOp>(gatherElements);
  table.add<GatherRowsOp>(gatherRows);
  table.add<ScatterAddRowsOp>(scatterAddRows);
  table.add<ScatterElementsOp>(scatterElements);
  table.add<TopKOp>(topK);
}
