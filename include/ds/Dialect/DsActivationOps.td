// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DS_DIALECT_DS_ACTIVATION_OPS
#define DS_DIALECT_DS_ACTIVATION_OPS

include "ds/Dialect/DsAttrs.td"
include "ds/Dialect/DsInterfaces.td"

def Ds_GeluOp : Ds_ModelOp<"gelu", [SameOperandsAndResultType]> {
  let summary = "Gaussian error linear unit";
  let description = [{
    erf: x/2 (1 + erf(x / sqrt 2)); tanh: x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))).
    Source: Hendrycks and Gimpel 2016.
  }];
  let arguments = (ins Ds_FloatTensor:$input, Ds_GeluKindAttr:$kind);
  let results = (outs Ds_FloatTensor:$result);
}

def Ds_SiluOp : Ds_ModelOp<"silu", [SameOperandsAndResultType]> {
  let summary = "x times its sigmoid";
  let arguments = (ins Ds_FloatTensor:$input);
  let results = (outs Ds_FloatTensor:$result);
}

#endif // DS_DIALECT_DS_ACTIVATION_OPS
