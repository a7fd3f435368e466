// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Which handler imports which operator, by the opset that last changed what an importer must see.

#ifndef DS_IMPORT_ONNX_REGISTRY_H
#define DS_IMPORT_ONNX_REGISTRY_H

#include "NodeContext.h"

#include "llvm/ADT/StringMap.h"

namespace ds::onnx_import {

/// The opsets that are understood.
inline constexpr int64_t kFirstOpset = 7, kLastOpset = 23;

using Handler = mlir::LogicalResult (*)(NodeContext &);

/// One version of an operator. The first `required` inputs must be there.
struct OperatorVersion {
  int64_t since = 1;
  unsigned required = 1, most = 1;
  Handler handler = nullptr;
};

class Registry {
public:
  Registry();

  /// Declares that `handler` imports `op` from opset `since` on, with `required` to `most` inputs.
  void add(llvm::StringRef op, int64_t since, unsigned required, unsigned most, Handler handler) {
    versions[op].push_back({since, required, most, handler});
  }
  /// The version in force at `opset`; null, and what is missing, if there is none.
  const OperatorVersion *find(llvm::StringRef op, int64_t opset, std::string &problem) const;

private:
  llvm::StringMap<llvm::SmallVector<OperatorVersion, 1>> versions;
};

inline constexpr unsigned kAnyNumber = 1u << 20;

// The families, one file each.
void addConstantOps(Registry &registry);
void addElementwiseOps(Registry &registry);
void addActivationOps(Registry &registry);
void addMatmulOps(Registry &registry);
void addShapeOps(Registry &registry);
void addSliceOps(Registry &registry);
void addIndexOps(Registry &registry);
void addReduceOps(Registry &registry);
void addNormOps(Registry &registry);
void addConvolutionOps(Registry &registry);
void addLossOps(Registry &registry);

} // namespace ds::onnx_import

#endif // DS_IMPORT_ONNX_REGISTRY_H
