// RUN: ds-opt %s --split-input-file --verify-diagnostics --ds-verify-program

ds.variable @w {role = #ds.role<parameter>} : tensor<4xf32>
func.func @reads_twice() {
  %0 = ds.read @w : tensor<4xf32>
  // expected-error @below {{must be the only one of @w in its function}}
  %1 = ds.read @w : tensor<4xf32>
  return
}

// -----

ds.variable @w {role = #ds.role<parameter>} : tensor<4xf32>
func.func @reads_late(%x: tensor<4xf32> {ds.name = "x"}) {
  %0 = arith.negf %x : tensor<4xf32>
  // expected-error @below {{must come before all other ops of the step}}
  %1 = ds.read @w : tensor<4xf32>
  return
}

// -----

ds.variable @w {role = #ds.role<parameter>} : tensor<4xf32>
func.func @assigns_twice(%x: tensor<4xf32> {ds.name = "x"}) {
  ds.assign @w, %x : tensor<4xf32>
  // expected-error @below {{must be the only one of @w in its function}}
  ds.assign @w, %x : tensor<4xf32>
  return
}

// -----

ds.variable @w {role = #ds.role<parameter>} : tensor<4xf32>
func.func @assigns_early(%x: tensor<4xf32> {ds.name = "x"}) {
  // expected-error @below {{must come after all other ops of the step}}
  ds.assign @w, %x : tensor<4xf32>
  %0 = arith.negf %x : tensor<4xf32>
  return
}

// -----

func.func @has_another_op(%x: tensor<4xf32> {ds.name = "x"}) {
  // expected-error @below {{is not legal at the end of the program stage}}
  %0 = math.atan %x : tensor<4xf32>
  return
}

// -----

// expected-error @below {{argument 0 must have a ds.name}}
func.func @has_an_argument_without_name(%x: tensor<4xf32>) {
  return
}

// -----

// expected-error @below {{result 0 must have a ds.name or a ds.gradient}}
func.func @has_a_result_without_name(%x: tensor<4xf32> {ds.name = "x"}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
