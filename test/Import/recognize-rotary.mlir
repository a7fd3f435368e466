// RUN: ds-opt %s --cse --ds-recognize-composites | FileCheck %s
// Values stay the same, too.
// RUN: ds-opt %s --cse --check-each-pass --ds-recognize-composites -o /dev/null

// CHECK-LABEL: func.func @equal_halves_are_one
func.func @equal_halves_are_one(%x: tensor<2x3x2x4xf32>) -> tensor<2x3x2x4xf32> {
  // CHECK-DAG: %[[C:.*]] = arith.constant dense<{{\[\[}}1.000000e+00, 2.000000e+00], [3.000000e+00, 4.000000e+00]]> : tensor<2x2xf32>
  // CHECK-DAG: %[[S:.*]] = arith.constant dense<{{\[\[}}5.000000e+00, 6.000000e+00], [7.000000e+00, 8.000000e+00]]> : tensor<2x2xf32>
  %c = arith.constant dense<[[1.0, 2.0, 1.0, 2.0], [3.0, 4.0, 3.0, 4.0]]> : tensor<2x4xf32>
  %s = arith.constant dense<[[5.0, 6.0, 5.0, 6.0], [7.0, 8.0, 7.0, 8.0]]> : tensor<2x4xf32>
  %cosines = ds.broadcast %c {dims = array<i64: 2, 3>} : (tensor<2x4xf32>) -> tensor<2x3x2x4xf32>
  %sines = ds.broadcast %s {dims = array<i64: 2, 3>} : (tensor<2x4xf32>) -> tensor<2x3x2x4xf32>
  %x1 = ds.slice %x {offsets = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1, 1, 1>} : (tensor<2x3x2x4xf32>) -> tensor<2x3x2x2xf32>
  %x2 = ds.slice %x {offsets = array<i64: 0, 0, 0, 2>, strides = array<i64: 1, 1, 1, 1>} : (tensor<2x3x2x4xf32>) -> tensor<2x3x2x2xf32>
  %minus = arith.negf %x2 : tensor<2x3x2x2xf32>
  %turned = ds.concat %minus, %x1 {dim = 3 : i64} : (tensor<2x3x2x2xf32>, tensor<2x3x2x2xf32>) -> tensor<2x3x2x4xf32>
  %straight = arith.mulf %x, %cosines : tensor<2x3x2x4xf32>
  %crossed = arith.mulf %turned, %sines : tensor<2x3x2x4xf32>
  // CHECK:      %[[Y:.*]] = ds.rotary_embedding %arg0, %[[C]], %[[S]] :
  // CHECK-NEXT: return %[[Y]]
  %y = arith.addf %straight, %crossed : tensor<2x3x2x4xf32>
  return %y : tensor<2x3x2x4xf32>
}

// CHECK-LABEL: func.func @unequal_halves_stay_two
func.func @unequal_halves_stay_two(%x: tensor<2x3x2x4xf32>) -> tensor<2x3x2x4xf32> {
  // CHECK: %[[C:.*]] = arith.constant dense<{{.*}}> : tensor<2x4xf32>
  %c = arith.constant dense<[[1.0, 2.0, 1.0, 2.0], [3.0, 4.0, 3.0, 5.0]]> : tensor<2x4xf32>
  %cosines = ds.broadcast %c {dims = array<i64: 2, 3>} : (tensor<2x4xf32>) -> tensor<2x3x2x4xf32>
  %x1 = ds.slice %x {offsets = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1, 1, 1>} : (tensor<2x3x2x4xf32>) -> tensor<2x3x2x2xf32>
  %x2 = ds.slice %x {offsets = array<i64: 0, 0, 0, 2>, strides = array<i64: 1, 1, 1, 1>} : (tensor<2x3x2x4xf32>) -> tensor<2x3x2x2xf32>
  %minus = arith.negf %x2 : tensor<2x3x2x2xf32>
  %turned = ds.concat %minus, %x1 {dim = 3 : i64} : (tensor<2x3x2x2xf32>, tensor<2x3x2x2xf32>) -> tensor<2x3x2x4xf32>
  %straight = arith.mulf %x, %cosines : tensor<2x3x2x4xf32>
  %crossed = arith.mulf %turned, %cosines : tensor<2x3x2x4xf32>
  // CHECK-NEXT: ds.rotary_embedding %arg0, %[[C]], %[[C]] :
  // CHECK-NEXT: return
  %y = arith.addf %straight, %crossed : tensor<2x3x2x4xf32>
  return %y : tensor<2x3x2x4xf32>
}

