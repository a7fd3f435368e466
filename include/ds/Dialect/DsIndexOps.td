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
  }];
  let arguments = (ins Ds_Tensor:$table, Ds_IdTensor:$ids);
  let results = (outs Ds_Tensor:$result);
  let hasVerifier = 1;
}

def Ds_ScatterAddRowsOp : Ds_ModelOp<"scatter_add_rows", [AllElementTypesMatch<["updates", "result"]>]> {
  let summary = "sums rows into a table of zeros by index: the adjoint of gather_rows";
  let description = "ids [dims...], updates [dims..., rest...] -> [V, rest...]; partial over the axes of the ids' dims.";
  let arguments = (ins Ds_IdTensor:$ids, Ds_FloatTensor:$updates);
  let results = (outs Ds_FloatTensor:$result);
  let hasVerifier = 1;
}

def Ds_GatherElementsOp : Ds_ModelOp<"gather_elements", [AllElementTypesMatch<["input", "result"]>]> {
  let summary = "result[.., i, ..] = input[.., ids[.., i, ..], ..] along one dim";
  let arguments = (ins Ds_Tensor:$input, Ds_IdTensor:$ids, I64Attr:$dim);
  let results = (outs Ds_Tensor:$result);
  let hasVerifier = 1;
}

def Ds_ScatterElementsOp : Ds_ModelOp<"scatter_elements", [AllElementTypesMatch<["updates", "result"]>]> {
  let summary = "sums updates into zeros at ids along one dim: the adjoint of gather_elements";
  let arguments = (ins Ds_IdTensor:$ids, Ds_Tensor:$updates, I64Attr:$dim);
  let results = (outs Ds_Tensor:$result);
  let hasVerifier = 1;
}

def Ds_TopKOp : Ds_ModelOp<"top_k", [AllElementTypesMatch<["input", "values"]>]> {
  let summary = "the k largest elements along one dim, in descending order, and where they stood";
  let description = "Of equal elements the one at the lower index comes first; NaN counts as largest. k is the results' size.";
  let arguments = (ins Ds_NumberTensor:$input, I64Attr:$dim);
  let results = (outs Ds_NumberTensor:$values, Ds_IdTensor:$ids);
  let hasVerifier = 1;
}

#endif // DS_DIALECT_DS_INDEX_OPS
