// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DS_DIALECT_DS_SHAPE_OPS
#define DS_DIALECT_DS_SHAPE_OPS

include "ds/Dialect/DsAttrs.td"
include "ds/Dialect/DsInterfaces.td"

def Ds_BroadcastOp : Ds_ModelOp<"broadcast", [SameOperandsAndResultElementType]> {
  let summary = "repeats a tensor along new dims";
  let description = [{
    Dim i of the input is dim `dims[i]` of the result (ascending, of equal size); the result's other dims are new.

    Constraints:
    - C1: `dims` has one entry per dim of the input, ascending, each a dim of the result
    - C2: dims that the input has keep their size
    - C3: all tensors have one element type

    ```mlir
    %b = ds.broadcast %x {dims = array<i64: 1>} : (tensor<64xf32>) -> tensor<8x64xf32>
    ```
  }];
  let arguments = (ins Ds_Tensor:$input, DenseI64ArrayAttr:$dims);
  let results = (outs Ds_Tensor:$result);
  let hasVerifier = 1;
}

def Ds_TransposeOp : Ds_ModelOp<"transpose", [SameOperandsAndResultElementType]> {
  let summary = "permutes dims: dim i of the result is dim permutation[i] of the input";
  let description = [{
    Constraints:
    - C1: `permutation` has each dim once
    - C2: the result has the permuted shape
    - C3: all tensors have one element type

    ```mlir
    %y = ds.transpose %x {permutation = array<i64: 2, 0, 1>} : (tensor<2x8x4xf32>) -> tensor<4x2x8xf32>
    ```
  }];
  let arguments = (ins Ds_Tensor:$input, DenseI64ArrayAttr:$permutation);
  let results = (outs Ds_Tensor:$result);
  let hasVerifier = 1;
}

def Ds_ReshapeOp : Ds_ModelOp<"reshape", [SameOperandsAndResultElementType]> {
  let summary = "the same elements in row-major order under another shape";
  let description = [{
    The factor lists of input and result are equal, so shards stay where they are.

    Constraints:
    - C1: input and result have the same number of elements
    - C2: all tensors have one element type

    ```mlir
    %y = ds.reshape %x : (tensor<8x32x64xf32, #ds.layout<[{dp}, {}, {} ]>>) -> tensor<256x64xf32, #ds.layout<[(8{dp})(32), {} ]>>
    ```
  }];
  let arguments = (ins Ds_Tensor:$input);
  let results = (outs Ds_Tensor:$result);
  let hasVerifier = 1;
}

def Ds_SliceOp : Ds_ModelOp<"slice", [SameOperandsAndResultElementType]> {
  let summary = "elements offsets + i * strides of each dim";
  let description = [{
    The result's shape says how many. Strides may be negative. A slice of whole leading parts of a dim leaves the split of
    the rest alone: columns [0, n) of [.., (3)(n{tp})].

    Constraints:
    - C1: `offsets` and `strides` have one entry per dim
    - C2: every element is inside the input
    - C3: all tensors have one element type

    ```mlir
    %y = ds.slice %x {offsets = array<i64: 6, 0>, strides = array<i64: -2, 1>} : (tensor<8x4xf32>) -> tensor<3x4xf32>
    ```
  }];
  let arguments = (ins Ds_Tensor:$input, DenseI64ArrayAttr:$offsets, DenseI64ArrayAttr:$strides);
  let results = (outs Ds_Tensor:$result);
  let hasVerifier = 1;
}

def Ds_ConcatOp : Ds_ModelOp<"concat", [SameOperandsAndResultElementType]> {
  let summary = "joins tensors along one dim";
  let description = [{
    The inputs stand one after the other along `dim`.

    Constraints:
    - C1: there is one input at least
    - C2: `dim` is a dim of the inputs
    - C3: inputs and result have one rank, and the same sizes beside `dim`
    - C4: `dim` of the result is as long as the inputs' together
    - C5: all tensors have one element type

    ```mlir
    %y = ds.concat %a, %b {dim = 1 : i64} : (tensor<8x4xf32>, tensor<8x3xf32>) -> tensor<8x7xf32>
    ```
  }];
  let arguments = (ins Variadic<Ds_Tensor>:$inputs, I64Attr:$dim);
  let results = (outs Ds_Tensor:$result);
  let hasVerifier = 1;
}

def Ds_PadOp : Ds_ModelOp<"pad", [SameOperandsAndResultElementType]> {
  let summary = "surrounds a tensor with zeros, and puts zeros between its elements";
  let description = [{
    Element i of dim d goes to low[d] + i * (interior[d] + 1). The adjoint of a slice with positive strides.

    Constraints:
    - C1: `low` and `interior` have one entry per dim
    - C2: the result holds all elements of the input
    - C3: all tensors have one element type

    ```mlir
    %y = ds.pad %x {low = array<i64: 1>, interior = array<i64: 1>} : (tensor<4xf32>) -> tensor<9xf32>  // 0 a 0 b 0 c 0 d 0
    ```
  }];
  let arguments = (ins Ds_Tensor:$input, DenseI64ArrayAttr:$low, DenseI64ArrayAttr:$interior);
  let results = (outs Ds_Tensor:$result);
  let hasVerifier = 1;
}

def Ds_IotaOp : Ds_ModelOp<"iota"> {
  let summary = "the global coordinate along one dim";
  let description = [{
    The coordinate is that of the whole tensor, also where the dim is split over ranks.

    Constraints:
    - C1: `dim` is a dim of the result

    ```mlir
    %i = ds.iota {dim = 1 : i64} : () -> tensor<8x4xi64>  // each row is 0, 1, 2, 3
    ```
  }];
  let arguments = (ins I64Attr:$dim);
  let results = (outs Ds_Tensor:$result);
  let hasVerifier = 1;
}

def Ds_TakePartOp : Ds_ModelOp<"take_part", [AllElementTypesMatch<["input", "result"]>]> {
  let summary = "one of `parts` equal parts of dim 0";
  let description = [{
    Rows [index * n / parts, (index + 1) * n / parts). The input's dim 0 is laid out `(parts)(n/parts ...)`, so that each part
    is spread over the ranks.

    Constraints:
    - C1: `parts` divides dim 0 of the input
    - C2: the result has the input's shape but for dim 0, which is one part
    - C3: input and result have one element type

    ```mlir
    %p = ds.take_part %x[%i] {parts = 4} : tensor<16x32xi64, #ds.layout<[(4)(4{dp}), {} ]>> -> tensor<4x32xi64, #ds.layout<[{dp}, {} ]>>
    ```
  }];
  let arguments = (ins Ds_Tensor:$input, Index:$index, I64Attr:$parts);
  let results = (outs Ds_Tensor:$result);
  let assemblyFormat = "$input `[` $index `]` attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

#endif // DS_DIALECT_DS_SHAPE_OPS
