// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// Matmuls as primitives of oneDNN.

#include "MatmulTasks.h"

#include "ds/Runtime/StatusMacros.h"

#include "absl/strings/match.h"

using namespace ds;
using namespace ds::runtime;

namespace {
/// What one call of oneDNN covers.
struct ProductOptions {
  bool hasBatch = false; ///< batch dims are part of the primitive, else loops around it
  bool isPacked = false; ///< B is in the format that oneDNN likes best
  bool accumulate = false;
  bool hasEpilogue = false;
};

/// One product per batch point and outer sum, by a few primitives.
struct ProductTask : Task {
  absl::Status run(const TaskContext &) override {
    if (packing)
      DS_RETURN_IF_ERROR(packing->run());
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
  std::optional<BoundPrimitive> packing;
  std::vector<BoundPrimitive> primitives; ///< for the first, the inner, the last sum; one if there is one sum
  Epilogue epilogue;
};

} // namespace

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

namespace {
/// A product, and what packs its B first.
struct Product {
  std::optional<BoundPrimitive> packing;
  BoundPrimitive primitive;
};
} // namespace

/// Copies B into the format of `packed`, in the scratch space from `offset` on, which is moved behind what the copy
/// works in.
static absl::StatusOr<BoundPrimitive> makePacking(const MatmulSetup &setup, const dnnl_memory_desc_t &plain,
                                                  const dnnl_memory_desc_t &packed, size_t &offset) {
  constexpr size_t kPage = 4096;
  DS_ASSIGN_OR_RETURN(const DnnlAttributes attributes, makeAttributes());
  DnnlPrimitiveDesc description;
  DS_RETURN_IF_ERROR(dnnlStatus(
      dnnl_reorder_primitive_desc_create(description.out(), &plain, dnnlCpu(), &packed, dnnlCpu(), attributes.get()),
      "describe a reorder"));
  offset = (std::max(offset, scratchBytes(description.get())) + kPage - 1) / kPage * kPage;
  DS_ASSIGN_OR_RETURN(BoundPrimitive packing, BoundPrimitive::create(description.get(), *setup.scratch));
  DS_RETURN_IF_ERROR(packing.bind(DNNL_ARG_FROM, plain, setup.b));
  DS_RETURN_IF_ERROR(packing.bindScratch(DNNL_ARG_TO, packed, offset));
  return packing;
}

/// The description of `matrix` with its format left to oneDNN.
static absl::StatusOr<dnnl_memory_desc_t> withAnyFormat(const dnnl_memory_desc_t &matrix) {
  dnnl_memory_desc_t any;
  DS_RETURN_IF_ERROR(
      dnnlStatus(dnnl_memory_desc_init_by_tag(&any, matrix.ndims, matrix.dims, matrix.data_type, dnnl_format_tag_any),
                 "describe a tensor"));
  return any;
}

/// The primitive for `options`, bound to the operands' beginnings, or NotFound if oneDNN has none to our taste.
static absl::StatusOr<Product> makeProduct(const MatmulSetup &setup, const ProductOptions &options) {
  const MatmulForm &form = setup.form;
  DS_ASSIGN_OR_RETURN(const dnnl_memory_desc_t a,
                      describeOperand(setup, options, &MatmulIndex::a, form.rows, form.sum));
  DS_ASSIGN_OR_RETURN(const dnnl_memory_desc_t b,
                      describeOperand(setup, options, &MatmulIndex::b, form.sum, form.columns));
  DS_ASSIGN_OR_RETURN(const dnnl_memory_desc_t c,
                      describeOperand(setup, options, &MatmulIndex::c, form.rows, form.columns));
  dnnl_memory_desc_t used = b;
  if (options.isPacked) {
    DS_ASSIGN_OR_RETURN(used, withAnyFormat(b));
  }
  const bool hasBias = options.hasEpilogue && setup.bias;
  std::vector<int64_t> biasSizes(static_cast<size_t>(c.ndims), 1);
  biasSizes.back() = form.columns.size;
  DS_ASSIGN_OR_RETURN(const dnnl_memory_desc_t bias, describeDense(biasSizes, setup.type));
  dnnl_matmul_desc_t operation;
  DS_RETURN_IF_ERROR(
      dnnlStatus(dnnl_matmul_desc_init(&operation, &a, &used, hasBias ? &bias : nullptr, &c), "describe a matmul"));
  DS_ASSIGN_OR_RETURN(const DnnlAttributes attributes, makeProductAttributes(setup, options));
  DnnlPrimitiveIterator iterator;
  DnnlPrimitiveDesc chosen;
  if (dnnl_primitive_desc_iterator_create(iterator.out(), &operation, attributes.get(), dnnlCpu(), nullptr) ==
      dnnl_success)
    chosen = findImplementation(iterator.get(), setup.type);
  if (!chosen.get())
    return absl::NotFoundError("no such implementation");
  Product product;
  DS_ASSIGN_OR_RETURN(product.primitive, BoundPrimitive::create(chosen.get(), *setup.scratch));
  DS_RETURN_IF_ERROR(product.primitive.bind(DNNL_ARG_SRC, a, setup.a));
  if (options.isPacked) {
    const dnnl_memory_desc_t packed = *dnnl_primitive_desc_query_md(chosen.get(), dnnl_query_weights_md, 0);
    size_t offset = scratchBytes(chosen.get());
    DS_ASSIGN_OR_RETURN(product.packing, makePacking(setup, b, packed, offset));
    DS_RETURN_IF_ERROR(product.primitive.bindScratch(DNNL_ARG_WEIGHTS, packed, offset));
  } else {
    DS_RETURN_IF_ERROR(product.primitive.bind(DNNL_ARG_WEIGHTS, b, setup.b));
  }
  DS_RETURN_IF_ERROR(product.primitive.bind(DNNL_ARG_DST, c, setup.c));
  if (hasBias)
    DS_RETURN_IF_ERROR(product.primitive.bind(DNNL_ARG_BIAS, bias, setup.bias));
  return product;
}

TaskOr ds::runtime::makeProductTask(const MatmulSetup &setup, bool hasBatch) {
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
  std::vector<ProductOptions> all = {{hasBatch, packsRight(setup), setup.accumulate, isOne && hasLibraryEpilogue}};
  if (!isOne)
    all.insert(all.end(), {{hasBatch, false, true, false}, {hasBatch, false, true, hasLibraryEpilogue}});
  for (const ProductOptions &options : all) {
    DS_ASSIGN_OR_RETURN(Product product, makeProduct(setup, options));
    task->primitives.push_back(std::move(product.primitive));
    task->packing = std::move(product.packing);
  }
  if (!hasLibraryEpilogue) {
    DS_ASSIGN_OR_RETURN(task->epilogue, makeEpilogue(setup));
  }
  return task;
}
