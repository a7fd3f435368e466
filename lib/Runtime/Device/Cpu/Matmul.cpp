// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// Contractions by oneDNN where they are matrix products of f32 or bf16, by plain loops elsewhere.

#include "Epilogue.h"
#include "MatmulForm.h"
#include "OneDnn.h"

#include "ds/Runtime/Device/Float16.h"
#include "ds/Runtime/Device/ParallelFor.h"
#include "ds/Runtime/StatusMacros.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

#include <atomic>

using namespace ds;
using namespace ds::runtime;

namespace {
/// A matmul's form and memory.
struct MatmulSetup {
  MatmulForm form;
  char *a = nullptr, *b = nullptr, *c = nullptr, *bias = nullptr; ///< a and b as in the form; bias null if none
  float alpha = 1;
  bool accumulate = false;
  plan::Activation activation = plan::Activation::None;
  plan::DataType type = plan::DataType::F32;
  ScratchSpace *scratch = nullptr;
};

/// What one call of oneDNN covers.
struct ProductOptions {
  bool hasBatch = false; ///< batch dims are part of the primitive, else loops around it
  bool accumulate = false;
  bool hasEpilogue = false;
};

/// Where one product of many begins in its operands.
struct Offsets {
  int64_t a = 0, b = 0, c = 0, bias = 0; ///< bytes
};

/// One product per batch point and outer sum, by a few primitives.
struct ProductTask : Task {
  absl::Status run(const TaskContext &) override {
    for (const Offsets &point : batchOffsets)
      for (size_t sum = 0; sum < sumOffsets.size(); ++sum)
        DS_RETURN_IF_ERROR(runOne(primitives[std::min(sum == 0                       ? 0
                                                      : sum + 1 == sumOffsets.size() ? size_t(2)
                                                                                     : size_t(1),
                                                      primitives.size() - 1)],
                                  point, sumOffsets[sum]));
    return epilogue.run();
  }

  absl::Status runOne(BoundPrimitive &primitive, const Offsets &point, const Offsets &sum) {
    if (batchOffsets.size() * sumOffsets.size() > 1) {
      primitive.rebind(0, a + point.a + sum.a);
      primitive.rebind(1, b + point.b + sum.b);
      primitive.rebind(2, c + point.c);
      if (primitive.numBound() > 3)
        primitive.rebind(3, bias + point.bias);
    }
    return primitive.run();
  }

  char *a = nullptr, *b = nullptr, *c = nullptr, *bias = nullptr;
  std::vector<Offsets> batchOffsets{1}, sumOffsets{1};
  std::vector<BoundPrimitive> primitives; ///< for the first, the inner, the last sum; one if there is one sum
  Epilogue epilogue;
};

/// A matrix for dnnl_sgemm.
struct GemmOperand {
  char transposed = 'N';
  int64_t stride = 1; ///< of its rows, or of its columns if it is transposed
};

/// f32 products by oneDNN's GEMM driver. Its bits depend on the number of threads that it uses, so each call is made on
/// one thread and covers a tile of C whose size is fixed.
struct GemmTask : Task {
  static constexpr int64_t kTileRows = 256, kTileColumns = 768;

  absl::Status run(const TaskContext &) override {
    const int64_t rowTiles = (rows + kTileRows - 1) / kTileRows,
                  columnTiles = (columns + kTileColumns - 1) / kTileColumns;
    std::atomic<int> failure{dnnl_success};
    parallelFor(static_cast<int64_t>(batchOffsets.size()) * rowTiles * columnTiles, [&](int64_t number) {
      const Offsets &point = batchOffsets[static_cast<size_t>(number / (rowTiles * columnTiles))];
      const int64_t tile = number % (rowTiles * columnTiles);
      if (const dnnl_status_t status =
              runTile(point, tile / columnTiles * kTileRows, tile % columnTiles * kTileColumns);
          status != dnnl_success)
        failure = status;
    });
    DS_RETURN_IF_ERROR(dnnlStatus(static_cast<dnnl_status_t>(failure.load()), "multiply matrices"));
    return epilogue.run();
  }

