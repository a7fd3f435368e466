// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Bias and activation of a matmul, for the cases that the matrix library does not do itself.

#ifndef DS_RUNTIME_DEVICE_CPU_EPILOGUE_H
#define DS_RUNTIME_DEVICE_CPU_EPILOGUE_H

#include "MatmulForm.h"

#include "ds/Runtime/Device/Float16.h"

namespace ds::runtime {

/// C = activation(C + bias) over all of C.
class Epilogue {
public:
  Epilogue() = default;
  /// `indices` are those of C; `bias` may be null. Does nothing if there is neither bias nor activation.
  Epilogue(void *c, const void *bias, std::vector<MatmulIndex> indices, plan::Activation activation,
           plan::DataType type);

  void run() const;

private:
  template <typename T> void runAs() const;
  template <typename T> void runRange(int64_t begin, int64_t end) const;

  void *c = nullptr;
  const void *bias = nullptr;
  std::vector<MatmulIndex> indices;
  int64_t count = 0;
  plan::Activation activation = plan::Activation::None;
  plan::DataType type = plan::DataType::F32;
};

} // namespace ds::runtime

#endif // DS_RUNTIME_DEVICE_CPU_EPILOGUE_H
