// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// oneDNN's best f32 matmul: ds-bench-matmul BATCH M N K. Both inputs are in the layouts that oneDNN chooses, put there
/// outside of the time. Prints seconds, the median of several tries, as that of a step's products is compared with it.

#include "Measure.h"

#include "oneapi/dnnl/dnnl.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

using namespace ds::benchmark;
using dnnl::memory;

static memory::desc anyLayout(int64_t batch, int64_t rows, int64_t columns) {
  return {{batch, rows, columns}, memory::data_type::f32, memory::format_tag::any};
}

static double medianSeconds(int64_t batch, int64_t m, int64_t n, int64_t k) {
  dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  dnnl::stream stream(engine);
  const dnnl::matmul::desc description(anyLayout(batch, m, k), anyLayout(batch, k, n), anyLayout(batch, m, n));
  const dnnl::matmul::primitive_desc chosen(description, engine);
  const dnnl::matmul matmul(chosen);
  const memory::desc layouts[] = {chosen.src_desc(), chosen.weights_desc(), chosen.dst_desc()};
  std::vector<memory> data;
  for (const memory::desc &layout : layouts) {
    float *values = takeMemory(layout.get_size());
    std::fill_n(values, layout.get_size() / sizeof(float), 0.5f);
    data.emplace_back(layout, engine, values);
  }
  std::vector<double> times;
  double total = 0;
  while (times.size() < 5 || (total < 0.1 && times.size() < 1000)) {
    const double begin = now();
    matmul.execute(stream, {{DNNL_ARG_SRC, data[0]}, {DNNL_ARG_WEIGHTS, data[1]}, {DNNL_ARG_DST, data[2]}});
    stream.wait();
    times.push_back(now() - begin);
    total += times.back();
  }
  std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
  return times[times.size() / 2];
}

int main(int argc, char **argv) {
  if (argc != 5) {
    std::fprintf(stderr, "usage: ds-bench-matmul BATCH M N K\n");
    return 2;
  }
  std::printf("%.6e\n",
              medianSeconds(std::atoll(argv[1]), std::atoll(argv[2]), std::atoll(argv[3]), std::atoll(argv[4])));
}
