// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// Matmuls by oneDNN's GEMM driver.

#include "MatmulTasks.h"

#include "ds/Runtime/Device/ParallelFor.h"
#include "ds/Runtime/StatusMacros.h"

#include <atomic>

using namespace ds;
using namespace ds::runtime;

namespace {
/// A matrix for dnnl_sgemm.
struct GemmOperand {
  char transposed = 'N';
  int64_t stride = 1; ///< of its rows, or of its columns if it is transposed
};

/// f32 products by oneDNN's GEMM driver. Its bits depend on the number of threads that it uses, so each call is made on
/// one thread and covers a tile of C whose size is fixed.
struct GemmTask : Task {
  static constexpr int64_t kTileColumns = 768;

  absl::Status run(const TaskContext &) override {
    const int64_t rowTiles = (rows + tileHeight - 1) / tileHeight,
                  columnTiles = (columns + kTileColumns - 1) / kTileColumns;
    std::atomic<int> failure{dnnl_success};
    parallelFor(static_cast<int64_t>(batchOffsets.size()) * rowTiles * columnTiles, [&](int64_t number) {
      const Offsets &point = batchOffsets[static_cast<size_t>(number / (rowTiles * columnTiles))];
      const int64_t tile = number % (rowTiles * columnTiles);
      if (const dnnl_status_t status =
              runTile(point, tile / columnTiles * tileHeight, tile % columnTiles * kTileColumns);
          status != dnnl_success)
        failure = status;
    });
    DS_RETURN_IF_ERROR(dnnlStatus(static_cast<dnnl_status_t>(failure.load()), "multiply matrices"));
    return epilogue.run();
  }

  dnnl_status_t runTile(const Offsets &point, int64_t row, int64_t column) const {
    const int64_t tileRows = std::min(tileHeight, rows - row), tileColumns = std::min(kTileColumns, columns - column);
    const float *tileA = offset(a, point.a) + (aOperand.transposed == 'T' ? row : row * aOperand.stride);
    const float *tileB = offset(b, point.b) + (bOperand.transposed == 'T' ? column * bOperand.stride : column);
    float *tileC = const_cast<float *>(offset(c, point.c)) + row * cStride + column;
    bool adds = accumulate;
    for (const Offsets &sum : sumOffsets) {
      const dnnl_status_t status = dnnl_sgemm(aOperand.transposed, bOperand.transposed, tileRows, tileColumns, terms,
                                              alpha, offset(tileA, sum.a), aOperand.stride, offset(tileB, sum.b),
                                              bOperand.stride, adds ? 1.0f : 0.0f, tileC, cStride);
      if (status != dnnl_success)
        return status;
      adds = true;
    }
    return dnnl_success;
  }

  static const float *offset(const float *base, int64_t bytes) {
    return reinterpret_cast<const float *>(reinterpret_cast<const char *>(base) + bytes);
  }

  const float *a = nullptr, *b = nullptr, *c = nullptr;
  int64_t rows = 0, columns = 0, terms = 0;
  int64_t tileHeight = 1;
  GemmOperand aOperand, bOperand;
  int64_t cStride = 1;
  float alpha = 1;
  bool accumulate = false;
  std::vector<Offsets> batchOffsets, sumOffsets;
  Epilogue epilogue;
};

} // namespace

/// How dnnl_sgemm sees an operand [rows, columns] with strides.
static GemmOperand describeGemm(const MatmulIndex &rows, const MatmulIndex &columns, int64_t MatmulIndex::*stride) {
  const bool isPlain = columns.size == 1 || columns.*stride == 1;
  if (isPlain && (columns.size != 1 || rows.size == 1 || rows.*stride != 1))
    return {'N', rows.size == 1 ? std::max<int64_t>(columns.size, 1) : rows.*stride};
  return {'T', columns.size == 1 ? std::max<int64_t>(rows.size, 1) : columns.*stride};
}

TaskOr ds::runtime::makeGemmTask(const MatmulSetup &setup) {
  const MatmulForm &form = setup.form;
  auto task = std::make_unique<GemmTask>();
  task->a = reinterpret_cast<const float *>(setup.a);
  task->b = reinterpret_cast<const float *>(setup.b);
  task->c = reinterpret_cast<const float *>(setup.c);
  task->rows = form.rows.size;
  task->columns = form.columns.size;
  task->terms = form.sum.size;
  // High tiles pack B less often; a C of few tiles is cut finer, for the threads.
  task->tileHeight = form.outputs() >= 8 * 512 * GemmTask::kTileColumns ? 512 : 256;
  task->aOperand = describeGemm(form.rows, form.sum, &MatmulIndex::a);
  task->bOperand = describeGemm(form.sum, form.columns, &MatmulIndex::b);
  task->cStride = form.rows.size == 1 ? form.columns.size : form.rows.c;
  task->alpha = setup.alpha;
  task->accumulate = setup.accumulate;
  task->batchOffsets = enumerateOffsets(form.batch, sizeof(float));
  task->sumOffsets = enumerateOffsets(form.outerSums, sizeof(float));
  DS_ASSIGN_OR_RETURN(task->epilogue, makeEpilogue(setup));
  return task;
}
