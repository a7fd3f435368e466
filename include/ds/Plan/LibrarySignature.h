// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// The functions of plan::LibraryCall as data. Emission fills calls by these signatures, `check` and `accessesOf` take
/// the sizes of buffers from them, and the runtime binds arguments by them. So the order of a function's arguments is
/// written down in one place, lib/Plan/LibrarySignature.cpp; everyone else goes by names.
///
/// All buffers are dense and row-major. An extent gives a length, and for a dim that is indexed also a begin: where
/// this rank's part of the dim begins in the global dim. `type` of a call is that of its data; indices are always i64.
///
/// Indices i in [-N, 0) mean i + N, where N is the *global* size of the dim. An index outside [-N, N) is an error of
/// code OutOfRange that names its position. An index inside it which another rank holds is no error: gathers give 0 for
/// it, and scatters drop it.
///
/// What the functions compute:
///
/// * Iota: out[o, i, k] = start + step * (begin of n + i). Types: f32, f64, i32, i64.
/// * GatherRows: out[c] = table[ids[c] - begin of rows]. Any type.
/// * ScatterAddRows: zeroes out, then adds updates[c] to out[ids[c] - begin of rows], in ascending order of c. Types:
///   f32, f64, i32, i64.
/// * GatherElements: out[o, j, k] = data[o, indices[o, j, k] - begin of n, k]. Any type.
/// * ScatterElements: zeroes out, then for ascending j writes updates[o, j, k] to out[o, indices[o, j, k] - begin of n,
///   k] (add = 0: the last one of equal indices stays) or adds it there (add = 1). Any type; with add: f32, f64, i32,
///   i64.
/// * TopK: the k largest (largest = 1) or smallest (largest = 0) elements along n, best first; of equal ones the lower
///   index comes first; NaN counts as larger than all numbers. Each rank has all of n, at least k elements. Types: f32,
///   f64, i32, i64.
/// * Convolution, ConvolutionGradInput, ConvolutionGradWeight: f32 or f64, over 1 to 3 spatial dims. Sizes are those of
///   this rank's block. ConvolutionGradWeight overwrites gradWeight and gradBias (gradOutput summed over N and space).
/// * MaxPool: planes = batch * channels. Padding is never the maximum; NaN is. MaxPoolGrad overwrites gradInput: each
///   output's gradient goes to the first (row-major) maximum of its window, or to the last NaN if there is one. f32
///   or f64.

#ifndef DS_PLAN_LIBRARYSIGNATURE_H
#define DS_PLAN_LIBRARYSIGNATURE_H

#include "ds/Plan/Plan.h"

#include <map>
#include <optional>
#include <string_view>
#include <vector>

namespace ds::plan {

/// Most spatial dims that windows slide over.
inline constexpr size_t kMaxSpatialDims = 3;

/// The name of an argument. One that ends in ".." stands for one number per spatial dim: "kernel..".
using ArgumentName = std::string_view;

/// One buffer of a function. It has as many elements as the product of its dims says, which are names of extents or of
/// ints: a convolution's weight is [Co, Ci, kernel..] / groups.
struct LibraryBuffer {
  ArgumentName name;
  bool isOutput = false;
  bool holdsIndices = false; ///< i64, whatever the call's type
  bool isOptional = false;   ///< may be left off; only the last buffer
  std::vector<ArgumentName> dims;
  ArgumentName divisor = {}; ///< an extent, or empty
};

/// The arguments of one function, in the order in which a call lists them. Functions with spatial dims have their
/// number, 1 to kMaxSpatialDims, as the first int: "S".
struct LibrarySignature {
  std::vector<LibraryBuffer> buffers;
  std::vector<ArgumentName> extents;
  std::vector<ArgumentName> ints;
  size_t optionalInts = 0; ///< as many of the last ints may be left off
};

/// The signature of `function`, which must be one of the enum's values.
const LibrarySignature &signatureOf(LibraryFunction function);

/// Why the call has the wrong number of arguments, or nothing.
std::optional<std::string> findLibraryFault(const LibraryCallT &call);

/// The arguments of a call by name. The call must have no fault and outlive this.
class LibraryArguments {
public:
  explicit LibraryArguments(const LibraryCallT &call) : call(call), signature(signatureOf(call.function)) {}

  /// The buffer's place in the call; nothing if an optional one is left off.
  std::optional<size_t> placeOf(ArgumentName buffer) const;
  /// Ids of extents: one, or as many as there are spatial dims.
  std::vector<uint32_t> extents(ArgumentName name) const;
  /// Ints: one, or as many as there are spatial dims; none if they are optional and left off.
  std::vector<int64_t> ints(ArgumentName name) const;
  /// Whether `name` is an extent rather than an int.
  bool isExtent(ArgumentName name) const;

private:
  size_t spatialDims() const;

  const LibraryCallT &call;
  const LibrarySignature &signature;
};

/// Values for the arguments of a call, by name.
struct LibraryValues {
  std::map<ArgumentName, uint32_t> buffers;
  std::map<ArgumentName, std::vector<uint32_t>> extents;
  std::map<ArgumentName, std::vector<int64_t>> ints;
};

/// The call of `function` with these arguments, put into the order of its signature. The names must be those of the
/// signature.
LibraryCallT makeLibraryCall(LibraryFunction function, DataType type, const LibraryValues &values);

} // namespace ds::plan

#endif // DS_PLAN_LIBRARYSIGNATURE_H
