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

def Ds_SigmoidOp : Ds_ModelOp<"sigmoid", [SameOperandsAndResultType]> {
  let summary = "1 / (1 + exp(-x))";
  let description = [{
    An op of its own because its gradient s (1 - s) is finite everywhere, which the gradient of the formula is not: from x = -89 on
    exp(-x) is infinite in f32, and its slope 0 times infinity.

    Constraints:
    - C1: input and result have one type
    - C2: it is a tensor of floats, of static shape

    ```mlir
    %y = ds.sigmoid %x : (tensor<8xf32>) -> tensor<8xf32>
    ```
  }];
  let arguments = (ins Ds_FloatTensor:$input);
  let results = (outs Ds_FloatTensor:$result);
}

def Ds_SoftplusOp : Ds_ModelOp<"softplus", [SameOperandsAndResultType]> {
  let summary = "log(1 + exp(x)), the integral of the sigmoid";
  let description = [{
    Computed as max(x, 0) + log(1 + exp(-|x|)), which neither overflows nor loses what is small beside 1. Logarithms of sigmoids are this op:
    log(sigmoid(x)) = -softplus(-x), log(1 - sigmoid(x)) = -softplus(x).

    Constraints:
    - C1: input and result have one type
    - C2: it is a tensor of floats, of static shape

    ```mlir
    %y = ds.softplus %x : (tensor<8xf32>) -> tensor<8xf32>
    ```
  }];
  let arguments = (ins Ds_FloatTensor:$input);
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
