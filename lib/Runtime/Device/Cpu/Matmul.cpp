// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// Contractions by our own blocks where they are large matrix products of f32, by oneDNN where they are others of f32 or
// bf16, by plain loops elsewhere.

#include "MatmulTasks.h"

#include "ds/Runtime/StatusMacros.h"

#include <cstring>

using namespace ds;
using namespace ds::runtime;

namespace {
/// No summands: alpha * 0 (+ C), then the epilogue.
struct EmptySumTask : Task {
  absl::Status run(const TaskContext &) override {
    if (!accumulate)
      std::memset(c, 0, bytes);
    return epilogue.run();
  }

  char *c = nullptr;
  size_t bytes = 0;
  bool accumulate = false;
  Epilogue epilogue;
};

} // namespace

absl::StatusOr<Epilogue> ds::runtime::makeEpilogue(const MatmulSetup &setup) {
  EpilogueOptions options{setup.c, setup.bias, setup.form.batch, setup.activation, setup.type};
  options.indices.insert(options.indices.end(), {setup.form.rows, setup.form.columns});
  return Epilogue::create(std::move(options), *setup.scratch);
}

std::vector<Offsets> ds::runtime::enumerateOffsets(const std::vector<MatmulIndex> &indices, int64_t width) {
  std::vector<Offsets> offsets(1);
  for (const MatmulIndex &index : indices) {
    std::vector<Offsets> next;
    for (const Offsets &base : offsets)
      for (int64_t i = 0; i < index.size; ++i)
        next.push_back({base.a + i * index.a * width, base.b + i * index.b * width, base.c + i * index.c * width,
                        base.bias + i * index.bias * width});
    offsets = std::move(next);
  }
  return offsets;
}

/// Whether "brg" would be slow: it reads B where it lies, and rows that are a multiple of 4 KiB apart fall into the
/// same few lines of the first cache (measured: half the speed of the GEMM driver, which packs B).
static bool hasAliasingRows(const MatmulForm &form) {
  constexpr int64_t kAliasingFloats = 1024;
  return form.batch.empty() && form.sum.size >= 64 && form.columns.size >= 64 && form.columns.b == 1 &&
         form.sum.b % kAliasingFloats == 0;
}

/// From this length on "brg" cuts sums by threads if A is transposed, so that its bits depend on their number.
constexpr int64_t kCutSum = 2048;

static bool hasSumCutByThreads(const MatmulForm &form) { return form.rows.a == 1 && form.sum.size >= kCutSum; }

/// Cuts such a sum ourselves, into equal pieces that are added up in order, where there are any.
static void cutLongSum(MatmulForm &form) {
  constexpr int64_t kMostPieces = 64;
  if (!hasSumCutByThreads(form))
    return;
  for (int64_t pieces = 2; pieces <= kMostPieces; ++pieces) {
    MatmulIndex &sum = form.sum;
    if (sum.size % pieces != 0 || sum.size / pieces >= kCutSum)
      continue;
    sum.size /= pieces;
    form.outerSums.push_back({pieces, sum.a * sum.size, sum.b * sum.size, 0, 0});
    return;
  }
}

bool ds::runtime::packsRight(const MatmulSetup &setup) {
  constexpr int64_t kFewestRows = 1024, kMostBytes = 32 << 20;
  const MatmulForm &form = setup.form;
  return setup.type == plan::DataType::F32 && form.batch.empty() && form.outerSums.empty() && form.rows.a != 1 &&
         form.rows.size >= kFewestRows && form.sum.size >= 64 && form.columns.size >= 64 &&
         form.sum.size * form.columns.size * static_cast<int64_t>(sizeof(float)) <= kMostBytes;
}

static TaskOr makeLibraryTask(const MatmulSetup &setup) {
  const MatmulForm &form = setup.form;
  constexpr size_t kMostDims = 10; // of oneDNN's 12, without the matrix
  constexpr int64_t kMostLoops = 1 << 16;
  const bool isFloat = setup.type == plan::DataType::F32;
  const bool isSlow = isFloat && ((hasAliasingRows(form) && !packsRight(setup)) || hasSumCutByThreads(form));
  if (form.batch.size() <= kMostDims && !isSlow)
    if (TaskOr task = makeProductTask(setup, true); task.ok() || task.status().code() != absl::StatusCode::kNotFound)
      return task;
  if (form.outputs() / (form.rows.size * form.columns.size) > kMostLoops)
    return makeLoopTask(setup);
  if (isFloat)
    return makeGemmTask(setup);
  TaskOr task = makeProductTask(setup, false);
  return task.status().code() == absl::StatusCode::kNotFound ? makeLoopTask(setup) : std::move(task);
}

static TaskOr makeTask(const MatmulSetup &setup) {
  const MatmulForm &form = setup.form;
  if (form.outputs() > 0 && form.terms() == 0) {
    auto task = std::make_unique<EmptySumTask>();
    task->c = setup.c;
    task->bytes = static_cast<size_t>(form.outputs()) * plan::sizeOf(setup.type);
    task->accumulate = setup.accumulate;
    DS_ASSIGN_OR_RETURN(task->epilogue, makeEpilogue(setup));
    return task;
  }
  const bool isForLibrary = setup.type == plan::DataType::F32 || setup.type == plan::DataType::BF16;
  if (form.outputs() == 0 || !isForLibrary || !form.isMatrix)
    return makeLoopTask(setup);
  return makeLibraryTask(setup);
}

/// The number of elements of an operand.
static int64_t countOf(const std::vector<uint16_t> &dims, const std::vector<int64_t> &extents) {
  std::vector<int64_t> sizes;
  for (uint16_t dim : dims)
    sizes.push_back(extents[dim]);
  return productOf(sizes);
}

TaskOr ds::runtime::buildMatmul(const plan::MatmulT &matmul, const Bindings &bindings) {
  MatmulSetup setup;
  DS_ASSIGN_OR_RETURN(const std::vector<int64_t> extents, bindings.lengths(matmul.extents));
  DS_ASSIGN_OR_RETURN(setup.form, resolveMatmul(matmul, extents));
  DS_ASSIGN_OR_RETURN(setup.a, bindings.elements(matmul.a, countOf(matmul.a_dims, extents), matmul.type));
  DS_ASSIGN_OR_RETURN(setup.b, bindings.elements(matmul.b, countOf(matmul.b_dims, extents), matmul.type));
  DS_ASSIGN_OR_RETURN(setup.c, bindings.elements(matmul.c, countOf(matmul.c_dims, extents), matmul.type));
  if (matmul.bias != plan::kNoBuffer) {
    DS_ASSIGN_OR_RETURN(setup.bias, bindings.elements(matmul.bias, countOf(matmul.bias_dims, extents), matmul.type));
  }
  if (setup.form.isSwapped)
    std::swap(setup.a, setup.b);
  setup.alpha = matmul.alpha;
  setup.accumulate = matmul.accumulate;
  setup.activation = matmul.activation;
  setup.type = matmul.type;
  setup.scratch = bindings.scratch();
  if (hasBlocks(setup))
    return makeBlocksTask(setup);
  if (setup.form.isMatrix && matmul.type == plan::DataType::F32)
    cutLongSum(setup.form);
  return makeTask(setup);
}
