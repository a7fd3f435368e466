// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Dialect/DsDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace ds;

#include "ds/Dialect/DsDialect.cpp.inc"
#include "ds/Dialect/DsEnums.cpp.inc"
#include "ds/Dialect/DsInterfaces.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "ds/Dialect/DsTypes.cpp.inc"

void DsDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "ds/Dialect/DsOps.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "ds/Dialect/DsTypes.cpp.inc"
      >();
  registerAttributes();
}

void ds::registerProgramDialects(DialectRegistry &registry) {
  registry.insert<DsDialect, arith::ArithDialect, func::FuncDialect, math::MathDialect, scf::SCFDialect>();
  registerLayoutRuleModels(registry);
}
