// RUN: ds-opt %s --pass-pipeline='builtin.module(func.func(ds-predict-times{machine=%S/Inputs/round-numbers.json}))' | FileCheck %s

// The machine: 2 cores for 2 ranks, 100 matmul FLOPs and 10 cheap operations per second and core, 64 bytes per second of
// memory (32 of each rank), 1 s per call, 2 s per step of a collective, 16 bytes per second received.

!whole = tensor<8x8xf32>
!rows = tensor<8x8xf32, #ds.layout<[{dp}, {}]>>
!flat = tensor<8x8xf32, #ds.layout<[{}, {}], flat = {dp}>>
!partial = tensor<8x8xf32, #ds.layout<[{}, {}], partial = {dp}>>
ds.mesh @mesh <dp = 2>

// CHECK-LABEL: func.func @matmul_by_its_local_size
func.func @matmul_by_its_local_size(%x: !rows, %w: !whole) -> !rows {
  // 2 * 4 * 8 * 8 FLOPs are 5.12 s, 512 bytes are 16 s, and the call.
  // CHECK: ds.matmul {{.*}}ds.seconds = 1.700000e+01
  %0 = ds.matmul %x, %w {indices = "mk,kn->mn"} : (!rows, !whole) -> !rows
  return %0 : !rows
}

// CHECK-LABEL: func.func @kernel_by_its_operations
func.func @kernel_by_its_operations(%x: tensor<16xf32>) -> tensor<16xf32> {
  // 128 bytes are 4 s; 16 * (10 + 1) operations are 17.6 s.
  // CHECK: ds.kernel{{.*}}ds.seconds = 1.860000e+01
  // CHECK-NOT: math.exp {{.*}}ds.seconds
  %0 = ds.kernel(%x) : (tensor<16xf32>) -> tensor<16xf32> {
  ^bb0(%a: tensor<16xf32>):
    %1 = math.exp %a : tensor<16xf32>
    %2 = arith.addf %1, %a : tensor<16xf32>
    ds.yield %2 : tensor<16xf32>
  }
  return %0 : tensor<16xf32>
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
