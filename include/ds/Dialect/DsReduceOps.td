// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DS_DIALECT_DS_REDUCE_OPS
#define DS_DIALECT_DS_REDUCE_OPS

include "ds/Dialect/DsAttrs.td"
include "ds/Dialect/DsInterfaces.td"

def Ds_ReduceOp : Ds_ModelOp<"reduce", [SameOperandsAndResultElementType]> {
  let summary = "folds some dims away";
  let description = [{
    The dims in `dims` (ascending) vanish. A sum over a split dim is partial over its axes. max and min propagate NaN. Without
    dims the op is its input, and folds away.

    Constraints:
    - C1: `dims` are dims of the input, ascending
    - C2: the result has the other dims
    - C3: all tensors have one element type

    ```mlir
    %y = ds.reduce %x {dims = array<i64: 1>, kind = #ds.reduction<sum>} : (tensor<8x64xf32>) -> tensor<8xf32>
    ```
  }];
  let arguments = (ins Ds_Tensor:$input, DenseI64ArrayAttr:$dims, Ds_ReductionAttr:$kind);
  let results = (outs Ds_Tensor:$result);
  let hasVerifier = 1;
  let hasFolder = 1;
}

#endif // DS_DIALECT_DS_REDUCE_OPS
