// RUN: ds-opt %s --split-input-file --pass-pipeline='builtin.module(ds-attach-loss)' | FileCheck %s --check-prefix=OUTPUT
// RUN: ds-opt %s --split-input-file --pass-pipeline='builtin.module(ds-attach-loss{logits=logits labels=targets ignore-index=-1})' | FileCheck %s --check-prefix=LOGITS
// RUN: ds-opt %s --split-input-file --pass-pipeline='builtin.module(ds-attach-loss{logits=logits shift})' | FileCheck %s --check-prefix=SHIFT
// RUN: ds-opt %s --split-input-file --pass-pipeline='builtin.module(ds-attach-loss{logits=logits counts-labels})' | FileCheck %s --check-prefix=COUNTED

ds.variable @w {role = #ds.role<parameter>} : tensor<8x5xf32>

// The loss of one element becomes a scalar, the other output and what only it needs goes.
// OUTPUT-LABEL: func.func @forward
// OUTPUT-SAME:  -> (tensor<f32> {ds.name = "loss"})
// OUTPUT-NOT:   math.exp
// OUTPUT:       %[[LOSS:.*]] = ds.reshape %{{.*}} : (tensor<1xf32>) -> tensor<f32>
// OUTPUT:       return %[[LOSS]] : tensor<f32>

// LOGITS-LABEL: func.func @forward
// LOGITS-SAME:  %[[LABELS:[a-z0-9]*]]: tensor<2x3xi64> {ds.name = "targets"}
// LOGITS-SAME:  -> (tensor<f32> {ds.name = "loss"})
// LOGITS:       %[[Y:.*]] = ds.matmul
// LOGITS:       %[[CE:.*]] = ds.cross_entropy %[[Y]], %[[LABELS]] {ignore_index = -1 : i64}
// LOGITS:       %[[IGNORED:.*]] = arith.constant dense<-1> : tensor<2x3xi64>
// LOGITS:       %[[COUNTS:.*]] = arith.cmpi ne, %[[LABELS]], %[[IGNORED]]
// LOGITS:       %[[ONES:.*]] = arith.select %[[COUNTS]]
// LOGITS:       %[[SUM:.*]] = ds.reduce %[[CE]] {dims = array<i64: 0, 1>
// LOGITS:       %[[COUNT:.*]] = ds.reduce %[[ONES]] {dims = array<i64: 0, 1>
// Without any label the loss is 0 / 1.
// LOGITS:       %[[ONE:.*]] = arith.constant dense<1.000000e+00> : tensor<f32>
// LOGITS:       %[[DIVISOR:.*]] = arith.maximumf %[[COUNT]], %[[ONE]]
// LOGITS:       arith.divf %[[SUM]], %[[DIVISOR]] : tensor<f32>

// The sum, and by what it is to be divided.
// COUNTED-LABEL: func.func @forward
// COUNTED-SAME:  -> (tensor<f32> {ds.name = "loss"}, tensor<f32> {ds.name = "ds.label_count"})
// COUNTED:       %[[SUM:.*]] = ds.reduce
// COUNTED:       %[[COUNT:.*]] = ds.reduce
// COUNTED-NOT:   arith.divf
// COUNTED:       return %[[SUM]], %[[COUNT]]

// The last position has the label that does not count; the logits stay whole.
// SHIFT-LABEL: func.func @forward
// SHIFT-SAME:  %[[LABELS:[a-z0-9]*]]: tensor<2x3xi64> {ds.name = "labels"}
// SHIFT-DAG:   %[[LAST:.*]] = arith.constant dense<-100> : tensor<2x1xi64>
// SHIFT-DAG:   %[[NEXT:.*]] = ds.slice %[[LABELS]] {offsets = array<i64: 0, 1>, strides = array<i64: 1, 1>} : (tensor<2x3xi64>) -> tensor<2x2xi64>
// SHIFT:       %[[SHIFTED:.*]] = ds.concat %[[NEXT]], %[[LAST]] {dim = 1 : i64}
// SHIFT:       ds.cross_entropy %{{.*}}, %[[SHIFTED]]
func.func @forward(%x: tensor<2x3x8xf32> {ds.name = "x"}) -> (tensor<2x3x5xf32> {ds.name = "logits"}, tensor<2x3x5xf32> {ds.name = "scores"}, tensor<1xf32> {ds.name = "loss"}) {
  %w = ds.read @w : tensor<8x5xf32>
  %y = ds.matmul %x, %w {indices = "bsk,kn->bsn"} : (tensor<2x3x8xf32>, tensor<8x5xf32>) -> tensor<2x3x5xf32>
  %scores = math.exp %y : tensor<2x3x5xf32>
  %sum = ds.reduce %y {dims = array<i64: 0, 1, 2>, kind = #ds.reduction<sum>} : (tensor<2x3x5xf32>) -> tensor<f32>
  %loss = ds.reshape %sum : (tensor<f32>) -> tensor<1xf32>
  return %y, %scores, %loss : tensor<2x3x5xf32>, tensor<2x3x5xf32>, tensor<1xf32>
}

// -----

// Labels that are an input already are used as they are.
// OUTPUT:       func.func @forward
// SHIFT:        func.func @forward
// LOGITS:       func.func @forward
// LOGITS-SAME:  (%{{.*}}: tensor<4x1x5xf32> {ds.name = "x"}, %[[LABELS:[a-z0-9]*]]: tensor<4x1xi64> {ds.name = "targets"}) -> (tensor<f32>
// LOGITS:       ds.cross_entropy %{{.*}}, %[[LABELS]]
func.func @forward(%x: tensor<4x1x5xf32> {ds.name = "x"}, %t: tensor<4x1xi64> {ds.name = "targets"}) -> (tensor<4x1x5xf32> {ds.name = "logits"}, tensor<f32> {ds.name = "loss"}) {
  %zero = arith.constant dense<0.0> : tensor<f32>
  return %x, %zero : tensor<4x1x5xf32>, tensor<f32>
}
