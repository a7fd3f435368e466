// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DS_DIALECT_DS_LOSS_OPS
#define DS_DIALECT_DS_LOSS_OPS

include "ds/Dialect/DsAttrs.td"
include "ds/Dialect/DsInterfaces.td"

def Ds_CrossEntropyOp : Ds_ModelOp<"cross_entropy", [AllElementTypesMatch<["logits", "result"]>]> {
  let summary = "minus the log-softmax of each row at its label";
  let description = [{
    logits [dims..., V], labels [dims...] -> [dims...]; 0 where the label is `ignore_index`.

    Constraints:
    - C1: the logits have a last dim, of classes
    - C2: labels and result have the other dims of the logits
    - C3: logits and result have one element type

    ```mlir
    %l = ds.cross_entropy %x, %labels {ignore_index = -100 : i64} : (tensor<8x32x256xf32>, tensor<8x32xi64>) -> tensor<8x32xf32>
    ```
  }];
  let arguments = (ins Ds_FloatTensor:$logits, Ds_IntTensor:$labels, I64Attr:$ignore_index);
  let results = (outs Ds_FloatTensor:$result);
  let hasVerifier = 1;
}

def Ds_CrossEntropyGradOp : Ds_ModelOp<"cross_entropy_grad", [AllElementTypesMatch<["logits", "gradient", "result"]>]> {
  let summary = "(softmax(logits) - onehot(labels)) times the row's gradient";
  let description = [{
    logits [dims..., V], labels [dims...], gradient [dims...] -> [dims..., V]; 0 where the label is `ignore_index`.

    Constraints:
    - C1: labels and gradient have the dims of the logits but for the last
    - C2: the result has the shape of the logits
    - C3: logits, gradient and result have one element type

    ```mlir
    %dx = ds.cross_entropy_grad %x, %labels, %dl {ignore_index = -100 : i64}
        : (tensor<8x256xf32>, tensor<8xi64>, tensor<8xf32>) -> tensor<8x256xf32>
    ```
  }];
  let arguments = (ins Ds_FloatTensor:$logits, Ds_IntTensor:$labels, Ds_FloatTensor:$gradient, I64Attr:$ignore_index);
  let results = (outs Ds_FloatTensor:$result);
  let hasVerifier = 1;
}

#endif // DS_DIALECT_DS_LOSS_OPS
