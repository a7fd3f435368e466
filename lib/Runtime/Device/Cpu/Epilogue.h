// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Bias and activation of a matmul, for the cases that the matrix library does not do itself.

#ifndef DS_RUNTIME_DEVICE_CPU_EPILOGUE_H
#define DS_RUNTIME_DEVICE_CPU_EPILOGUE_H

#include "MatmulForm.h"
#include "OneDnn.h"

namespace ds::runtime {

/// What to do with C.
struct EpilogueOptions {
  void *c = nullptr;
  const void *bias = nullptr;       ///< null: none
  std::vector<MatmulIndex> indices; ///< of C, which is dense
  plan::Activation activation = plan::Activation::None;
  plan::DataType type = plan::DataType::F32;
};

/// C = activation(C + bias) over all of C.
class Epilogue {
public:
  Epilogue() = default;
  /// Does nothing if there is neither bias nor activation, or C is empty.
  static absl::StatusOr<Epilogue> create(EpilogueOptions options, ScratchSpace &scratch);

  absl::Status run();

private:
  template <typename T> void addBias() const;
  template <typename T> void activateEach() const;

  EpilogueOptions options;
  MatmulIndex inner; ///< the innermost index of C, taken off options.indices
  int64_t rows = 0;  ///< product of the others
  bool isActive = false;
  std::optional<BoundPrimitive> activation; ///< oneDNN's, where it has the type
};

/// The number of oneDNN's algorithm for an activation, and its parameter; none for None.
std::optional<std::pair<dnnl_alg_kind_t, float>> findActivation(plan::Activation activation);

} // namespace ds::runtime

#endif // DS_RUNTIME_DEVICE_CPU_EPILOGUE_H
