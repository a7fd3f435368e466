// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DS_DIALECT_DS_CONVOLUTION_OPS
#define DS_DIALECT_DS_CONVOLUTION_OPS

include "ds/Dialect/DsAttrs.td"
include "ds/Dialect/DsInterfaces.td"

/// Attributes shared by a convolution and its gradients: one entry per spatial dim; pads are begin of each, then end of each.
defvar Ds_WindowAttributes = (ins DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads, DenseI64ArrayAttr:$dilations,
                              DefaultValuedAttr<I64Attr, "1">:$groups);

def Ds_ConvolutionOp : Ds_ModelOp<"convolution", [SameOperandsAndResultElementType]> {
  let summary = "a convolution (correlation) of a batch of images";
  let description = [{
    input [N, C, spatial...], weight [M, C / groups, kernel...] -> [N, M, spatial'...]. `pads` are the zeros before each
    spatial dim, then after each. The batch and the output channels may be split, spatial dims may not.

    Constraints:
    - C1: input, weight and result have one rank of 3 at least
    - C2: `groups` divides the input's and the result's channels; the weight has the channels of one group
    - C3: the result has the batch of the input and the channels of the weight
    - C4: `strides` and `dilations` have one entry per spatial dim, `pads` two
    - C5: strides and dilations are positive, pads are not negative
    - C6: spatial dims of the result follow from the others
    - C7: all tensors have one element type

    ```mlir
    %y = ds.convolution %x, %w {strides = array<i64: 2>, pads = array<i64: 1, 1>, dilations = array<i64: 1>}
        : (tensor<2x3x8xf32>, tensor<4x3x3xf32>) -> tensor<2x4x4xf32>
    ```
  }];
  let arguments = !con((ins Ds_FloatTensor:$input, Ds_FloatTensor:$weight), Ds_WindowAttributes);
  let results = (outs Ds_FloatTensor:$result);
  let hasVerifier = 1;
}

def Ds_ConvolutionGradInputOp : Ds_ModelOp<"convolution_grad_input", [SameOperandsAndResultElementType]> {
  let summary = "the gradient of a convolution's input";
  let description = [{
    weight, gradient of the result -> gradient of the input.

    Constraints:
    - C1: weight, gradient and result have one rank of 3 at least
    - C2: the result has the batch of the gradient and the channels of the weight, times `groups`
    - C3: all tensors have one element type

    ```mlir
    %dx = ds.convolution_grad_input %w, %dy {strides = array<i64: 2>, pads = array<i64: 1, 1>, dilations = array<i64: 1>}
        : (tensor<4x3x3xf32>, tensor<2x4x4xf32>) -> tensor<2x3x8xf32>
    ```
  }];
  let arguments = !con((ins Ds_FloatTensor:$weight, Ds_FloatTensor:$gradient), Ds_WindowAttributes);
  let results = (outs Ds_FloatTensor:$result);
  let hasVerifier = 1;
}

def Ds_ConvolutionGradWeightOp : Ds_ModelOp<"convolution_grad_weight", [SameOperandsAndResultElementType]> {
  let summary = "the gradient of a convolution's weight";
  let description = [{
    input, gradient of the result -> gradient of the weight, partial over the axes of a split batch.

    Constraints:
    - C1: input, gradient and result have one rank of 3 at least
    - C2: input and gradient have one batch; the result has their channels, those of the input divided by `groups`
    - C3: all tensors have one element type

    ```mlir
    %dw = ds.convolution_grad_weight %x, %dy {strides = array<i64: 2>, pads = array<i64: 1, 1>, dilations = array<i64: 1>}
        : (tensor<2x3x8xf32>, tensor<2x4x4xf32>) -> tensor<4x3x3xf32>
    ```
  }];
  let arguments = !con((ins Ds_FloatTensor:$input, Ds_FloatTensor:$gradient), Ds_WindowAttributes);
  let results = (outs Ds_FloatTensor:$result);
  let hasVerifier = 1;
}

def Ds_MaxPoolOp : Ds_ModelOp<"max_pool", [SameOperandsAndResultElementType]> {
  let summary = "the maximum over sliding windows";
  let description = [{
    input [N, C, spatial...]. Padding never wins. A NaN in the window gives NaN.

    Constraints:
    - C1: the result has the batch and the channels of the input
    - C2: `kernel`, `strides` and `dilations` have one entry per spatial dim, `pads` two
    - C3: spatial dims of the result follow from the others
    - C4: all tensors have one element type

    ```mlir
    %y = ds.max_pool %x {kernel = array<i64: 2>, strides = array<i64: 2>, pads = array<i64: 0, 0>, dilations = array<i64: 1>}
        : (tensor<2x3x8xf32>) -> tensor<2x3x4xf32>
    ```
  }];
  let arguments = (ins Ds_FloatTensor:$input, DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads,
                       DenseI64ArrayAttr:$dilations);
  let results = (outs Ds_FloatTensor:$result);
  let hasVerifier = 1;
}

def Ds_MaxPoolGradOp : Ds_ModelOp<"max_pool_grad", [SameOperandsAndResultElementType]> {
  let summary = "the gradient of a max pool's input";
  let description = [{
    input, gradient of the result -> gradient of the input: to the first maximum of each window.

    Constraints:
    - C1: the gradient has the batch and the channels of the input
    - C2: the result has the shape of the input
    - C3: all tensors have one element type

    ```mlir
    %dx = ds.max_pool_grad %x, %dy {kernel = array<i64: 2>, strides = array<i64: 2>, pads = array<i64: 0, 0>, dilations = array<i64: 1>}
        : (tensor<2x3x8xf32>, tensor<2x3x4xf32>) -> tensor<2x3x8xf32>
    ```
  }];
  let arguments = (ins Ds_FloatTensor:$input, Ds_FloatTensor:$gradient, DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$strides,
                       DenseI64ArrayAttr:$pads, DenseI64ArrayAttr:$dilations);
  let results = (outs Ds_FloatTensor:$result);
  let hasVerifier = 1;
}

#endif // DS_DIALECT_DS_CONVOLUTION_OPS
