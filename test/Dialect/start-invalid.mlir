// RUN: ds-opt %s --split-input-file --verify-diagnostics

!shard = tensor<8xf32, #ds.layout<[{}], flat = {dp}>>
// C1
func.func @a_destination_is_missing(%x: !shard) -> tensor<8xf32> {
  // expected-error @below {{'ds.start' op must have one destination type per input, got 0 for 1}}
  %t = ds.start all_gather %x over "dp" : !shard -> []
  %w = ds.wait %t, %x : !shard -> tensor<8xf32>
  return %w : tensor<8xf32>
}

// -----

!shard = tensor<8xf32, #ds.layout<[{}], flat = {dp}>>
// C2
func.func @a_destination_of_another_shape(%x: !shard) -> tensor<4xf32> {
  // expected-error @below {{'ds.start' op must keep shape and element type}}
  %t = ds.start all_gather %x over "dp" : !shard -> [tensor<4xf32>]
  %w = ds.wait %t, %x : !shard -> tensor<4xf32>
  return %w : tensor<4xf32>
}
