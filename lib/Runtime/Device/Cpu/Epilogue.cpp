// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "Epilogue.h"

#include "ds/Runtime/Device/Float16.h"
#include "ds/Runtime/Device/ParallelFor.h"
#include "ds/Runtime/StatusMacros.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

using namespace ds;
using namespace ds::runtime;

std::optional<std::pair<dnnl_alg_kind_t, float>> ds::runtime::findActivation(plan::Activation activation) {
  switch (activation) {
  case plan::Activation::None:
    return std::nullopt;
  case plan::Activation::Relu:
    return std::make_pair(dnnl_eltwise_relu, 0.0f);
  case plan::Activation::GeluTanh:
    return std::make_pair(dnnl_eltwise_gelu_tanh, 0.0f);
  case plan::Activation::GeluErf:
    return std::make_pair(dnnl_eltwise_gelu_erf, 0.0f);
  case plan::Activation::Silu:
    return std::make_pair(dnnl_eltwise_swish, 1.0f);
  }
  return std::nullopt;
}

/// An activation in place over `count` dense elements.
static absl::StatusOr<BoundPrimitive> makeActivation(const EpilogueOptions &options, int64_t count,
                                                     ScratchSpace &scratch) {
  const auto [kind, parameter] = *findActivation(options.activation);
  DS_ASSIGN_OR_RETURN(const dnnl_memory_desc_t c, describeDense({count}, options.type));
  DS_ASSIGN_OR_RETURN(const DnnlAttributes attributes, makeAttributes());
  dnnl_eltwise_desc_t operation;
  DS_RETURN_IF_ERROR(
      dnnlStatus(dnnl_eltwise_forward_desc_init(&operation, dnnl_forward_inference, kind, &c, parameter, 0.0f),
                 "describe an activation"));
  DnnlPrimitiveDesc description;
  DS_RETURN_IF_ERROR(
      dnnlStatus(dnnl_primitive_desc_create(description.out(), &operation, attributes.get(), dnnlCpu(), nullptr),
                 "create an activation"));
  DS_ASSIGN_OR_RETURN(BoundPrimitive primitive, BoundPrimitive::create(description.get(), scratch));
  DS_RETURN_IF_ERROR(primitive.bind(DNNL_ARG_SRC, c, options.c));
  DS_RETURN_IF_ERROR(primitive.bind(DNNL_ARG_DST, c, options.c));
  return primitive;
}

absl::StatusOr<Epilogue> Epilogue::create(EpilogueOptions given, ScratchSpace &scratch) {
  Epilogue epilogue;
  epilogue.options = std::move(given);
  EpilogueOptions &options = epilogue.options;
  const auto innermost =
      std::min_element(options.indices.begin(), options.indices.end(), [](const MatmulIndex &x, const MatmulIndex &y) {
        return std::make_pair(x.size == 1, x.c) < std::make_pair(y.size == 1, y.c);
      });
  if (innermost != options.indices.end()) {
    epilogue.inner = *innermost;
    options.indices.erase(innermost);
  }
  epilogue.rows = 1;
  for (const MatmulIndex &index : options.indices)
    epilogue.rows *= index.size;
  const int64_t count = epilogue.rows * epilogue.inner.size;
  epilogue.isActive = count > 0 && (options.bias || options.activation != plan::Activation::None);
  const bool isForLibrary = options.type == plan::DataType::F32 || options.type == plan::DataType::BF16;
  if (epilogue.isActive && isForLibrary && options.activation != plan::Activation::None) {
    DS_ASSIGN_OR_RETURN(BoundPrimitive primitive, makeActivation(options, count, scratch));
    epilogue.activation = std::move(primitive);
  }
  return epilogue;
}

/// c[i] += bias[i * stride].
template <typename T> static void addRow(T *c, const T *bias, int64_t size, int64_t stride) {
  if (stride == 1)
    for (int64_t i = 0; i < size; ++i)
      c[i] = static_cast<T>(c[i] + bias[i]);
  else
    for (int64_t i = 0; i < size; ++i)
      c[i] = static_cast<T>(c[i] + bias[i * stride]);
}

template <typename T> void Epilogue::addBias() const {
  parallelRanges(rows, std::max<int64_t>(1, 16384 / inner.size), [this](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      int64_t rest = row, at = 0, biasAt = 0;
      for (size_t i = options.indices.size(); i-- > 0; rest /= options.indices[i].size) {
        at += rest % options.indices[i].size * options.indices[i].c;
        biasAt += rest % options.indices[i].size * options.indices[i].bias;
      }
      addRow(static_cast<T *>(options.c) + at, static_cast<const T *>(options.bias) + biasAt, inner.size, inner.bias);
    }
  });
}

/// The plan's activations. NaN stays NaN.
template <typename Real> static Real activate(plan::Activation activation, Real x) {
  switch (activation) {
  case plan::Activation::None:
    return x;
  case plan::Activation::Relu:
    return x < 0 ? Real(0) : x;
  case plan::Activation::GeluTanh:
    return Real(0.5) * x * (1 + std::tanh(Real(0.7978845608028653559) * (x + Real(0.044715) * x * x * x)));
  case plan::Activation::GeluErf:
    return Real(0.5) * x * (1 + std::erf(x * Real(0.7071067811865475244)));
  case plan::Activation::Silu:
    return x / (1 + std::exp(-x));
  }
  return x;
}

template <typename T> void Epilogue::activateEach() const {
  using Real = std::conditional_t<std::is_same_v<T, double>, double, float>;
  parallelRanges(rows * inner.size, 4096, [this](int64_t begin, int64_t end) {
    T *c = static_cast<T *>(options.c);
    for (int64_t i = begin; i < end; ++i)
      c[i] = static_cast<T>(activate(options.activation, static_cast<Real>(c[i])));
  });
}

absl::Status Epilogue::run() {
  if (!isActive)
    return absl::OkStatus();
  const bool isDouble = options.type == plan::DataType::F64, isHalf = options.type == plan::DataType::F16;
  if (options.bias)
    isDouble                               ? addBias<double>()
    : isHalf                               ? addBias<Float16>()
    : options.type == plan::DataType::BF16 ? addBias<BFloat16>()
                                           : addBias<float>();
  if (activation)
    return activation->run();
  if (options.activation != plan::Activation::None)
    isDouble ? activateEach<double>() : activateEach<Float16>();
  return absl::OkStatus();
}
