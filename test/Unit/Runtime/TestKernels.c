// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// Kernels as the code generator makes them (plan::Kernel), for the tests to load.

#include <stdint.h>

/// y[i] = 2 * x[i] + begin of extent 0.
void scale_rows(void *const *buffers, const int64_t *extents, int64_t begin, int64_t end, int64_t chunk) {
  (void)chunk;
  const float *x = buffers[0];
  float *y = buffers[1];
  for (int64_t i = begin; i < end; ++i)
    y[i] = 2 * x[i] + (float)extents[1];
}

/// partial[chunk] = sum of x over the rows; the finish adds the partials up in their order.
void sum_rows(void *const *buffers, const int64_t *extents, int64_t begin, int64_t end, int64_t chunk) {
  (void)extents;
  const float *x = buffers[0];
  float sum = 0;
  for (int64_t i = begin; i < end; ++i)
    sum += x[i];
  ((float *)buffers[1])[chunk] = sum;
}

void sum_rows_finish(void *const *buffers, const int64_t *extents, int64_t chunks) {
  (void)extents;
  float sum = 0;
  for (int64_t i = 0; i < chunks; ++i)
    sum += ((const float *)buffers[1])[i];
  *(float *)buffers[2] = sum;
}

/// counter += 1, one row.
void count_up(void *const *buffers, const int64_t *extents, int64_t begin, int64_t end, int64_t chunk) {
  (void)extents;
  (void)chunk;
  for (int64_t i = begin; i < end; ++i)
    ((int64_t *)buffers[0])[0] += 1;
}

/// log[cursor++] = mark: what ran, in which order.
void append_mark(void *const *buffers, const int64_t *extents, int64_t begin, int64_t end, int64_t chunk) {
  (void)begin;
  (void)end;
  (void)chunk;
  int64_t *log = buffers[0];
  log[1 + log[0]++] = extents[0];
}
