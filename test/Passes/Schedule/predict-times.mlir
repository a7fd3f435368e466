// RUN: ds-opt %s --pass-pipeline='builtin.module(func.func(ds-predict-times{machine=%S/Inputs/round-numbers.json}))' | FileCheck %s

// The machine: 2 cores for 2 ranks. In a second a core does 100 FLOPs of matmuls, 1000 of attention, or 10 operations of kernels,
// memory gives 64 bytes (32 to each rank), a link 16; a call takes 1 s, a step of a collective 2 s.

!whole = tensor<8x8xf32>
!rows = tensor<8x8xf32, #ds.layout<[{dp}, {}]>>
!flat = tensor<8x8xf32, #ds.layout<[{}, {}], flat = {dp}>>
!partial = tensor<8x8xf32, #ds.layout<[{}, {}], partial = {dp}>>
ds.mesh @mesh <dp = 2>

// CHECK-LABEL: func.func @matmul_by_its_local_size
func.func @matmul_by_its_local_size(%x: !rows, %w: !whole) -> !rows {
  // 2 * 4 * 8 * 8 FLOPs are 5.12 s, 512 bytes are 16 s, of which 11.2 s are not hidden, and the call.
  // CHECK: ds.matmul {{.*}}ds.seconds = 1.732{{.*}}, ds.work = {bytes = 5.120000e+02 : f64, matmul_flops = 5.120000e+02 : f64}
  %0 = ds.matmul %x, %w {indices = "mk,kn->mn"} : (!rows, !whole) -> !rows
  return %0 : !rows
}

// CHECK-LABEL: func.func @kernel_by_its_operations
func.func @kernel_by_its_operations(%x: tensor<16xf32>) -> tensor<16xf32> {
  // 128 bytes are 4 s; 16 * (18 + 1) operations, a load and a store of each are 33.6 s.
  // CHECK: ds.kernel{{.*}}ds.seconds = 3.460000e+01 : f64, ds.work = {bytes = 1.280000e+02 : f64, element_operations = 3.360000e+02 : f64, parts = 1.000000e+00 : f64}
  // CHECK-NOT: math.exp {{.*}}ds.seconds
  %0 = ds.kernel(%x) : (tensor<16xf32>) -> tensor<16xf32> {
  ^bb0(%a: tensor<16xf32>):
    %1 = math.exp %a : tensor<16xf32>
    %2 = arith.addf %1, %a : tensor<16xf32>
    ds.yield %2 : tensor<16xf32>
  }
  return %0 : tensor<16xf32>
}

// CHECK-LABEL: func.func @attention_by_the_blocks_that_are_visited
func.func @attention_by_the_blocks_that_are_visited(%q: tensor<1x1x128x8xf32>) -> tensor<1x1x128x8xf32> {
  // Of 2 x 2 blocks of 64 queries and keys the causal mask leaves 3: 12288 scores, with 2 products of 8 terms each, and 20 operations.
  // CHECK: ds.fused_attention {{.*}}attention_flops = 3.932160e+05 : f64, bytes = 1.740800e+04 : f64, element_operations = 2.457600e+05 : f64, parts = 2.000000e+00
  %0, %maxima, %sums = ds.fused_attention %q, %q, %q {causal, indices = "bksd,bktd,bkte->bkse,bks,bks", scale = 1.0 : f64} : (tensor<1x1x128x8xf32>, tensor<1x1x128x8xf32>, tensor<1x1x128x8xf32>) -> (tensor<1x1x128x8xf32>, tensor<1x1x128xf32>, tensor<1x1x128xf32>)
  return %0 : tensor<1x1x128x8xf32>
}

// CHECK-LABEL: func.func @collectives_by_steps_and_bytes
func.func @collectives_by_steps_and_bytes(%x: !partial, %y: !flat) {
  // One step, half of 256 bytes.
  // CHECK: ds.start reduce_scatter {{.*}}ds.seconds = 1.100000e+01
  // CHECK: ds.start all_gather {{.*}}ds.seconds = 1.100000e+01
  // Twice that.
  // CHECK: ds.start all_reduce {{.*}}ds.seconds = 2.100000e+01
  %t0 = ds.start reduce_scatter %x over "dp" : !partial -> [!flat]
  %w0 = ds.wait %t0, %x : !partial -> !flat
  %t1 = ds.start all_gather %y over "dp" : !flat -> [!whole]
  %w1 = ds.wait %t1, %y : !flat -> !whole
  %t2 = ds.start all_reduce %x over "dp" : !partial -> [!whole]
  %w2 = ds.wait %t2, %x : !partial -> !whole
  return
}

// CHECK-LABEL: func.func @leaves_what_does_not_run_alone
func.func @leaves_what_does_not_run_alone(%x: !whole) -> tensor<64xf32> {
  // CHECK-NOT: ds.seconds
  %0 = ds.reshape %x : (!whole) -> tensor<64xf32>
  return %0 : tensor<64xf32>
}
