// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "SharedLoops.h"

#include "Simd.h"

namespace ds::benchmark {

template <bool streamed> static void store(float *to, Vector value) {
  streamed ? streamVector(to, value) : storeVector(to, value);
}

template <bool streamed> static void copy(float *to, const float *from, int64_t count) {
  for (int64_t i = 0; i < count; i += kLanes)
    store<streamed>(to + i, loadVector(from + i));
}

/// The sum over all ranks of element i and those beside it.
static Vector sumAt(const SharedTensors &tensors, int64_t i) {
  Vector sum = loadVector(tensors.inputs[0] + i);
  for (int rank = 1; rank < tensors.ranks(); ++rank)
    sum += loadVector(tensors.inputs[rank] + i);
  return sum;
}

template <bool streamed> static void moveBytes(const SharedTensors &tensors, plan::CollectiveKind kind) {
  const int64_t part = tensors.count / tensors.ranks(), own = tensors.rank * part;
  float *output = tensors.outputs[tensors.rank];
  switch (kind) {
  case plan::CollectiveKind::AllGather:
    for (int rank = 0; rank < tensors.ranks(); ++rank)
      copy<streamed>(output + rank * part, tensors.inputs[rank], part);
    break;
  case plan::CollectiveKind::AllToAll:
    for (int rank = 0; rank < tensors.ranks(); ++rank)
      copy<streamed>(output + rank * part, tensors.inputs[rank] + own, part);
    break;
  case plan::CollectiveKind::ReduceScatter:
    for (int64_t i = 0; i < part; i += kLanes)
      store<streamed>(output + i, sumAt(tensors, own + i));
    break;
  case plan::CollectiveKind::AllReduce:
    for (int64_t i = own; i < own + part; i += kLanes) {
      const Vector sum = sumAt(tensors, i);
      for (float *target : tensors.inputs)
        store<streamed>(target + i, sum);
    }
    break;
  }
}

void runSharedLoop(const SharedTensors &tensors, plan::CollectiveKind kind, bool streamed) {
  tensors.meeting->wait(tensors.ranks());
  streamed ? moveBytes<true>(tensors, kind) : moveBytes<false>(tensors, kind);
  fenceStreams();
  tensors.meeting->wait(tensors.ranks());
}

} // namespace ds::benchmark
