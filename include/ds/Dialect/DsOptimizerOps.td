// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DS_DIALECT_DS_OPTIMIZER_OPS
#define DS_DIALECT_DS_OPTIMIZER_OPS

include "ds/Dialect/DsAttrs.td"
include "ds/Dialect/DsInterfaces.td"

def Ds_AdamUpdateOp : Ds_ModelOp<"adam_update", [AllElementTypesMatch<["parameter", "new_parameter"]>,
                                                 AllElementTypesMatch<["mean", "new_mean"]>,
                                                 AllElementTypesMatch<["variance", "new_variance"]>]> {
  let summary = "one step of Adam or AdamW on one parameter";
  let description = [{
    m' = beta1 m + (1 - beta1) g;  v' = beta2 v + (1 - beta2) g^2;
    p' = p (1 - rate decay) - rate (m' / (1 - beta1^t)) / (sqrt(v' / (1 - beta2^t)) + epsilon)     (AdamW: `decoupled`)
    Adam: g + decay p takes the place of g. `step` is t, from 1. All tensors lie alike; rate and step are scalars.
    Source: Kingma and Ba 2015; Loshchilov and Hutter 2019.

    Constraints:
    - C1: gradient, moments and results have the shape of the parameter
    - C2: rate and step are scalars
    - C3: the new parameter and each new moment have the element type of the old one

    ```mlir
    %p1, %m1, %v1 = ds.adam_update %p, %g, %m, %v, %rate, %t
        {beta1 = 0.9 : f64, beta2 = 0.999 : f64, epsilon = 1.0e-08 : f64, decay = 0.1 : f64, decoupled}
        : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
    ```
  }];
  let arguments = (ins Ds_FloatTensor:$parameter, Ds_FloatTensor:$gradient, Ds_FloatTensor:$mean, Ds_FloatTensor:$variance,
                       Ds_FloatTensor:$rate, Ds_FloatTensor:$step, F64Attr:$beta1, F64Attr:$beta2, F64Attr:$epsilon,
                       F64Attr:$decay, UnitAttr:$decoupled);
  let results = (outs Ds_FloatTensor:$new_parameter, Ds_FloatTensor:$new_mean, Ds_FloatTensor:$new_variance);
  let hasVerifier = 1;
}

def Ds_SgdUpdateOp : Ds_ModelOp<"sgd_update", [AllElementTypesMatch<["parameter", "new_parameter"]>,
                                               AllElementTypesMatch<["velocity", "new_velocity"]>]> {
  let summary = "one step of stochastic gradient descent with momentum on one parameter";
  let description = [{
    d = g + decay p;  b' = momentum b + (1 - dampening) d (in step 1: d);  p' = p - rate b' (nesterov: p - rate (d + momentum b')).
    `step` is the number of the step, from 1. All tensors lie alike; rate and step are scalars.

    Constraints:
    - C1: gradient, velocity and results have the shape of the parameter
    - C2: rate and step are scalars
    - C3: the new parameter and the new velocity have the element type of the old one

    ```mlir
    %p1, %b1 = ds.sgd_update %p, %g, %b, %rate, %t {momentum = 0.9 : f64, dampening = 0.0 : f64, decay = 0.0 : f64}
        : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>)
    ```
  }];
  let arguments = (ins Ds_FloatTensor:$parameter, Ds_FloatTensor:$gradient, Ds_FloatTensor:$velocity, Ds_FloatTensor:$rate,
                       Ds_FloatTensor:$step, F64Attr:$momentum, F64Attr:$dampening, F64Attr:$decay, UnitAttr:$nesterov);
  let results = (outs Ds_FloatTensor:$new_parameter, Ds_FloatTensor:$new_velocity);
  let hasVerifier = 1;
}

#endif // DS_DIALECT_DS_OPTIMIZER_OPS
