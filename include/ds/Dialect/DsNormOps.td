// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DS_DIALECT_DS_NORM_OPS
#define DS_DIALECT_DS_NORM_OPS

include "ds/Dialect/DsAttrs.td"
include "ds/Dialect/DsInterfaces.td"

def Ds_SoftmaxOp : Ds_ModelOp<"softmax", [SameOperandsAndResultType]> {
  let summary = "exp(x - max) / sum of it, along one dim";
  let description = [{
    Subtracts the maximum first, so that no exponential overflows.

    Constraints:
    - C1: `dim` is a dim of the input
    - C2: input and result have one type

    ```mlir
    %y = ds.softmax %x {dim = 1 : i64} : (tensor<8x4xf32>) -> tensor<8x4xf32>
    ```
  }];
  let arguments = (ins Ds_FloatTensor:$input, I64Attr:$dim);
  let results = (outs Ds_FloatTensor:$result);
  let hasVerifier = 1;
}

def Ds_LogSoftmaxOp : Ds_ModelOp<"log_softmax", [SameOperandsAndResultType]> {
  let summary = "x - max - log(sum of exp(x - max)), along one dim";
  let description = [{
    Subtracts the maximum first, so that no exponential overflows.

    Constraints:
    - C1: `dim` is a dim of the input
    - C2: input and result have one type

    ```mlir
    %y = ds.log_softmax %x {dim = 1 : i64} : (tensor<8x4xf32>) -> tensor<8x4xf32>
    ```
  }];
  let arguments = (ins Ds_FloatTensor:$input, I64Attr:$dim);
  let results = (outs Ds_FloatTensor:$result);
  let hasVerifier = 1;
}

def Ds_LayerNormOp : Ds_ModelOp<"layer_norm", [SameOperandsAndResultElementType]> {
  let summary = "layer normalization over the last dims";
  let description = [{
    (x - mean) / sqrt(variance + epsilon) * scale + bias; statistics over the last rank(scale) dims, biased variance,
    two passes over the row. `bias` may be absent.

    Constraints:
    - C1: the result has the shape of the input
    - C2: the scale has the last dims of the input, one at least
    - C3: the bias has the shape of the scale
    - C4: all tensors have one element type

    ```mlir
    %y = ds.layer_norm %x, %g, %b {epsilon = 1.0e-05 : f64} : (tensor<8x64xf32>, tensor<64xf32>, tensor<64xf32>) -> tensor<8x64xf32>
    ```
  }];
  let arguments = (ins Ds_FloatTensor:$input, Ds_FloatTensor:$scale, Optional<Ds_FloatTensor>:$bias, F64Attr:$epsilon);
  let results = (outs Ds_FloatTensor:$result);
  let hasVerifier = 1;
}

def Ds_RmsNormOp : Ds_ModelOp<"rms_norm", [SameOperandsAndResultElementType]> {
  let summary = "root-mean-square normalization over the last dims";
  let description = [{
    x / sqrt(mean(x^2) + epsilon) * scale, the mean over the last rank(scale) dims.

    Constraints:
    - C1: the result has the shape of the input
    - C2: the scale has the last dims of the input, one at least
    - C3: all tensors have one element type

    ```mlir
    %y = ds.rms_norm %x, %g {epsilon = 1.0e-05 : f64} : (tensor<8x64xf32>, tensor<64xf32>) -> tensor<8x64xf32>
    ```
  }];
  let arguments = (ins Ds_FloatTensor:$input, Ds_FloatTensor:$scale, F64Attr:$epsilon);
  let results = (outs Ds_FloatTensor:$result);
  let hasVerifier = 1;
}

#endif // DS_DIALECT_DS_NORM_OPS
