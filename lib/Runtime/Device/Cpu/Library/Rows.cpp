// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// GatherRows and ScatterAddRows: the embedding and its gradient.

#include "LibraryTask.h"

#include "ds/Runtime/Device/FastCopy.h"
#include "ds/Runtime/Device/ParallelFor.h"

#include <cstring>
#include <utility>

using namespace ds;
using namespace ds::runtime;

namespace {
struct GatherRowsTask : Task {
  absl::Status run(const TaskContext &) override {
    DS_RETURN_IF_ERROR(range.check(ids, count));
    parallelRanges(count, 65536 / std::max<int64_t>(rowBytes, 1), [this](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        gatherOne(range.localOf(ids[i]), out + i * rowBytes);
    });
    return absl::OkStatus();
  }

  void gatherOne(int64_t row, char *target) const {
    if (row < 0)
      std::memset(target, 0, static_cast<size_t>(rowBytes));
    else
      std::memcpy(target, table + row * rowBytes, static_cast<size_t>(rowBytes));
  }

  const char *table = nullptr;
  const int64_t *ids = nullptr;
  char *out = nullptr;
  IndexRange range;
  int64_t rowBytes = 0, count = 0;
};

/// The updates of each row, in ascending order.
struct RowUpdates {
  void link(const int64_t *ids, int64_t count, const IndexRange &range, int64_t *memory) {
    rows = range.length;
    firsts = memory;
    nexts = firsts + rows;
    std::fill_n(firsts, rows, -1);
    for (int64_t i = count; i-- > 0;)
      if (const int64_t row = range.localOf(ids[i]); row >= 0)
        nexts[i] = std::exchange(firsts[row], i);
  }
  static int64_t memoryOf(int64_t rows, int64_t count) { return rows + count + 1; }

  int64_t firstOf(int64_t row) const { return firsts[row]; } ///< -1: none
  int64_t nextOf(int64_t update) const { return nexts[update]; }
  /// Of a row.
  int64_t most() const {
    int64_t result = 0;
    for (int64_t row = 0; row < rows; ++row) {
      int64_t updatesHere = 0;
      for (int64_t i = firstOf(row); i >= 0; i = nextOf(i))
        ++updatesHere;
      result = std::max(result, updatesHere);
    }
    return result;
  }

private:
  int64_t *firsts = nullptr, *nexts = nullptr;
  int64_t rows = 0;
};

/// Writes each row of `out` once: the first update that belongs to it, plus the others in ascending order, or zeros.
/// The work is cut by rows, as threads that write parts of one row fetch lines of each other, or by columns where a
/// single row has many of the updates.
template <typename T> struct ScatterAddRowsTask : Task {
  static constexpr int64_t kLeastColumns = 64;     ///< the fewest columns that a thread takes of a row
  static constexpr int64_t kPartColumns = 256;     ///< the columns of a row that are summed at a time
  static constexpr int64_t kMostAsked = 4;         ///< the most updates of the next row that are prefetched
  static constexpr int64_t kStreamBytes = 8 << 20; ///< a larger result does not stay in a cache anyway

  absl::Status run(const TaskContext &) override {
    DS_RETURN_IF_ERROR(range.check(ids, count));
    if (width == 0)
      return absl::OkStatus();
    lists.link(ids, count, range, static_cast<int64_t *>(scratch->data()));
    const int64_t threads = getThreads();
    if (width >= kLeastColumns * threads && lists.most() > count / (4 * threads))
      parallelRanges(width, width / threads,
                     [this](int64_t begin, int64_t end) { writeRows(0, range.length, begin, end); });
    else
      parallelRanges(range.length, std::max<int64_t>(1, 16384 / std::max<int64_t>(width, 1)),
                     [this](int64_t begin, int64_t end) { writeRows(begin, end, 0, width); });
    return absl::OkStatus();
  }

  /// Columns [begin, end) of some rows.
  void writeRows(int64_t firstRow, int64_t endRow, int64_t begin, int64_t end) const {
    const auto write = range.length * width * static_cast<int64_t>(sizeof(T)) >= kStreamBytes ? streamBytes : copyBytes;
    T sums[kPartColumns];
    for (int64_t row = firstRow; row < endRow; ++row)
      for (int64_t at = begin; at < end; at += kPartColumns) {
        const int64_t columns = std::min(kPartColumns, end - at);
        if (row + 1 < endRow)
          askFor(row + 1, at, columns);
        write(reinterpret_cast<char *>(out + row * width + at),
              reinterpret_cast<const char *>(sumRow(row, at, columns, sums)),
              columns * static_cast<int64_t>(sizeof(T)));
      }
    finishStreams();
  }

  /// Updates lie anywhere, so that each would begin with a wait for memory.
  void askFor(int64_t row, int64_t begin, int64_t columns) const {
    constexpr int64_t kLine = 64 / sizeof(T);
    int64_t left = kMostAsked;
    for (int64_t i = lists.firstOf(row); i >= 0 && left > 0; i = lists.nextOf(i), --left)
      for (int64_t column = begin; column < begin + columns; column += kLine)
        __builtin_prefetch(updates + i * width + column);
  }

  /// Columns of a row: its only update itself, or `sums`.
  const T *sumRow(int64_t row, int64_t begin, int64_t columns, T *sums) const {
    int64_t i = lists.firstOf(row);
    if (i < 0) {
      std::fill_n(sums, columns, T(0));
      return sums;
    }
    const T *first = updates + i * width + begin;
    if (lists.nextOf(i) < 0)
      return first;
    std::copy_n(first, columns, sums);
    while ((i = lists.nextOf(i)) >= 0)
      for (int64_t column = 0; column < columns; ++column)
        sums[column] += updates[i * width + begin + column];
    return sums;
  }

  const int64_t *ids = nullptr;
  const T *updates = nullptr;
  T *out = nullptr;
  ScratchSpace *scratch = nullptr;
  RowUpdates lists;
  IndexRange range;
  int64_t width = 0, count = 0;
};
} // namespace

