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
  }];
  let arguments = !con((ins Ds_FloatTensor:$input, Ds_FloatTensor:$weight), Ds_WindowAttributes);
  let results = (outs Ds_FloatTensor:$result);
  let hasVerifier = 1;
}

def Ds_ConvolutionGradInputOp : Ds_ModelOp<"convolution_grad_input", [SameOperandsAndResultElementType]> {
  let summary = "the gradient of a convolution's input";
  let description = "weight, gradient of the result -> gradient of the input.";
  let arguments = !con((ins Ds_FloatTensor:$weight, Ds_FloatTensor:$gradient), Ds_WindowAttributes);
  let results = (outs Ds_FloatTensor:$result);
  let hasVerifier = 1;
}

def Ds_ConvolutionGradWeightOp : Ds_ModelOp<"convolution_grad_weight", [SameOperandsAndResultElementType]> {
  let summary = "the gradient of a convolution's weight";
  let description = "input, gradient of the result -> gradient of the weight, partial over the axes of a split batch.";
  let arguments = !con((ins Ds_FloatTensor:$input, Ds_FloatTensor:$gradient), Ds_WindowAttributes);
  let results = (outs Ds_FloatTensor:$result);
  let hasVerifier = 1;
}

def Ds_MaxPoolOp : Ds_ModelOp<"max_pool", [SameOperandsAndResultElementType]> {
  let summary = "the maximum over sliding windows";
  let description = [{
    input [N, C, spatial...]. Padding never wins. A NaN in the window gives NaN.
  }];
  let arguments = (ins Ds_FloatTensor:$input, DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads,
                       DenseI64ArrayAttr:$dilations);
  let results = (outs Ds_FloatTensor:$result);
  let hasVerifier = 1;
}

def Ds_MaxPoolGradOp : Ds_ModelOp<"max_pool_grad", [SameOperandsAndResultElementType]> {
  let summary = "the gradient of a max pool's input";
  let description = "input, gradient of the result -> gradient of the input: to the first maximum of each window.";
  let arguments = (ins Ds_FloatTensor:$input, Ds_FloatTensor:$gradient, DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$strides,
                       DenseI64ArrayAttr:$pads, DenseI64ArrayAttr:$dilations);
  let results = (outs Ds_FloatTensor:$result);
  let hasVerifier = 1;
}

#endif // DS_DIALECT_DS_CONVOLUTION_OPS
