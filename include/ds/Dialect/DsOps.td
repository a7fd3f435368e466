// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DS_DIALECT_DS_OPS
#define DS_DIALECT_DS_OPS

include "ds/Dialect/DsActivationOps.td"
include "ds/Dialect/DsArenaOps.td"
include "ds/Dialect/DsAttentionOps.td"
include "ds/Dialect/DsCastOps.td"
include "ds/Dialect/DsConvolutionOps.td"
include "ds/Dialect/DsIndexOps.td"
include "ds/Dialect/DsLossOps.td"
include "ds/Dialect/DsMatmulOps.td"
include "ds/Dialect/DsNormOps.td"
include "ds/Dialect/DsOptimizerOps.td"
include "ds/Dialect/DsReduceOps.td"
include "ds/Dialect/DsShapeOps.td"
include "ds/Dialect/DsStructureOps.td"

#endif // DS_DIALECT_DS_OPS