/// The rows of the table that this rank holds.
static IndexRange rowsOf(const LibraryOperands &operands) {
  const plan::ExtentValue rows = operands.extent("rows");
  return {operands.number("N"), rows.begin, rows.length};
}

TaskOr ds::runtime::buildGatherRows(const LibraryOperands &operands) {
  auto task = std::make_unique<GatherRowsTask>();
  DS_ASSIGN_OR_RETURN(task->table, operands.buffer<char>("table"));
  DS_ASSIGN_OR_RETURN(task->ids, operands.buffer<int64_t>("ids"));
  DS_ASSIGN_OR_RETURN(task->out, operands.buffer<char>("out"));
  task->range = rowsOf(operands);
  task->rowBytes = operands.length("width") * static_cast<int64_t>(plan::sizeOf(operands.type()));
  task->count = operands.length("count");
  return task;
}

template <typename T> static TaskOr makeScatterAddRows(const LibraryOperands &operands) {
  auto task = std::make_unique<ScatterAddRowsTask<T>>();
  DS_ASSIGN_OR_RETURN(task->ids, operands.buffer<int64_t>("ids"));
  DS_ASSIGN_OR_RETURN(task->updates, operands.buffer<T>("updates"));
  DS_ASSIGN_OR_RETURN(task->out, operands.buffer<T>("out"));
  task->range = rowsOf(operands);
  task->width = operands.length("width");
  task->count = operands.length("count");
  task->scratch = operands.scratch();
  if (task->width > 0) // so the rows are in the arena, and as many numbers fit
    task->scratch->reserve(static_cast<size_t>(RowUpdates::memoryOf(task->range.length, task->count)) *
                           sizeof(int64_t));
  return task;
}

TaskOr ds::runtime::buildScatterAddRows(const LibraryOperands &operands) {
  switch (operands.type()) {
  case plan::DataType::F32:
    return makeScatterAddRows<float>(operands);
  case plan::DataType::F64:
    return makeScatterAddRows<double>(operands);
  case plan::DataType::I32:
    return makeScatterAddRows<int32_t>(operands);
  case plan::DataType::I64:
    return makeScatterAddRows<int64_t>(operands);
  default:
    return unsupportedType(operands);
  }
}