// CHECK-LABEL: func.func @all_rows_alike
// CHECK-SAME:  (%[[X:.*]]: tensor<6x8xf32>, %[[C:.*]]: tensor<8xf32>, %[[S:.*]]: tensor<8xf32>)
func.func @all_rows_alike(%x: tensor<6x8xf32>, %c: tensor<8xf32>, %s: tensor<8xf32>) -> tensor<6x8xf32> {
  %cosines = ds.broadcast %c {dims = array<i64: 1>} : (tensor<8xf32>) -> tensor<6x8xf32>
  %sines = ds.broadcast %s {dims = array<i64: 1>} : (tensor<8xf32>) -> tensor<6x8xf32>
  %x1 = ds.slice %x {offsets = array<i64: 0, 0>, strides = array<i64: 1, 1>} : (tensor<6x8xf32>) -> tensor<6x4xf32>
  %x2 = ds.slice %x {offsets = array<i64: 0, 4>, strides = array<i64: 1, 1>} : (tensor<6x8xf32>) -> tensor<6x4xf32>
  %minus = arith.negf %x2 : tensor<6x4xf32>
  %turned = ds.concat %minus, %x1 {dim = 1 : i64} : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x8xf32>
  %straight = arith.mulf %cosines, %x : tensor<6x8xf32>
  %crossed = arith.mulf %sines, %turned : tensor<6x8xf32>
  // CHECK-NEXT: ds.rotary_embedding %[[X]], %[[C]], %[[S]] : (tensor<6x8xf32>, tensor<8xf32>, tensor<8xf32>)
  // CHECK-NEXT: return
  %y = arith.addf %crossed, %straight : tensor<6x8xf32>
  return %y : tensor<6x8xf32>
}

// CHECK-LABEL: func.func @angles_per_batch_and_position
// CHECK-SAME:  (%[[X:.*]]: tensor<2x3x2x4xf32>, %[[C:.*]]: tensor<2x2x4xf32>, %[[S:.*]]: tensor<2x2x4xf32>)
func.func @angles_per_batch_and_position(%x: tensor<2x3x2x4xf32>, %c: tensor<2x2x4xf32>, %s: tensor<2x2x4xf32>) -> tensor<2x3x2x4xf32> {
  %cosines = ds.broadcast %c {dims = array<i64: 0, 2, 3>} : (tensor<2x2x4xf32>) -> tensor<2x3x2x4xf32>
  %sines = ds.broadcast %s {dims = array<i64: 0, 2, 3>} : (tensor<2x2x4xf32>) -> tensor<2x3x2x4xf32>
  %x1 = ds.slice %x {offsets = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1, 1, 1>} : (tensor<2x3x2x4xf32>) -> tensor<2x3x2x2xf32>
  %x2 = ds.slice %x {offsets = array<i64: 0, 0, 0, 2>, strides = array<i64: 1, 1, 1, 1>} : (tensor<2x3x2x4xf32>) -> tensor<2x3x2x2xf32>
  %minus = arith.negf %x2 : tensor<2x3x2x2xf32>
  %turned = ds.concat %minus, %x1 {dim = 3 : i64} : (tensor<2x3x2x2xf32>, tensor<2x3x2x2xf32>) -> tensor<2x3x2x4xf32>
  %straight = arith.mulf %x, %cosines : tensor<2x3x2x4xf32>
  %crossed = arith.mulf %turned, %sines : tensor<2x3x2x4xf32>
  // CHECK-NEXT: ds.rotary_embedding %[[X]], %[[C]], %[[S]] {dims = array<i64: 0, 2>} :
  // CHECK-NEXT: return
  %y = arith.addf %straight, %crossed : tensor<2x3x2x4xf32>
  return %y : tensor<2x3x2x4xf32>
}

