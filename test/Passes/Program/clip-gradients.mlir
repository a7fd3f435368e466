// RUN: ds-opt %s --pass-pipeline='builtin.module(ds-clip-gradients{max-norm=0.5})' | FileCheck %s
// RUN: ds-opt %s --pass-pipeline='builtin.module(ds-clip-gradients)' | FileCheck %s --check-prefix=MEASURE

ds.variable @a {role = #ds.role<parameter>} : tensor<4x2xf32>
ds.variable @b {role = #ds.role<parameter>} : tensor<bf16>
ds.variable @c {role = #ds.role<parameter>} : tensor<4x2xf32>

// The norm is of all gradients, in f32; the loss is not scaled. Gradients of one type share the factor.
// CHECK-LABEL: func.func @step(
// CHECK-SAME:  %[[L:[a-z0-9]*]]: tensor<f32> {ds.name = "l"}, %[[A:[a-z0-9]*]]: tensor<4x2xf32> {ds.name = "a"}, %[[B:[a-z0-9]*]]: tensor<bf16> {ds.name = "b"}, %[[C:[a-z0-9]*]]: tensor<4x2xf32> {ds.name = "c"})
// CHECK-SAME:  tensor<f32> {ds.name = "grad_norm"})
// CHECK:       %[[AA:.*]] = arith.mulf %[[A]], %[[A]]
// CHECK:       %[[SA:.*]] = ds.reduce %[[AA]] {dims = array<i64: 0, 1>, kind = #ds.reduction<sum>}
// CHECK:       %[[BW:.*]] = arith.extf %[[B]]
// CHECK:       %[[BB:.*]] = arith.mulf %[[BW]], %[[BW]]
// CHECK:       %[[S:.*]] = arith.addf %[[SA]], %[[BB]]
// CHECK:       %[[CC:.*]] = arith.mulf %[[C]], %[[C]]
// CHECK:       %[[SC:.*]] = ds.reduce %[[CC]]
// CHECK:       %[[SS:.*]] = arith.addf %[[S]], %[[SC]]
// CHECK:       %[[NORM:.*]] = math.sqrt %[[SS]]
// CHECK-DAG:   %[[MAX:.*]] = arith.constant dense<5.000000e-01> : tensor<f32>
// CHECK-DAG:   %[[SAFE:.*]] = arith.addf %[[NORM]]
// CHECK:       %[[Q:.*]] = arith.divf %[[MAX]], %[[SAFE]]
// CHECK:       %[[F:.*]] = arith.minimumf %[[Q]]
// CHECK:       %[[FA:.*]] = ds.broadcast %[[F]] {dims = array<i64>} : (tensor<f32>) -> tensor<4x2xf32>
// CHECK:       %[[CA:.*]] = arith.mulf %[[A]], %[[FA]]
// CHECK:       %[[FB:.*]] = arith.truncf %[[F]]
// CHECK:       %[[CB:.*]] = arith.mulf %[[B]], %[[FB]]
// CHECK-NEXT:  %[[CL:.*]] = arith.mulf %[[C]], %[[FA]]
// CHECK-NEXT:  return %[[L]], %[[CA]], %[[CB]], %[[CL]], %[[NORM]]

// MEASURE:     %[[NORM:.*]] = math.sqrt
// MEASURE-NOT: arith.minimumf
// MEASURE:     return %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[NORM]]
func.func @step(%l: tensor<f32> {ds.name = "l"}, %a: tensor<4x2xf32> {ds.name = "a"}, %b: tensor<bf16> {ds.name = "b"}, %c: tensor<4x2xf32> {ds.name = "c"}) -> (tensor<f32> {ds.name = "loss"}, tensor<4x2xf32> {ds.gradient = @a}, tensor<bf16> {ds.gradient = @b}, tensor<4x2xf32> {ds.gradient = @c}) {
  return %l, %a, %b, %c : tensor<f32>, tensor<4x2xf32>, tensor<bf16>, tensor<4x2xf32>
}
