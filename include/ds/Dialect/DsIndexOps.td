// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DS_DIALECT_DS_INDEX_OPS
#define DS_DIALECT_DS_INDEX_OPS

include "ds/Dialect/DsAttrs.td"
include "ds/Dialect/DsInterfaces.td"

def Ds_GatherRowsOp : Ds_ModelOp<"gather_rows", [AllElementTypesMatch<["table", "result"]>]> {
  let summary = "rows of a table by index: embedding";
  let description = [{
    table [V, rest...], ids [dims...] -> [dims..., rest...]. Negative ids count from the end. A table split over its rows
    gives a partial result: each rank looks up the ids it owns and has zeros for the others.

    Constraints:
    - C1: the table has a first dim, of rows
    - C2: the result has the dims of the ids, then those of a row
    - C3: the ids are of i64
    - C4: table and result have one element type

    ```mlir
    %y = ds.gather_rows %table, %ids : (tensor<256x64xf32>, tensor<8x32xi64>) -> tensor<8x32x64xf32>
    ```
  }];
  let arguments = (ins Ds_Tensor:$table, Ds_IdTensor:$ids);
  let results = (outs Ds_Tensor:$result);
  let hasVerifier = 1;
}

def Ds_ScatterAddRowsOp : Ds_ModelOp<"scatter_add_rows", [AllElementTypesMatch<["updates", "result"]>]> {
  let summary = "sums rows into a table of zeros by index: the adjoint of gather_rows";
  let description = [{
    ids [dims...], updates [dims..., rest...] -> [V, rest...]; partial over the axes of the ids' dims.

    Constraints:
    - C1: the result has a first dim, of rows
    - C2: the updates have the dims of the ids, then those of a row
    - C3: updates and result have one element type

    ```mlir
    %g = ds.scatter_add_rows %ids, %dy : (tensor<8x32xi64>, tensor<8x32x64xf32>) -> tensor<256x64xf32>
    ```
  }];
  let arguments = (ins Ds_IdTensor:$ids, Ds_FloatTensor:$updates);
  let results = (outs Ds_FloatTensor:$result);
  let hasVerifier = 1;
}

def Ds_GatherElementsOp : Ds_ModelOp<"gather_elements", [AllElementTypesMatch<["input", "result"]>]> {
  let summary = "result[.., i, ..] = input[.., ids[.., i, ..], ..] along one dim";
  let description = [{
    As torch.gather. Negative ids count from the end.

    Constraints:
    - C1: input and ids have one rank, and the same sizes beside `dim`
    - C2: `dim` is a dim of the input
    - C3: the result has the shape of the ids
    - C4: input and result have one element type

    ```mlir
    %y = ds.gather_elements %x, %ids {dim = 1 : i64} : (tensor<8x4xf32>, tensor<8x2xi64>) -> tensor<8x2xf32>
    ```
  }];
  let arguments = (ins Ds_Tensor:$input, Ds_IdTensor:$ids, I64Attr:$dim);
  let results = (outs Ds_Tensor:$result);
  let hasVerifier = 1;
}

def Ds_ScatterElementsOp : Ds_ModelOp<"scatter_elements", [AllElementTypesMatch<["updates", "result"]>]> {
  let summary = "sums updates into zeros at ids along one dim: the adjoint of gather_elements";
  let description = [{
    As torch.scatter_add into zeros. Negative ids count from the end.

    Constraints:
    - C1: ids and result have one rank, and the same sizes beside `dim`
    - C2: the updates have the shape of the ids
    - C3: updates and result have one element type

    ```mlir
    %dx = ds.scatter_elements %ids, %dy {dim = 1 : i64} : (tensor<8x2xi64>, tensor<8x2xf32>) -> tensor<8x4xf32>
    ```
  }];
  let arguments = (ins Ds_IdTensor:$ids, Ds_Tensor:$updates, I64Attr:$dim);
  let results = (outs Ds_Tensor:$result);
  let hasVerifier = 1;
}

def Ds_TopKOp : Ds_ModelOp<"top_k", [AllElementTypesMatch<["input", "values"]>]> {
  let summary = "the k largest elements along one dim, in descending order, and where they stood";
  let description = [{
    Of equal elements the one at the lower index comes first; NaN counts as largest. k is the results' size.

    Constraints:
    - C1: k is no more than there are elements
    - C2: `dim` is a dim of the input
    - C3: values and ids have the input's shape but for `dim`, which is k
    - C4: input and values have one element type

    ```mlir
    %values, %ids = ds.top_k %x {dim = 1 : i64} : (tensor<8x4xf32>) -> (tensor<8x2xf32>, tensor<8x2xi64>)
    ```
  }];
  let arguments = (ins Ds_NumberTensor:$input, I64Attr:$dim);
  let results = (outs Ds_NumberTensor:$values, Ds_IdTensor:$ids);
  let hasVerifier = 1;
}

#endif // DS_DIALECT_DS_INDEX_OPS
