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

    Constraints:
    - C1: input and result have one type
    - C2: they are tensors of floats

    ```mlir
    %y = ds.gelu %x {kind = #ds.gelu_kind<tanh>} : (tensor<8x4xf32>) -> tensor<8x4xf32>
    ```
  }];
  let arguments = (ins Ds_FloatTensor:$input, Ds_GeluKindAttr:$kind);
  let results = (outs Ds_FloatTensor:$result);
}

def Ds_SiluOp : Ds_ModelOp<"silu", [SameOperandsAndResultType]> {
  let summary = "x times its sigmoid";
  let description = [{
    x * sigmoid(x).

    Constraints:
    - C1: input and result have one type
    - C2: it is a tensor of floats, of static shape

    ```mlir
    %y = ds.silu %x : (tensor<8x4xf32>) -> tensor<8x4xf32>
    ```
  }];
  let arguments = (ins Ds_FloatTensor:$input);
  let results = (outs Ds_FloatTensor:$result);
}

#endif // DS_DIALECT_DS_ACTIVATION_OPS