// CHECK-LABEL: func.func @angles_of_each_row
// CHECK-SAME:  (%[[X:.*]]: tensor<6x8xf32>, %[[C:.*]]: tensor<6x8xf32>, %[[S:.*]]: tensor<6x8xf32>)
func.func @angles_of_each_row(%x: tensor<6x8xf32>, %cosines: tensor<6x8xf32>, %sines: tensor<6x8xf32>) -> tensor<6x8xf32> {
  %x1 = ds.slice %x {offsets = array<i64: 0, 0>, strides = array<i64: 1, 1>} : (tensor<6x8xf32>) -> tensor<6x4xf32>
  %x2 = ds.slice %x {offsets = array<i64: 0, 4>, strides = array<i64: 1, 1>} : (tensor<6x8xf32>) -> tensor<6x4xf32>
  %minus = arith.negf %x2 : tensor<6x4xf32>
  %turned = ds.concat %minus, %x1 {dim = 1 : i64} : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x8xf32>
  %straight = arith.mulf %x, %cosines : tensor<6x8xf32>
  %crossed = arith.mulf %turned, %sines : tensor<6x8xf32>
  // CHECK-NEXT: ds.rotary_embedding %[[X]], %[[C]], %[[S]] :
  // CHECK-NEXT: return
  %y = arith.addf %straight, %crossed : tensor<6x8xf32>
  return %y : tensor<6x8xf32>
}

