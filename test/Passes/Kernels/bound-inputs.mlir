// RUN: ds-opt %s --pass-pipeline='builtin.module(func.func(ds-bound-inputs))' --verify-roundtrip | FileCheck %s

// CHECK-LABEL: func.func @indices_may_count_from_the_end
// CHECK-SAME:  tensor<3xi64> {ds.allowed = #ds.int_set<-8 to 8>}
func.func @indices_may_count_from_the_end(%table: tensor<8x4xf32>, %ids: tensor<3xi64>) -> tensor<3x4xf32> {
  %0 = ds.gather_rows %table, %ids : (tensor<8x4xf32>, tensor<3xi64>) -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}

// An embedding has no row -1, wherever its rows are gathered from.
// CHECK-LABEL: func.func @rows_of_a_parameter_may_not
// CHECK-SAME:  tensor<3xi64> {ds.allowed = #ds.int_set<0 to 8>}
ds.variable @table {role = #ds.role<parameter>} : tensor<8x4xf32>
func.func @rows_of_a_parameter_may_not(%ids: tensor<3xi64>) -> tensor<3x4xf32> {
  %table = ds.read @table : tensor<8x4xf32>
  %kept = ds.fence %table id 1 : tensor<8x4xf32>
  %0 = ds.gather_rows %kept, %ids : (tensor<8x4xf32>, tensor<3xi64>) -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}

// All layout casts count, also those that are rare on a table.
// CHECK-LABEL: func.func @rows_of_a_parameter_that_is_scattered
// CHECK-SAME:  tensor<3xi64> {ds.allowed = #ds.int_set<0 to 8>}
ds.variable @summands {role = #ds.role<parameter>} : tensor<8x4xf32>
func.func @rows_of_a_parameter_that_is_scattered(%ids: tensor<3xi64>) -> tensor<3x4xf32> {
  %table = ds.read @summands : tensor<8x4xf32>
  %partial = ds.to_partial %table over "dp" : tensor<8x4xf32> -> tensor<8x4xf32, #ds.layout<[{}, {}], partial = {dp}>>
  %shards = ds.reduce_scatter %partial over "dp" : tensor<8x4xf32, #ds.layout<[{}, {}], partial = {dp}>> -> tensor<8x4xf32, #ds.layout<[{}, {dp}]>>
  %whole = ds.all_gather %shards over "dp" : tensor<8x4xf32, #ds.layout<[{}, {dp}]>> -> tensor<8x4xf32>
  %0 = ds.gather_rows %whole, %ids : (tensor<8x4xf32>, tensor<3xi64>) -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}

// CHECK-LABEL: func.func @rows_of_a_buffer_may
// CHECK-SAME:  tensor<3xi64> {ds.allowed = #ds.int_set<-8 to 8>}
ds.variable @positions {role = #ds.role<buffer>} : tensor<8x4xf32>
func.func @rows_of_a_buffer_may(%ids: tensor<3xi64>) -> tensor<3x4xf32> {
  %table = ds.read @positions : tensor<8x4xf32>
  %0 = ds.gather_rows %table, %ids : (tensor<8x4xf32>, tensor<3xi64>) -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}

// CHECK-LABEL: func.func @labels_are_classes_or_ignored
// CHECK-SAME:  tensor<3xi64> {ds.allowed = #ds.int_set<0 to 5 or -100>}
func.func @labels_are_classes_or_ignored(%x: tensor<3x5xf32>, %labels: tensor<3xi64>) -> tensor<3xf32> {
  %0 = ds.cross_entropy %x, %labels {ignore_index = -100 : i64} : (tensor<3x5xf32>, tensor<3xi64>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// CHECK-LABEL: func.func @an_ignored_class_is_a_class
// CHECK-SAME:  tensor<3xi64> {ds.allowed = #ds.int_set<0 to 5>}
func.func @an_ignored_class_is_a_class(%x: tensor<3x5xf32>, %labels: tensor<3xi64>) -> tensor<3xf32> {
  %0 = ds.cross_entropy %x, %labels {ignore_index = 2 : i64} : (tensor<3x5xf32>, tensor<3xi64>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// CHECK-LABEL: func.func @a_loss_that_ignores_nothing_allows_nothing_more
// CHECK-SAME:  tensor<3xi64> {ds.allowed = #ds.int_set<0 to 5>}
func.func @a_loss_that_ignores_nothing_allows_nothing_more(%x: tensor<3x5xf32>, %labels: tensor<3xi64>) -> tensor<3xf32> {
  %0 = ds.cross_entropy %x, %labels {ignore_index = -9223372036854775808 : i64} : (tensor<3x5xf32>, tensor<3xi64>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// Indices in [-8, 8), labels in [0, 16) or -100 or -3.
// CHECK-LABEL: func.func @all_uses_must_allow
// CHECK-SAME:  tensor<3xi64> {ds.allowed = #ds.int_set<0 to 8 or -3>}
func.func @all_uses_must_allow(%table: tensor<8x4xf32>, %x: tensor<3x16xf32>, %both: tensor<3xi64>) -> (tensor<3x4xf32>, tensor<3xf32>) {
  %0 = ds.gather_rows %table, %both : (tensor<8x4xf32>, tensor<3xi64>) -> tensor<3x4xf32>
  %1 = ds.cross_entropy %x, %both {ignore_index = -3 : i64} : (tensor<3x16xf32>, tensor<3xi64>) -> tensor<3xf32>
  return %0, %1 : tensor<3x4xf32>, tensor<3xf32>
}

// The shift of labels, a part of the batch, another width, another layout.
// CHECK-LABEL: func.func @follows_what_moves_integers
// CHECK-SAME:  tensor<4x3xi64, #ds.layout<[(2)(2{dp}), {}]>> {ds.allowed = #ds.int_set<0 to 5 or -100>}
!split = tensor<2x3xi64, #ds.layout<[{dp}, {}]>>
func.func @follows_what_moves_integers(%x: tensor<6x5xf32>, %labels: tensor<4x3xi64, #ds.layout<[(2)(2{dp}), {}]>>, %part: index) -> tensor<6xf32> {
  %last = arith.constant dense<-100> : tensor<2x1xi64>
  %0 = ds.take_part %labels[%part] {parts = 2} : tensor<4x3xi64, #ds.layout<[(2)(2{dp}), {}]>> -> !split
  %1 = ds.all_gather %0 over "dp" : !split -> tensor<2x3xi64>
  %2 = ds.slice %1 {offsets = array<i64: 0, 1>, strides = array<i64: 1, 1>} : (tensor<2x3xi64>) -> tensor<2x2xi64>
  %3 = ds.concat %2, %last {dim = 1 : i64} : (tensor<2x2xi64>, tensor<2x1xi64>) -> tensor<2x3xi64>
  %4 = ds.reshape %3 : (tensor<2x3xi64>) -> tensor<6xi64>
  %5 = arith.trunci %4 : tensor<6xi64> to tensor<6xi32>
  %6 = ds.cross_entropy %x, %5 {ignore_index = -100 : i64} : (tensor<6x5xf32>, tensor<6xi32>) -> tensor<6xf32>
  return %6 : tensor<6xf32>
}

// What is replaced before it is used may be anything.
// CHECK-LABEL: func.func @leaves_selected_integers_alone
// CHECK-NOT:   ds.allowed
func.func @leaves_selected_integers_alone(%table: tensor<8x4xf32>, %ids: tensor<3xi64>, %mask: tensor<3xi1>) -> tensor<3x4xf32> {
  %zero = arith.constant dense<0> : tensor<3xi64>
  %0 = arith.select %mask, %ids, %zero : tensor<3xi1>, tensor<3xi64>
  %1 = ds.gather_rows %table, %0 : (tensor<8x4xf32>, tensor<3xi64>) -> tensor<3x4xf32>
  return %1 : tensor<3x4xf32>
}

// CHECK-LABEL: func.func @leaves_other_integers_alone
// CHECK-NOT:   ds.allowed
func.func @leaves_other_integers_alone(%mask: tensor<3xi64>) -> tensor<3xi64> {
  %0 = arith.addi %mask, %mask : tensor<3xi64>
  return %0 : tensor<3xi64>
}

// An integer type that is held wider has bounds of its own.
// CHECK-LABEL: func.func @keeps_what_an_input_allows_already
// CHECK-SAME:  %{{.*}}: tensor<3xi64> {ds.allowed = #ds.int_set<0 to 8>}
func.func @keeps_what_an_input_allows_already(%ids: tensor<3xi64> {ds.allowed = #ds.int_set<0 to 256>}, %table: tensor<8x4xf32>) -> tensor<3x4xf32> {
  %0 = ds.gather_rows %table, %ids : (tensor<8x4xf32>, tensor<3xi64>) -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}