  dnnl_status_t runTile(const Offsets &point, int64_t row, int64_t column) const {
    const int64_t tileRows = std::min(kTileRows, rows - row), tileColumns = std::min(kTileColumns, columns - column);
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
  GemmOperand aOperand, bOperand;
  int64_t cStride = 1;
  float alpha = 1;
  bool accumulate = false;
  std::vector<Offsets> batchOffsets, sumOffsets;
  Epilogue epilogue;
};

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

/// Any strides, any type: each output by itself, in double.
template <typename T> struct LoopTask : Task {
  absl::Status run(const TaskContext &) override {
    parallelRanges(outputs, std::max<int64_t>(1, 4096 / std::max<int64_t>(terms, 1)),
                   [this](int64_t begin, int64_t end) {
                     for (int64_t i = begin; i < end; ++i)
                       computeOne(i);
                   });
    return epilogue.run();
  }

  static int64_t step(const std::vector<MatmulIndex> &indices, int64_t number, int64_t &x,
                      int64_t MatmulIndex::*xStride, int64_t &y, int64_t MatmulIndex::*yStride) {
    int64_t c = 0;
    for (size_t i = indices.size(); i-- > 0; number /= indices[i].size) {
      const int64_t at = number % indices[i].size;
      x += at * (indices[i].*xStride);
      y += at * (indices[i].*yStride);
      c += at * indices[i].c;
    }
    return c;
  }

  void computeOne(int64_t number) const {
    int64_t aBase = 0, bBase = 0;
    const int64_t at = step(outer, number, aBase, &MatmulIndex::a, bBase, &MatmulIndex::b);
    double total = 0;
    for (int64_t term = 0; term < terms; ++term) {
      int64_t i = aBase, j = bBase;
      step(sums, term, i, &MatmulIndex::a, j, &MatmulIndex::b);
      total += static_cast<double>(a[i]) * static_cast<double>(b[j]);
    }
    total *= alpha;
    c[at] = static_cast<T>(accumulate ? static_cast<double>(c[at]) + total : total);
  }

  const T *a = nullptr, *b = nullptr;
  T *c = nullptr;
  double alpha = 1;
  bool accumulate = false;
  std::vector<MatmulIndex> outer, sums;
  int64_t outputs = 0, terms = 0;
  Epilogue epilogue;
};
} // namespace

/// The bias and the activation as a pass of its own over C.
static absl::StatusOr<Epilogue> makeEpilogue(const MatmulSetup &setup) {
  EpilogueOptions options{setup.c, setup.bias, setup.form.batch, setup.activation, setup.type};
  options.indices.insert(options.indices.end(), {setup.form.rows, setup.form.columns});
  return Epilogue::create(std::move(options), *setup.scratch);
}

template <typename T> static TaskOr makeLoopTask(const MatmulSetup &setup) {
  auto task = std::make_unique<LoopTask<T>>();
  task->a = reinterpret_cast<const T *>(setup.a);
  task->b = reinterpret_cast<const T *>(setup.b);
  task->c = reinterpret_cast<T *>(setup.c);
  task->alpha = setup.alpha;
  task->accumulate = setup.accumulate;
  task->outer = setup.form.batch;
  task->outer.insert(task->outer.end(), {setup.form.rows, setup.form.columns});
  task->sums = setup.form.outerSums;
  task->sums.push_back(setup.form.sum);
  task->outputs = setup.form.outputs();
  task->terms = setup.form.terms();
  DS_ASSIGN_OR_RETURN(task->epilogue, makeEpilogue(setup));
  return task;
}

static TaskOr makeAnyLoopTask(const MatmulSetup &setup) {
  switch (setup.type) {
  case plan::DataType::F32: return makeLoopTask<float>(setup);
  case plan::DataType::F64: return makeLoopTask<double>(setup);
  case plan::DataType::F16: return makeLoopTask<Float16>(setup);
  case plan::DataType::BF16: return makeLoopTask<BFloat16>(setup);
  default:
    return absl::UnimplementedError(
        absl::StrCat("a matmul must be of a floating-point type, got ", std::string(plan::nameOf(setup.type))));
  }
}

//===----------------------------------------------------------------------===//
// By oneDNN
//===----------------------------------------------------------------------===//

/// The sizes and strides of one operand: batch dims (size 1 where it lacks one), then the matrix.
static absl::StatusOr<dnnl_memory_desc_t> describeOperand(const MatmulSetup &setup, const ProductOptions &options,
                                                          int64_t MatmulIndex::*stride, const MatmulIndex &rows,
                                                          const MatmulIndex &columns) {
  std::vector<int64_t> sizes, strides;
  if (options.hasBatch)
    for (const MatmulIndex &index : setup.form.batch) {
      const bool isMissing = index.*stride == 0;
      sizes.push_back(isMissing ? 1 : index.size);
      strides.push_back(isMissing ? 1 : index.*stride);
    }
  // A dim of size 1 gets the stride that it would have in a dense matrix, so that oneDNN sees a plain format.
  const int64_t columnStride = columns.size == 1 && rows.*stride != 1 ? 1 : columns.*stride;
  const int64_t rowStride = rows.size == 1 ? std::max<int64_t>(columnStride == 1 ? columns.size : 1, 1) : rows.*stride;
  sizes.insert(sizes.end(), {rows.size, columns.size});
  strides.insert(strides.end(),
                 {rowStride, columns.size == 1 && rowStride == 1 ? std::max<int64_t>(rows.size, 1) : columnStride});
  return describeTensor(sizes, strides, setup.type);
}

/// Whether oneDNN's bias can take ours: a vector along the columns, not scaled by alpha.
static bool hasLibraryBias(const MatmulSetup &setup) {
  const MatmulForm &form = setup.form;
  for (const MatmulIndex &index : form.batch)
    if (index.bias != 0)
      return false;
  return setup.alpha == 1 && form.rows.bias == 0 && (form.columns.bias == 1 || form.columns.size == 1);
}

static absl::Status appendActivation(plan::Activation activation, dnnl_post_ops_t postOps) {
  const auto found = findActivation(activation);
  if (!found)
    return absl::OkStatus();
  return dnnlStatus(dnnl_post_ops_append_eltwise(postOps, 1.0f, found->first, found->second, 0.0f),
                    "append an activation");
}

static absl::StatusOr<DnnlAttributes> makeProductAttributes(const MatmulSetup &setup, const ProductOptions &options) {
  DS_ASSIGN_OR_RETURN(DnnlAttributes attributes, makeAttributes());
  DnnlPostOps postOps;
  DS_RETURN_IF_ERROR(dnnlStatus(dnnl_post_ops_create(postOps.out()), "create post-operations"));
  if (setup.alpha != 1)
    DS_RETURN_IF_ERROR(
        dnnlStatus(dnnl_primitive_attr_set_output_scales(attributes.get(), 1, 0, &setup.alpha), "set the scale"));
  if (options.accumulate)
    DS_RETURN_IF_ERROR(dnnlStatus(dnnl_post_ops_append_sum(postOps.get(), 1.0f), "append a sum"));
  if (options.hasEpilogue)
    DS_RETURN_IF_ERROR(appendActivation(setup.activation, postOps.get()));
  DS_RETURN_IF_ERROR(
      dnnlStatus(dnnl_primitive_attr_set_post_ops(attributes.get(), postOps.get()), "set post-operations"));
  return attributes;
}

static bool isImplementation(const_dnnl_primitive_desc_t description, const char *prefix) {
  const char *name = nullptr;
  return dnnl_primitive_desc_query(description, dnnl_query_impl_info_str, 0, &name) == dnnl_success && name &&
         absl::StartsWith(name, prefix);
}

/// The implementation to use: "brg", whose bits do not depend on the number of threads. For bf16 also "gemm", never a
/// reference implementation.
static DnnlPrimitiveDesc findImplementation(dnnl_primitive_desc_iterator_t iterator, plan::DataType type) {
  do {
    DnnlPrimitiveDesc candidate;
    *candidate.out() = dnnl_primitive_desc_iterator_fetch(iterator);
    if (isImplementation(candidate.get(), "brg") ||
        (type != plan::DataType::F32 && isImplementation(candidate.get(), "gemm")))
      return candidate;
  } while (dnnl_primitive_desc_iterator_next(iterator) == dnnl_success);
  return {};
}

/// The primitive for `options`, bound to the operands' beginnings, or NotFound if oneDNN has none to our taste.
static absl::StatusOr<BoundPrimitive> makeProduct(const MatmulSetup &setup, const ProductOptions &options) {
  const MatmulForm &form = setup.form;
  DS_ASSIGN_OR_RETURN(const dnnl_memory_desc_t a,
                      describeOperand(setup, options, &MatmulIndex::a, form.rows, form.sum));
  DS_ASSIGN_OR_RETURN(const dnnl_memory_desc_t b,
                      describeOperand(setup, options, &MatmulIndex::b, form.sum, form.columns));
  DS_ASSIGN_OR_RETURN(const dnnl_memory_desc_t c,
                      describeOperand(setup, options, &MatmulIndex::c, form.rows, form.columns));
  const bool hasBias = options.hasEpilogue && setup.bias;
  std::vector<int64_t> biasSizes(static_cast<size_t>(c.ndims), 1);
  biasSizes.back() = form.columns.size;
  DS_ASSIGN_OR_RETURN(const dnnl_memory_desc_t bias, describeDense(biasSizes, setup.type));
  dnnl_matmul_desc_t operation;
  DS_RETURN_IF_ERROR(
      dnnlStatus(dnnl_matmul_desc_init(&operation, &a, &b, hasBias ? &bias : nullptr, &c), "describe a matmul"));
  DS_ASSIGN_OR_RETURN(const DnnlAttributes attributes, makeProductAttributes(setup, options));
  DnnlPrimitiveIterator iterator;
  DnnlPrimitiveDesc chosen;
  if (dnnl_primitive_desc_iterator_create(iterator.out(), &operation, attributes.get(), dnnlCpu(), nullptr) ==
      dnnl_success)
    chosen = findImplementation(iterator.get(), setup.type);
  if (!chosen.get())
    return absl::NotFoundError("no such implementation");
  DS_ASSIGN_OR_RETURN(BoundPrimitive product, BoundPrimitive::create(chosen.get(), *setup.scratch));
  DS_RETURN_IF_ERROR(product.bind(DNNL_ARG_SRC, a, setup.a));
  DS_RETURN_IF_ERROR(product.bind(DNNL_ARG_WEIGHTS, b, setup.b));
  DS_RETURN_IF_ERROR(product.bind(DNNL_ARG_DST, c, setup.c));
  if (hasBias)
    DS_RETURN_IF_ERROR(product.bind(DNNL_ARG_BIAS, bias, setup.bias));
  return product;
}

/// The byte offsets of all points of `indices`, the last one fastest.
static std::vector<Offsets> enumerateOffsets(const std::vector<MatmulIndex> &indices, int64_t width) {
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

/// A task of products with or without the batch inside oneDNN.
static TaskOr makeProductTask(const MatmulSetup &setup, bool hasBatch) {
  auto task = std::make_unique<ProductTask>();
  task->a = setup.a;
  task->b = setup.b;
  task->c = setup.c;
  task->bias = setup.bias;
  const int64_t width = static_cast<int64_t>(plan::sizeOf(setup.type));
  if (!hasBatch)
    task->batchOffsets = enumerateOffsets(setup.form.batch, width);
  task->sumOffsets = enumerateOffsets(setup.form.outerSums, width);
  const bool hasLibraryEpilogue = !setup.bias || hasLibraryBias(setup);
  const bool isOne = task->sumOffsets.size() == 1;
  std::vector<ProductOptions> all = {{hasBatch, setup.accumulate, isOne && hasLibraryEpilogue}};
  if (!isOne)
    all.insert(all.end(), {{hasBatch, true, false}, {hasBatch, true, hasLibraryEpilogue}});
  for (const ProductOptions &options : all) {
    DS_ASSIGN_OR_RETURN(BoundPrimitive product, makeProduct(setup, options));
    task->primitives.push_back(std::move(product));
  }
  if (!hasLibraryEpilogue) {
    DS_ASSIGN_OR_RETURN(task->epilogue, makeEpilogue(setup));
  }
  return task;
}

/// How dnnl_sgemm sees an operand [rows, columns] with strides.
static GemmOperand describeGemm(const MatmulIndex &rows, const MatmulIndex &columns, int64_t MatmulIndex::*stride) {
  const bool isPlain = columns.size == 1 || columns.*stride == 1;
  if (isPlain && (columns.size != 1 || rows.size == 1 || rows.*stride != 1))
    return {'N', rows.size == 1 ? std::max<int64_t>(columns.size, 1) : rows.*stride};
  return {'T', columns.size == 1 ? std::max<int64_t>(rows.size, 1) : columns.*stride};
}

static TaskOr makeGemmTask(const MatmulSetup &setup) {
  const MatmulForm &form = setup.form;
  auto task = std::make_unique<GemmTask>();
  task->a = reinterpret_cast<const float *>(setup.a);
  task->b = reinterpret_cast<const float *>(setup.b);
  task->c = reinterpret_cast<const float *>(setup.c);
  task->rows = form.rows.size;
  task->columns = form.columns.size;
  task->terms = form.sum.size;
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

/// Whether "brg" would be slow: it reads B where it lies, and rows that are a multiple of 4 KiB apart fall into the
/// same few lines of the first cache (measured: half the speed of the GEMM driver, which packs B).
static bool hasAliasingRows(const MatmulForm &form) {
  constexpr int64_t kAliasingFloats = 1024;
  return form.batch.empty() && form.sum.size >= 64 && form.columns.size >= 64 && form.columns.b == 1 &&
         form.sum.b % kAliasingFloats == 0;
}

/// Whether the bits of "brg" would depend on the number of threads: it cuts long sums by threads if A is transposed.
static bool hasSumCutByThreads(const MatmulForm &form) { return form.rows.a == 1 && form.sum.size >= 2048; }

static TaskOr makeLibraryTask(const MatmulSetup &setup) {
  const MatmulForm &form = setup.form;
  constexpr size_t kMostDims = 10; // of oneDNN's 12, without the matrix
  constexpr int64_t kMostLoops = 1 << 16;
  const bool isFloat = setup.type == plan::DataType::F32;
  if (form.batch.size() <= kMostDims && !(isFloat && (hasAliasingRows(form) || hasSumCutByThreads(form))))
    if (TaskOr task = makeProductTask(setup, true); task.ok() || task.status().code() != absl::StatusCode::kNotFound)
      return task;
  if (form.outputs() / (form.rows.size * form.columns.size) > kMostLoops)
    return makeAnyLoopTask(setup);
  if (isFloat)
    return makeGemmTask(setup);
  TaskOr task = makeProductTask(setup, false);
  return task.status().code() == absl::StatusCode::kNotFound ? makeAnyLoopTask(setup) : std::move(task);
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
    return makeAnyLoopTask(setup);
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
  return makeTask(setup);
}
