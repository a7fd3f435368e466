// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// Copies between strided views. After simplification the two innermost loops decide how: rows that are contiguous on
// both sides go by memcpy, a transpose by tiles that stay in cache, anything else element by element.

#include "CopyForm.h"

#include "ds/Runtime/Device/Float16.h"
#include "ds/Runtime/Device/ParallelFor.h"
#include "ds/Runtime/StatusMacros.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cstring>

using namespace ds;
using namespace ds::runtime;

static constexpr int64_t kGrain = 16 * 1024; ///< elements per piece of work
static constexpr int64_t kWide = 64 * 1024;  ///< columns of a row that is worth cutting
static constexpr int64_t kTile = 32;         ///< rows and columns of a transposed tile

namespace {
/// A block of `rows` x `columns`, the columns innermost in the target.
struct Block {
  CopyLoop rows, columns;
};

template <typename T, bool Accumulate> struct BlockCopier {
  static void put(T &target, const T &source) {
    if constexpr (Accumulate)
      target = static_cast<T>(target + source);
    else
      target = source;
  }

  static void row(const T *source, T *target, const CopyLoop &columns) {
    if (!Accumulate && columns.source == 1 && columns.target == 1) {
      std::memcpy(target, source, static_cast<size_t>(columns.size) * sizeof(T));
    } else if (columns.source == 1 && columns.target == 1) {
      for (int64_t i = 0; i < columns.size; ++i)
        put(target[i], source[i]);
    } else {
      for (int64_t i = 0; i < columns.size; ++i)
        put(target[i * columns.target], source[i * columns.source]);
    }
  }

  /// Rows [begin, end) of the block.
  static void rows(const T *source, T *target, const Block &block, int64_t begin, int64_t end) {
    const bool isTranspose = block.rows.source == 1 && block.columns.source != 1;
    const int64_t tile = isTranspose ? kTile : std::max<int64_t>(block.columns.size, 1);
    for (int64_t column = 0; column < block.columns.size; column += tile) {
      const CopyLoop part{std::min(tile, block.columns.size - column), block.columns.source, block.columns.target};
      for (int64_t i = begin; i < end; ++i)
        row(source + i * block.rows.source + column * part.source,
            target + i * block.rows.target + column * part.target, part);
    }
  }
};

template <typename T, bool Accumulate> struct CopyTask : Task {
  absl::Status run(const TaskContext &context) override {
    const T *from = source + context.loopIndex * sourceLoopStep;
    T *to = target + context.loopIndex * targetLoopStep;
    if (block.columns.size > kWide && block.rows.source != 1)
      copyWideRows(from, to);
    else
      copyBlocks(from, to);
    return absl::OkStatus();
  }

  /// Long rows, one after the other: work is cut by columns.
  void copyWideRows(const T *from, T *to) const {
    for (int64_t row = 0; row < outerCount * block.rows.size; ++row) {
      int64_t sourceOffset = row % block.rows.size * block.rows.source,
              targetOffset = row % block.rows.size * block.rows.target;
      locate(row / block.rows.size, sourceOffset, targetOffset);
      parallelRanges(block.columns.size, kGrain, [&](int64_t begin, int64_t end) {
        const CopyLoop part{end - begin, block.columns.source, block.columns.target};
        BlockCopier<T, Accumulate>::row(from + sourceOffset + begin * part.source,
                                        to + targetOffset + begin * part.target, part);
      });
    }
  }

  /// Work is cut by rows of all blocks, numbered through; a transposed piece has at least a tile of rows.
  void copyBlocks(const T *from, T *to) const {
    const int64_t grain = std::max<int64_t>(kGrain / std::max<int64_t>(block.columns.size, 1), kTile);
    parallelRanges(outerCount * block.rows.size, grain, [&](int64_t begin, int64_t end) {
      while (begin < end) {
        const int64_t number = begin / block.rows.size, first = begin % block.rows.size;
        const int64_t last = std::min(block.rows.size, first + end - begin);
        int64_t sourceOffset = 0, targetOffset = 0;
        locate(number, sourceOffset, targetOffset);
        copyTiles(from + sourceOffset, to + targetOffset, first, last);
        begin += last - first;
      }
    });
  }

  void copyTiles(const T *from, T *to, int64_t first, int64_t last) const {
    for (int64_t row = first; row < last; row += kTile)
      BlockCopier<T, Accumulate>::rows(from, to, block, row, std::min(last, row + kTile));
  }

  /// Where block `number` of the outer loops begins.
  void locate(int64_t number, int64_t &sourceOffset, int64_t &targetOffset) const {
    for (size_t i = outer.size(); i-- > 0;) {
      const int64_t index = number % outer[i].size;
      number /= outer[i].size;
      sourceOffset += index * outer[i].source;
      targetOffset += index * outer[i].target;
    }
  }

  const T *source = nullptr;
  T *target = nullptr;
  int64_t sourceLoopStep = 0, targetLoopStep = 0;
  std::vector<CopyLoop> outer;
  int64_t outerCount = 1;
  Block block;
};

/// All that a CopyTask needs, before its element type is known.
struct CopySetup {
  char *source = nullptr, *target = nullptr;
  StridedView sourceView, targetView;
  std::vector<CopyLoop> loops;
};
} // namespace

