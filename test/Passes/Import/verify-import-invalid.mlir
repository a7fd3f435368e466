// RUN: ds-opt %s --split-input-file --verify-diagnostics --ds-verify-import

// expected-error @below {{must have a function @forward}}
module {
}

// -----

// expected-error @below {{must be called @forward, as the one function of an imported model}}
func.func @step(%x: tensor<4xf32> {ds.name = "x"}) {
  return
}

// -----

// expected-error @below {{argument 0 must have a ds.name}}
func.func @forward(%x: tensor<4xf32>) {
  return
}

// -----

func.func @forward(%x: tensor<4xf32> {ds.name = "x"}) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{'scf.for' op is not legal at the end of the import stage}}
  scf.for %i = %c0 to %c0 step %c0 {
  }
  return
}

// -----

func.func @forward(%x: tensor<8xf32, #ds.layout<[{dp}]>> {ds.name = "x"}) {
  // expected-error @below {{'math.exp' op must have no layout yet}}
  %0 = math.exp %x : tensor<8xf32, #ds.layout<[{dp}]>>
  return
}

// -----

ds.variable @w {role = #ds.role<parameter>} : tensor<4xf32>
func.func @forward(%x: tensor<4xf32> {ds.name = "x"}) {
  %0 = arith.negf %x : tensor<4xf32>
  // expected-error @below {{must come before all other ops of the step}}
  %1 = ds.read @w : tensor<4xf32>
  return
}
