// RUN: ds-opt %s --split-input-file --verify-diagnostics

// C1
func.func @body_of_another_type(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{'ds.kernel' op body must take the inputs, got other types}}
  %0 = ds.kernel(%x) : (tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%a: tensor<8xf64>):
    %e = arith.truncf %a : tensor<8xf64> to tensor<8xf32>
    ds.yield %e : tensor<8xf32>
  }
  return %0 : tensor<8xf32>
}

// -----

// C2
func.func @yield_of_another_layout(%x: tensor<8xf32>) -> tensor<8xf32, #ds.layout<[{dp}]>> {
  // expected-error @below {{'ds.kernel' op body must yield the results, got other types}}
  %0 = ds.kernel(%x) : (tensor<8xf32>) -> tensor<8xf32, #ds.layout<[{dp}]>> {
  ^bb0(%a: tensor<8xf32>):
    %e = math.exp %a : tensor<8xf32>
    ds.yield %e : tensor<8xf32>
  }
  return %0 : tensor<8xf32, #ds.layout<[{dp}]>>
}

// -----

// C3
func.func @value_from_above(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-note @below {{required by region isolation constraints}}
  %0 = ds.kernel() : () -> tensor<8xf32> {
    // expected-error @below {{'math.exp' op using value defined outside the region}}
    %e = math.exp %x : tensor<8xf32>
    ds.yield %e : tensor<8xf32>
  }
  return %0 : tensor<8xf32>
}

// -----

// C4
func.func @streams_what_is_no_result(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{'ds.kernel' op streamed must number results in ascending order, got 1}}
  %0 = ds.kernel(%x) attributes {streamed = array<i64: 1>} : (tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%a: tensor<8xf32>):
    %e = math.exp %a : tensor<8xf32>
    ds.yield %e : tensor<8xf32>
  }
  return %0 : tensor<8xf32>
}
