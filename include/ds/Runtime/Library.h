// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// The functions of plan::LibraryCall: the order and meaning of their arguments. The compiler emits calls by this page,
/// lib/Runtime/Device/Cpu implements it.
///
/// All buffers are dense and row-major. `buffers`, `extents` and `ints` of a call are listed below in their order;
/// [x?] may be left off at the end. An extent gives a length and, where it is said, a begin (its place in the global
/// dim). `type` is that of the data; indices are always i64. "Negative indices wrap": i in [-N, 0) means i + N; any
/// other index outside [0, N) is an error of code OutOfRange that names its position, with N the *global* size. An
/// index in [0, N) outside this rank's [begin, begin + length) is not an error: gathers give 0 for it, scatters drop
/// it.
///
/// | function            | buffers                                      | extents                           | ints |
/// |---------------------|----------------------------------------------|-----------------------------------|------|
/// | Iota                | out [outer, n, inner]                        | outer, n (begin), inner           | [start?,
/// step?] = 0, 1 | | GatherRows          | table [rows, width], ids [count], out [count, width]   | rows (begin),
/// width, count | N    | | ScatterAddRows      | ids [count], updates [count, width], out [rows, width] | rows (begin),
/// width, count | N    | | GatherElements      | data [outer, n, inner], indices [outer, m, inner], out [outer, m,
/// inner]    | outer, n (begin), m, inner | N | | ScatterElements     | indices [outer, m, inner], updates [outer, m,
/// inner], out [outer, n, inner] | outer, n (begin), m, inner | N, add | | TopK                | data [outer, n,
/// inner], values [outer, k, inner], indices [outer, k, inner] | outer, n, inner     | k, largest | | Convolution |
/// input, weight, output, [bias?]               | see below                         | see below | |
/// ConvolutionGradInput  | gradOutput, weight, gradInput              | see below                         | see below |
/// | ConvolutionGradWeight | input, gradOutput, gradWeight, [gradBias?] | see below                         | see below
/// | | MaxPool             | input, output                                | planes, in spatial.., out spatial.. | see
/// below | | MaxPoolGrad         | input, gradOutput, gradInput                 | planes, in spatial.., out spatial.. |
/// see below |
///
/// * Iota: out[o, i, k] = start + step * (begin + i). Types: f32, f64, i32, i64.
/// * GatherRows: out[c] = table[ids[c] - begin].  Any type.
/// * ScatterAddRows: zeroes out, then out[ids[c] - begin] += updates[c] in ascending c. Types: f32, f64, i32, i64.
/// * GatherElements: out[o, j, k] = data[o, indices[o, j, k] - begin, k]. Any type.
/// * ScatterElements: zeroes out, then in ascending j out[o, indices[o, j, k] - begin, k] = (add = 0) or += (add = 1)
///   updates[o, j, k]; so without `add` the last one of equal indices stays. Any type; with add: f32, f64, i32, i64.
/// * TopK: the k largest (largest = 1) or smallest (0) along n, best first; of equal ones the lower index first; NaN
///   counts as larger than all numbers. n is whole on this rank and at least k. Types: f32, f64, i32, i64.
/// * Convolutions, f32, with S = 1 or 2 spatial dims (S is the first of ints):
///     input [N, Ci, in..], weight [Co, Ci / groups, kernel..], output [N, Co, out..], bias [Co]
///     extents: N, Ci, Co, groups, in (S of them), out (S)            all of this rank's block
///     ints: S, kernel (S), strides (S), pads at the begin (S), pads at the end (S), dilations (S; 1 = dense)
///   ConvolutionGradWeight overwrites gradWeight and gradBias (the sum of gradOutput over N and space).
/// * MaxPool: planes = N * C; input [planes, in..], output [planes, out..]; ints as for convolutions. Padding is never
/// the
///   maximum; NaN is. MaxPoolGrad gives each output's gradient to the first (row-major) maximum of its window, the
///   last NaN if there is one; it overwrites gradInput. Type: f32.

#ifndef DS_RUNTIME_LIBRARY_H
#define DS_RUNTIME_LIBRARY_H

#include "ds/Plan/Plan.h"

#include <cstddef>

namespace ds::runtime {

/// How many arguments `function` takes; `spatialDims` (1 or 2) matters to convolutions and pools only.
struct LibraryArity {
  size_t minBuffers = 0, maxBuffers = 0;
  size_t extents = 0;
  size_t minInts = 0, maxInts = 0;
};
LibraryArity libraryArity(plan::LibraryFunction function, size_t spatialDims);

} // namespace ds::runtime

#endif // DS_RUNTIME_LIBRARY_H
