// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "Registry.h"

using namespace ds::onnx_import;

Registry::Registry() {
  addConstantOps(*this);
  addElementwiseOps(*this);
  addActivationOps(*this);
  addMatmulOps(*this);
  addShapeOps(*this);
  addSliceOps(*this);
  addIndexOps(*this);
  addReduceOps(*this);
  addNormOps(*this);
  addConvolutionOps(*this);
  addLossOps(*this);
}

const OperatorVersion *Registry::find(llvm::StringRef op, int64_t opset, std::string &problem) const {
  auto it = versions.find(op);
  if (it == versions.end()) {
    problem = "is not supported";
    return nullptr;
  }
  const OperatorVersion *best = nullptr;
  for (const OperatorVersion &version : it->second)
    if (version.since <= opset && (!best || version.since > best->since))
      best = &version;
  if (!best)
    problem = ("needs opset " + llvm::Twine(it->second.front().since) + ", got " + llvm::Twine(opset)).str();
  return best;
}
