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
  }];
  let arguments = (ins Ds_FloatTensor:$logits, Ds_IntTensor:$labels, I64Attr:$ignore_index);
  let results = (outs Ds_FloatTensor:$result);
  let hasVerifier = 1;
}

def Ds_CrossEntropyGradOp : Ds_ModelOp<"cross_entropy_grad", [AllElementTypesMatch<["logits", "gradient", "result"]>]> {
  let summary = "(softmax(logits) - onehot(labels)) times the row's gradient";
  let description = [{
    logits [dims..., V], labels [dims...], gradient [dims...] -> [dims..., V]; 0 where the label is `ignore_index`.
  }];
  let arguments = (ins Ds_FloatTensor:$logits, Ds_IntTensor:$labels, Ds_FloatTensor:$gradient, I64Attr:$ignore_index);
  let results = (outs Ds_FloatTensor:$result);
  let hasVerifier = 1;
}

#endif // DS_DIALECT_DS_LOSS_OPS
