// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// The data of a job: what the graph's inputs are in each step.

#ifndef DS_RUNTIME_SESSION_DATASOURCE_H
#define DS_RUNTIME_SESSION_DATASOURCE_H

#include "ds/Plan/LayoutTables.h"
#include "ds/Runtime/Executor.h"
#include "ds/Runtime/Session/ElementType.h"

namespace ds::runtime {

/// The name of the input that the session itself feeds. As ds::kLearningRateName; no model's input may have it.
inline constexpr const char *kLearningRateInput = "ds.learning_rate";

/// The element type of a plan's tensor.
ElementType elementTypeOf(plan::DataType type);

/// Data in files, read piece by piece: a rank reads what its layout holds, and keeps nothing.
class DataSource {
public:
  virtual ~DataSource() = default;

  /// The number of steps that the data last for; at least 1. Later steps begin again at the first.
  virtual int64_t steps() const = 0;
  /// Puts `rank`'s piece of input `input` (a number of plan::Plan.inputs) for `step` into `buffer`. Fails with
  /// InvalidArgument if a number in it is not what the plan allows.
  virtual absl::Status read(int64_t step, size_t input, const Mesh &mesh, int64_t rank, BufferView buffer) const = 0;
};

/// Opens the data of `plan`. `path` is either
///   a folder with a file NAME.npy for each input, `[step, sample, ...]`, or
///   a raw file of token numbers: `input_ids` are samples one after the other, each as long as the plan's sequences,
///   `labels` the same shifted by one. Tokens are uint16, or uint32 if the name ends in .u32, .uint32 or `tokenType`
///   says so.
/// Fails if a shape or type does not fit the plan.
absl::StatusOr<std::unique_ptr<DataSource>> openData(const plan::PlanT &plan, const std::string &path,
                                                     std::optional<ElementType> tokenType = std::nullopt);

} // namespace ds::runtime

#endif // DS_RUNTIME_SESSION_DATASOURCE_H
