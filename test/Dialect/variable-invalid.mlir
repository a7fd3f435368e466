// RUN: ds-opt %s --split-input-file --verify-diagnostics

// C1
// expected-error @below {{'ds.variable' op file range must have 512 bytes, got 256}}
ds.variable @w {role = #ds.role<parameter>, initial = #ds.file_range<"train.onnx", 64, 256>} : tensor<32x4xf32>

// -----

// C2
// expected-error @below {{'ds.variable' op initial must be a file range or elements}}
ds.variable @w {role = #ds.role<parameter>, initial = "zeros"} : tensor<4xf32>

// -----

// C3
// expected-error @below {{'ds.variable' op initial must have the shape and element type of 'tensor<4xf32>', got 'tensor<3xf32>'}}
ds.variable @w {role = #ds.role<parameter>, initial = dense<0.0> : tensor<3xf32>} : tensor<4xf32>

// -----

// C4
// expected-error @below {{'ds.variable' op attribute 'type' failed to satisfy constraint}}
ds.variable @w {role = #ds.role<parameter>} : tensor<?xf32>

// -----

// C5
// expected-error @below {{'ds.variable' op a layout must have one entry per dim, got 1 entries for 2 dims}}
ds.variable @w {role = #ds.role<parameter>, layout = #ds.layout<[{dp}]>} : tensor<8x4xf32>

// -----

// C5
// expected-error @below {{'ds.variable' op the factors of dim 0 must multiply to 8, got 6}}
ds.variable @w {role = #ds.role<parameter>, layout = #ds.layout<[(2)(3{dp}), {}]>} : tensor<8x4xf32>