template <typename T, bool Accumulate> static TaskOr makeTask(const CopySetup &setup) {
  auto task = std::make_unique<CopyTask<T, Accumulate>>();
  task->source = reinterpret_cast<const T *>(setup.source) + setup.sourceView.offset;
  task->target = reinterpret_cast<T *>(setup.target) + setup.targetView.offset;
  task->sourceLoopStep = setup.sourceView.loopIndexStep;
  task->targetLoopStep = setup.targetView.loopIndexStep;
  task->outer = setup.loops;
  if (!task->outer.empty()) {
    task->block.columns = task->outer.back();
    task->outer.pop_back();
  }
  // The partner of the columns is the loop that is contiguous in the source, if they are not; else the next one.
  auto &outer = task->outer;
  auto partner = std::find_if(outer.begin(), outer.end(), [](const CopyLoop &loop) { return loop.source == 1; });
  if (partner == outer.end() && !outer.empty())
    partner = outer.end() - 1;
  if (partner != outer.end()) {
    task->block.rows = *partner;
    outer.erase(partner);
  }
  for (const CopyLoop &loop : outer)
    task->outerCount *= loop.size;
  return task;
}

static TaskOr makePlainTask(const CopySetup &setup, plan::DataType type) {
  switch (plan::sizeOf(type)) {
  case 1:
    return makeTask<uint8_t, false>(setup);
  case 2:
    return makeTask<uint16_t, false>(setup);
  case 4:
    return makeTask<uint32_t, false>(setup);
  default:
    return makeTask<uint64_t, false>(setup);
  }
}

static TaskOr makeAccumulatingTask(const CopySetup &setup, plan::DataType type) {
  for (const CopyLoop &loop : setup.loops)
    if (loop.target == 0)
      return absl::InvalidArgumentError("invalid plan: an accumulating copy must not broadcast its target");
  switch (type) {
  case plan::DataType::F32:
    return makeTask<float, true>(setup);
  case plan::DataType::F64:
    return makeTask<double, true>(setup);
  case plan::DataType::F16:
    return makeTask<Float16, true>(setup);
  case plan::DataType::BF16:
    return makeTask<BFloat16, true>(setup);
  case plan::DataType::I64:
    return makeTask<int64_t, true>(setup);
  case plan::DataType::I32:
    return makeTask<int32_t, true>(setup);
  case plan::DataType::I8:
    return makeTask<int8_t, true>(setup);
  default:
    return absl::InvalidArgumentError("invalid plan: an accumulating copy must be of numbers, got bool");
  }
}

static absl::Status setupView(const plan::ViewT &view, const std::vector<int64_t> &space, plan::DataType type,
                              const Bindings &bindings, char *&data, StridedView &result) {
  std::vector<uint32_t> ids;
  for (const auto &dim : view.dims)
    ids.push_back(dim->extent);
  DS_ASSIGN_OR_RETURN(const std::vector<int64_t> extents, bindings.lengths(ids));
  DS_ASSIGN_OR_RETURN(data, bindings.elements(view.buffer, productOf(extents), type));
  DS_ASSIGN_OR_RETURN(result, resolveView(view, space, extents, bindings.loopCount()));
  return absl::OkStatus();
}

TaskOr ds::runtime::buildCopy(const plan::CopyT &copy, const Bindings &bindings) {
  if (!copy.source || !copy.target)
    return absl::InvalidArgumentError("invalid plan: a copy must have a source and a target, got none");
  CopySetup setup;
  DS_ASSIGN_OR_RETURN(const std::vector<int64_t> space, bindings.lengths(copy.extents));
  DS_RETURN_IF_ERROR(setupView(*copy.source, space, copy.type, bindings, setup.source, setup.sourceView));
  DS_RETURN_IF_ERROR(setupView(*copy.target, space, copy.type, bindings, setup.target, setup.targetView));
  setup.loops = simplifiedLoops(space, setup.sourceView, setup.targetView);
  return copy.accumulate ? makeAccumulatingTask(setup, copy.type) : makePlainTask(setup, copy.type);
}
