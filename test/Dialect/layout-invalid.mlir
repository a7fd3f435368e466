// RUN: ds-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{a layout must have one entry per dim, got 1 entries for 2 dims}}
func.func private @entry_forgotten(tensor<8x4xf32, #ds.layout<[{dp}]>>)

// -----

// expected-error @below {{the factors of dim 1 must multiply to 192, got 128}}
func.func private @factors_that_do_not_multiply(tensor<64x192xf32, #ds.layout<[{}, (2)(4{tp})(16)]>>)

// -----

// expected-error @below {{a factor must be >= 1, got 0}}
func.func private @factor_of_zero(tensor<8xf32, #ds.layout<[(0)(8)]>>)

// -----

// expected-error @below {{a partial must be sum, max, min, and or or, got mean}}
func.func private @unknown_fold(tensor<8xf32, #ds.layout<[{}], partial = {dp:mean}>>)

// -----

// expected-error @below {{axis "dp" is partial twice}}
func.func private @partial_twice(tensor<8xf32, #ds.layout<[{}], partial = {dp, dp:max}>>)

// -----

// expected-error @below {{memory must be device, host or disk, got tape}}
func.func private @unknown_memory(tensor<8xf32, #ds.layout<[{}], memory = tape>>)

// -----

// expected-error @below {{expected partial, flat, at or memory, got sharded}}
func.func private @unknown_key(tensor<8xf32, #ds.layout<[{}], sharded = {dp}>>)
