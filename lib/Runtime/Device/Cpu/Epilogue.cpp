// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "Epilogue.h"

#include "ds/Runtime/Device/ParallelFor.h"

#include <cmath>
#include <type_traits>

using namespace ds;
using namespace ds::runtime;

Epilogue::Epilogue(void *c, const void *bias, std::vector<MatmulIndex> indices, plan::Activation activation,
                   plan::DataType type)
    : c(c), bias(bias), indices(std::move(indices)), count(1), activation(activation), type(type) {
  for (const MatmulIndex &index : this->indices)
    count *= index.size;
  if (!bias && activation == plan::Activation::None)
    count = 0;
}

/// The plan's activations. NaN stays NaN.
template <typename Real> static Real activate(plan::Activation activation, Real x) {
  switch (activation) {
  case plan::Activation::None: return x;
  case plan::Activation::Relu: return x < 0 ? Real(0) : x;
  case plan::Activation::GeluTanh:
    return Real(0.5) * x * (1 + std::tanh(Real(0.7978845608028653559) * (x + Real(0.044715) * x * x * x)));
  case plan::Activation::GeluErf: return Real(0.5) * x * (1 + std::erf(x * Real(0.7071067811865475244)));
  case plan::Activation::Silu: return x / (1 + std::exp(-x));
  }
  return x;
}

template <typename T> void Epilogue::runRange(int64_t begin, int64_t end) const {
  using Real = std::conditional_t<std::is_same_v<T, double>, double, float>;
  for (int64_t number = begin; number < end; ++number) {
    int64_t rest = number, at = 0, biasAt = 0;
    for (size_t i = indices.size(); i-- > 0; rest /= indices[i].size) {
      at += rest % indices[i].size * indices[i].c;
      biasAt += rest % indices[i].size * indices[i].bias;
    }
    T &element = static_cast<T *>(c)[at];
    const Real added = bias ? static_cast<Real>(static_cast<const T *>(bias)[biasAt]) : Real(0);
    element = static_cast<T>(activate(activation, static_cast<Real>(element) + added));
  }
}

template <typename T> void Epilogue::runAs() const {
  parallelRanges(count, 4096, [this](int64_t begin, int64_t end) { runRange<T>(begin, end); });
}

void Epilogue::run() const {
  switch (type) {
  case plan::DataType::F64: return runAs<double>();
  case plan::DataType::F16: return runAs<Float16>();
  case plan::DataType::BF16: return runAs<BFloat16>();
  default: return runAs<float>();
  }
}