// CHECK-LABEL: func.func @one_row
func.func @one_row(%x: tensor<8xf32>, %cosines: tensor<8xf32>, %sines: tensor<8xf32>) -> tensor<8xf32> {
  %x1 = ds.slice %x {offsets = array<i64: 0>, strides = array<i64: 1>} : (tensor<8xf32>) -> tensor<4xf32>
  %x2 = ds.slice %x {offsets = array<i64: 4>, strides = array<i64: 1>} : (tensor<8xf32>) -> tensor<4xf32>
  %minus = arith.negf %x2 : tensor<4xf32>
  %turned = ds.concat %minus, %x1 {dim = 0 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  %straight = arith.mulf %x, %cosines : tensor<8xf32>
  %crossed = arith.mulf %turned, %sines : tensor<8xf32>
  // CHECK-NEXT: ds.rotary_embedding %{{.*}} : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  // CHECK-NEXT: return
  %y = arith.addf %straight, %crossed : tensor<8xf32>
  return %y : tensor<8xf32>
}

// CHECK-LABEL: func.func @doubled_angles_are_one_half
// CHECK-SAME:  (%[[X:.*]]: tensor<6x8xf32>, %[[C:.*]]: tensor<6x4xf32>, %[[S:.*]]: tensor<6x4xf32>)
func.func @doubled_angles_are_one_half(%x: tensor<6x8xf32>, %c: tensor<6x4xf32>, %s: tensor<6x4xf32>) -> tensor<6x8xf32> {
  %cosines = ds.concat %c, %c {dim = 1 : i64} : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x8xf32>
  %sines = ds.concat %s, %s {dim = 1 : i64} : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x8xf32>
  %x1 = ds.slice %x {offsets = array<i64: 0, 0>, strides = array<i64: 1, 1>} : (tensor<6x8xf32>) -> tensor<6x4xf32>
  %x2 = ds.slice %x {offsets = array<i64: 0, 4>, strides = array<i64: 1, 1>} : (tensor<6x8xf32>) -> tensor<6x4xf32>
  %minus = arith.negf %x2 : tensor<6x4xf32>
  %turned = ds.concat %minus, %x1 {dim = 1 : i64} : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x8xf32>
  %straight = arith.mulf %x, %cosines : tensor<6x8xf32>
  %crossed = arith.mulf %turned, %sines : tensor<6x8xf32>
  // CHECK-NEXT: ds.rotary_embedding %[[X]], %[[C]], %[[S]] : (tensor<6x8xf32>, tensor<6x4xf32>
  // CHECK-NEXT: return
  %y = arith.addf %straight, %crossed : tensor<6x8xf32>
  return %y : tensor<6x8xf32>
}

// CHECK-LABEL: func.func @turned_the_other_way_is_no_rotary
func.func @turned_the_other_way_is_no_rotary(%x: tensor<6x8xf32>, %cosines: tensor<6x8xf32>, %sines: tensor<6x8xf32>) -> tensor<6x8xf32> {
  %x1 = ds.slice %x {offsets = array<i64: 0, 0>, strides = array<i64: 1, 1>} : (tensor<6x8xf32>) -> tensor<6x4xf32>
  %x2 = ds.slice %x {offsets = array<i64: 0, 4>, strides = array<i64: 1, 1>} : (tensor<6x8xf32>) -> tensor<6x4xf32>
  %minus = arith.negf %x1 : tensor<6x4xf32>
  %turned = ds.concat %x2, %minus {dim = 1 : i64} : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x8xf32>
  %straight = arith.mulf %x, %cosines : tensor<6x8xf32>
  %crossed = arith.mulf %turned, %sines : tensor<6x8xf32>
  // CHECK-NOT: ds.rotary_embedding
  // CHECK:     return
  %y = arith.addf %straight, %crossed : tensor<6x8xf32>
  return %y : tensor<6x8xf32>
}

// CHECK-LABEL: func.func @halves_of_another_value_are_no_rotary
func.func @halves_of_another_value_are_no_rotary(%x: tensor<6x8xf32>, %z: tensor<6x8xf32>, %cosines: tensor<6x8xf32>, %sines: tensor<6x8xf32>) -> tensor<6x8xf32> {
  %x1 = ds.slice %z {offsets = array<i64: 0, 0>, strides = array<i64: 1, 1>} : (tensor<6x8xf32>) -> tensor<6x4xf32>
  %x2 = ds.slice %z {offsets = array<i64: 0, 4>, strides = array<i64: 1, 1>} : (tensor<6x8xf32>) -> tensor<6x4xf32>
  %minus = arith.negf %x2 : tensor<6x4xf32>
  %turned = ds.concat %minus, %x1 {dim = 1 : i64} : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x8xf32>
  %straight = arith.mulf %x, %cosines : tensor<6x8xf32>
  %crossed = arith.mulf %turned, %sines : tensor<6x8xf32>
  // CHECK-NOT: ds.rotary_embedding
  // CHECK:     return
  %y = arith.addf %straight, %crossed : tensor<6x8xf32>
  return %y : tensor<6x8xf32>
}

// CHECK-LABEL: func.func @tables_of_other_dims_are_no_rotary
func.func @tables_of_other_dims_are_no_rotary(%x: tensor<6x8xf32>, %cosines: tensor<6x8xf32>, %s: tensor<8xf32>) -> tensor<6x8xf32> {
  %sines = ds.broadcast %s {dims = array<i64: 1>} : (tensor<8xf32>) -> tensor<6x8xf32>
  %x1 = ds.slice %x {offsets = array<i64: 0, 0>, strides = array<i64: 1, 1>} : (tensor<6x8xf32>) -> tensor<6x4xf32>
  %x2 = ds.slice %x {offsets = array<i64: 0, 4>, strides = array<i64: 1, 1>} : (tensor<6x8xf32>) -> tensor<6x4xf32>
  %minus = arith.negf %x2 : tensor<6x4xf32>
  %turned = ds.concat %minus, %x1 {dim = 1 : i64} : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x8xf32>
  %straight = arith.mulf %x, %cosines : tensor<6x8xf32>
  %crossed = arith.mulf %turned, %sines : tensor<6x8xf32>
  // CHECK-NOT: ds.rotary_embedding
  // CHECK:     return
  %y = arith.addf %straight, %crossed : tensor<6x8xf32>
  return %y : tensor<6x8xf32>
}

// CHECK-LABEL: func.func @factors_of_rows_are_no_rotary
func.func @factors_of_rows_are_no_rotary(%x: tensor<6x8xf32>, %c: tensor<6xf32>) -> tensor<6x8xf32> {
  %cosines = ds.broadcast %c {dims = array<i64: 0>} : (tensor<6xf32>) -> tensor<6x8xf32>
  %x1 = ds.slice %x {offsets = array<i64: 0, 0>, strides = array<i64: 1, 1>} : (tensor<6x8xf32>) -> tensor<6x4xf32>
  %x2 = ds.slice %x {offsets = array<i64: 0, 4>, strides = array<i64: 1, 1>} : (tensor<6x8xf32>) -> tensor<6x4xf32>
  %minus = arith.negf %x2 : tensor<6x4xf32>
  %turned = ds.concat %minus, %x1 {dim = 1 : i64} : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x8xf32>
  %straight = arith.mulf %x, %cosines : tensor<6x8xf32>
  %crossed = arith.mulf %turned, %cosines : tensor<6x8xf32>
  // CHECK-NOT: ds.rotary_embedding
  // CHECK:     return
  %y = arith.addf %straight, %crossed : tensor<6x8xf32>
  return %y : tensor<6x8xf32>
}

// CHECK-LABEL: func.func @unlike_parts_are_no_rotary
func.func @unlike_parts_are_no_rotary(%x: tensor<6x8xf32>, %cosines: tensor<6x8xf32>, %sines: tensor<6x8xf32>) -> tensor<6x8xf32> {
  %x1 = ds.slice %x {offsets = array<i64: 0, 0>, strides = array<i64: 1, 1>} : (tensor<6x8xf32>) -> tensor<6x2xf32>
  %x2 = ds.slice %x {offsets = array<i64: 0, 2>, strides = array<i64: 1, 1>} : (tensor<6x8xf32>) -> tensor<6x6xf32>
  %minus = arith.negf %x2 : tensor<6x6xf32>
  %turned = ds.concat %minus, %x1 {dim = 1 : i64} : (tensor<6x6xf32>, tensor<6x2xf32>) -> tensor<6x8xf32>
  %straight = arith.mulf %x, %cosines : tensor<6x8xf32>
  %crossed = arith.mulf %turned, %sines : tensor<6x8xf32>
  // CHECK-NOT: ds.rotary_embedding
  // CHECK:     return
  %y = arith.addf %straight, %crossed : tensor<6x8xf32>
  return %y : tensor<6x8xf32>
}

// CHECK-LABEL: func.func @halves_one_by_one
// CHECK-SAME:  (%[[X:.*]]: tensor<2x3x2x4xf32>, %[[C:.*]]: tensor<3x2xf32>, %[[S:.*]]: tensor<3x2xf32>)
func.func @halves_one_by_one(%x: tensor<2x3x2x4xf32>, %c: tensor<3x2xf32>, %s: tensor<3x2xf32>) -> tensor<2x3x2x4xf32> {
  %cosines = ds.broadcast %c {dims = array<i64: 1, 3>} : (tensor<3x2xf32>) -> tensor<2x3x2x2xf32>
  %sines = ds.broadcast %s {dims = array<i64: 1, 3>} : (tensor<3x2xf32>) -> tensor<2x3x2x2xf32>
  %x1 = ds.slice %x {offsets = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1, 1, 1>} : (tensor<2x3x2x4xf32>) -> tensor<2x3x2x2xf32>
  %x2 = ds.slice %x {offsets = array<i64: 0, 0, 0, 2>, strides = array<i64: 1, 1, 1, 1>} : (tensor<2x3x2x4xf32>) -> tensor<2x3x2x2xf32>
  %a = arith.mulf %x1, %cosines : tensor<2x3x2x2xf32>
  %b = arith.mulf %sines, %x2 : tensor<2x3x2x2xf32>
  %y1 = arith.subf %a, %b : tensor<2x3x2x2xf32>
  %c1 = arith.mulf %x2, %cosines : tensor<2x3x2x2xf32>
  %d = arith.mulf %x1, %sines : tensor<2x3x2x2xf32>
  %y2 = arith.addf %d, %c1 : tensor<2x3x2x2xf32>
  // CHECK-NEXT: ds.rotary_embedding %[[X]], %[[C]], %[[S]] {dims = array<i64: 1>} :
  // CHECK-NEXT: return
  %y = ds.concat %y1, %y2 {dim = 3 : i64} : (tensor<2x3x2x2xf32>, tensor<2x3x2x2xf32>) -> tensor<2x3x2x4xf32>
  return %y : tensor<2x3x2x4xf32>
}

// CHECK-LABEL: func.func @a_sum_of_first_halves_is_no_rotary
func.func @a_sum_of_first_halves_is_no_rotary(%x: tensor<6x8xf32>, %cosines: tensor<6x4xf32>, %sines: tensor<6x4xf32>) -> tensor<6x8xf32> {
  %x1 = ds.slice %x {offsets = array<i64: 0, 0>, strides = array<i64: 1, 1>} : (tensor<6x8xf32>) -> tensor<6x4xf32>
  %x2 = ds.slice %x {offsets = array<i64: 0, 4>, strides = array<i64: 1, 1>} : (tensor<6x8xf32>) -> tensor<6x4xf32>
  %a = arith.mulf %x1, %cosines : tensor<6x4xf32>
  %b = arith.mulf %sines, %x2 : tensor<6x4xf32>
  %y1 = arith.addf %a, %b : tensor<6x4xf32>
  %c1 = arith.mulf %x2, %cosines : tensor<6x4xf32>
  %d = arith.mulf %x1, %sines : tensor<6x4xf32>
  %y2 = arith.addf %d, %c1 : tensor<6x4xf32>
  // CHECK-NOT: ds.rotary_embedding
  // CHECK:     return
  %y = ds.concat %y1, %y2 {dim = 1 : i64} : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x8xf32>
  return %y : tensor<6x8xf32>
}

// CHECK-LABEL: func.func @another_cosine_of_the_second_half_is_no_rotary
func.func @another_cosine_of_the_second_half_is_no_rotary(%x: tensor<6x8xf32>, %cosines: tensor<6x4xf32>, %sines: tensor<6x4xf32>) -> tensor<6x8xf32> {
  %x1 = ds.slice %x {offsets = array<i64: 0, 0>, strides = array<i64: 1, 1>} : (tensor<6x8xf32>) -> tensor<6x4xf32>
  %x2 = ds.slice %x {offsets = array<i64: 0, 4>, strides = array<i64: 1, 1>} : (tensor<6x8xf32>) -> tensor<6x4xf32>
  %a = arith.mulf %x1, %cosines : tensor<6x4xf32>
  %b = arith.mulf %sines, %x2 : tensor<6x4xf32>
  %y1 = arith.subf %a, %b : tensor<6x4xf32>
  %c1 = arith.mulf %x2, %sines : tensor<6x4xf32>
  %d = arith.mulf %x1, %sines : tensor<6x4xf32>
  %y2 = arith.addf %d, %c1 : tensor<6x4xf32>
  // CHECK-NOT: ds.rotary_embedding
  // CHECK:     return
  %y = ds.concat %y1, %y2 {dim = 1 : i64} : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x8xf32>
  return %y : tensor<6x8xf32>
}
