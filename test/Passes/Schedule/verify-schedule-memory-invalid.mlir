// RUN: ds-opt %s --split-input-file --verify-diagnostics --ds-verify-schedule

// Every op must find in its buffers what it reads.

!t = tensor<64xf32>
// expected-error @below {{buffers 0 and 1 overlap while both are live}}
ds.arena of @step bytes 512 lower_bound 0 peak 0 "" largest [] {
  ds.buffer 0 "x" at 0 bytes 256 live 0 to 1
  ds.buffer 1 "y" at 128 bytes 256 live 0 to 1
}
func.func @step(%x: !t {ds.buffer = 0 : i64}) -> !t {
  %y = ds.kernel(%x) attributes {ds.buffers = array<i64: 1>} : (!t) -> !t {
  ^bb0(%0: !t):
    %1 = math.exp %0 : !t
    ds.yield %1 : !t
  }
  return %y : !t
}

// -----

!t = tensor<64xf32>
ds.arena of @step bytes 512 lower_bound 0 peak 0 "" largest [] {
  ds.buffer 0 "x" at 0 bytes 256 live 0 to 2
  ds.buffer 1 "y" at 256 bytes 256 live 0 to 1
}
func.func @step(%x: !t {ds.buffer = 0 : i64}) -> (!t, !t) {
  %y = ds.kernel(%x) attributes {ds.buffers = array<i64: 1>} : (!t) -> !t {
  ^bb0(%0: !t):
    %1 = math.exp %0 : !t
    ds.yield %1 : !t
  }
  // expected-note @below {{written here}}
  %z = ds.kernel(%x) attributes {ds.buffers = array<i64: 1>} : (!t) -> !t {
  ^bb0(%0: !t):
    %1 = math.exp %0 : !t
    ds.yield %1 : !t
  }
  // expected-error @below {{'func.return' op must not read buffer 1 (y) after its release: it holds another value by then}}
  return %y, %z : !t, !t
}

// -----

!t = tensor<64xf32>
ds.arena of @step bytes 512 lower_bound 0 peak 0 "" largest [] {
  ds.buffer 0 "x" at 0 bytes 256 live 0 to 0
  ds.buffer 1 "y" at 256 bytes 256 live 0 to 2
}
func.func @step(%x: !t {ds.buffer = 0 : i64}) -> !t {
  %y = ds.kernel(%x) attributes {ds.buffers = array<i64: 1>} : (!t) -> !t {
  ^bb0(%0: !t):
    %1 = math.exp %0 : !t
    ds.yield %1 : !t
  }
  // expected-error @below {{'ds.kernel' op at time 1 must not use buffer 0 (x), which is live from 0 to 0}}
  %z = ds.kernel(%x) attributes {ds.buffers = array<i64: 1>} : (!t) -> !t {
  ^bb0(%0: !t):
    %1 = math.exp %0 : !t
    ds.yield %1 : !t
  }
  return %z : !t
}

// -----

!t = tensor<64xf32>
!m = tensor<8x8xf32>
ds.arena of @step bytes 512 lower_bound 0 peak 0 "" largest [] {
  ds.buffer 0 "x" at 0 bytes 256 live 0 to 2
  ds.buffer 1 "y" at 256 bytes 256 live 0 to 1
}
func.func @step(%x: !m {ds.buffer = 0 : i64}) -> !m {
  // expected-error @below {{'ds.transpose' op must not write over operand 0 in buffer 0 (x)}}
  %y = ds.transpose %x {permutation = array<i64: 1, 0>, ds.buffers = array<i64: 0>} : (!m) -> !m
  return %y : !m
}

// -----

!t = tensor<64xf32>
!p = tensor<64xf32, #ds.layout<[{}], partial = {dp}>>
ds.arena of @step bytes 768 lower_bound 0 peak 0 "" largest [] {
  ds.buffer 0 "x" at 0 bytes 256 live 0 to 3
  ds.buffer 1 "w" at 256 bytes 256 live 0 to 3
  ds.buffer 2 "z" at 512 bytes 256 live 0 to 3
}
func.func @step(%x: !p {ds.buffer = 0 : i64}, %z: !t {ds.buffer = 2 : i64}) -> !t {
  %t = ds.start all_reduce %x over "dp" : !p -> [!t]
  // expected-error @below {{'ds.kernel' op must not write buffer 1 (w) while a collective is writing it}}
  %y = ds.kernel(%z) attributes {ds.buffers = array<i64: 1>} : (!t) -> !t {
  ^bb0(%0: !t):
    %1 = math.exp %0 : !t
    ds.yield %1 : !t
  }
  %w = ds.wait %t, %x {ds.buffers = array<i64: 1>} : !p -> !t
  return %w : !t
}

// -----

!t = tensor<64xf32>
!p = tensor<64xf32, #ds.layout<[{}], partial = {dp}>>
ds.arena of @step bytes 768 lower_bound 0 peak 0 "" largest [] {
  ds.buffer 0 "x" at 0 bytes 256 live 0 to 3
  ds.buffer 1 "w" at 256 bytes 256 live 0 to 3
  ds.buffer 2 "z" at 512 bytes 256 live 0 to 3
}
func.func @step(%x: !p {ds.buffer = 0 : i64}, %z: !t {ds.buffer = 1 : i64}) -> !t {
  %t = ds.start all_reduce %x over "dp" : !p -> [!t]
  // expected-error @below {{'ds.kernel' op must not read buffer 1 (w) before the wait of the collective that writes it}}
  %y = ds.kernel(%z) attributes {ds.buffers = array<i64: 2>} : (!t) -> !t {
  ^bb0(%0: !t):
    %1 = math.exp %0 : !t
    ds.yield %1 : !t
  }
  %w = ds.wait %t, %x {ds.buffers = array<i64: 1>} : !p -> !t
  return %w : !t
}

// -----

!t = tensor<64xf32>
!p = tensor<64xf32, #ds.layout<[{}], partial = {dp}>>
ds.arena of @step bytes 768 lower_bound 0 peak 0 "" largest [] {
  ds.buffer 0 "x" at 0 bytes 256 live 0 to 3
  ds.buffer 1 "w" at 256 bytes 256 live 0 to 3
  ds.buffer 2 "z" at 512 bytes 256 live 0 to 3
}
func.func @step(%x: !p {ds.buffer = 0 : i64}, %z: !t {ds.buffer = 2 : i64}) -> !t {
  %t = ds.start all_reduce %x over "dp" : !p -> [!t]
  // expected-note @below {{written here}}
  %y = ds.kernel(%z) attributes {ds.buffers = array<i64: 0>} : (!t) -> !t {
  ^bb0(%0: !t):
    %1 = math.exp %0 : !t
    ds.yield %1 : !t
  }
  // expected-error @below {{'ds.wait' op must not read buffer 0 (x) after its release: it holds another value by then}}
  %w = ds.wait %t, %x {ds.buffers = array<i64: 1>} : !p -> !t
  return %w : !t
}

// -----

!t = tensor<64xf32>
ds.variable @w {role = #ds.role<buffer>, ds.buffer = 0 : i64} : tensor<64xf32>
ds.arena of @step bytes 512 lower_bound 0 peak 0 "" largest [] {
  ds.buffer 0 "w" at 0 bytes 256 live 0 to 3
  ds.buffer 1 "x" at 256 bytes 256 live 0 to 3
}
func.func @step(%x: !t {ds.buffer = 1 : i64}) -> !t {
  %w = ds.read @w {ds.buffers = array<i64: 0>} : !t
  %y = ds.kernel(%x) attributes {ds.buffers = array<i64: 0>} : (!t) -> !t {
  ^bb0(%0: !t):
    %1 = math.exp %0 : !t
    ds.yield %1 : !t
  }
  // expected-error @below {{'func.return' op must leave the next step's value in buffer 0 (w), which holds another}}
  return %y : !t
}

// -----

!t = tensor<64xf32>
ds.arena of @step bytes 768 lower_bound 0 peak 0 "" largest [] {
  ds.buffer 0 "x" at 0 bytes 256 live 0 to 7
  ds.buffer 1 "a" at 256 bytes 256 live 0 to 7
  ds.buffer 2 "y" at 512 bytes 256 live 0 to 7
}
func.func @step(%x: !t {ds.buffer = 0 : i64}) -> !t {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %l = scf.for %i = %c0 to %c2 step %c1 iter_args(%a = %x) -> (!t) {
    // expected-error @below {{'ds.kernel' op must not read buffer 0 (x) after its release: it holds another value by then}}
    // expected-note @below {{written here}}
    %y = ds.kernel(%x) attributes {ds.buffers = array<i64: 0>} : (!t) -> !t {
    ^bb0(%0: !t):
      %1 = math.exp %0 : !t
      ds.yield %1 : !t
    }
    scf.yield %y : !t
  } {ds.buffers = array<i64: 1>}
  return %l : !t
}

// -----

!t = tensor<64xf32>
ds.arena of @step bytes 512 lower_bound 0 peak 0 "" largest [] {
  ds.buffer 0 "x" at 0 bytes 256 live 0 to 3
}
// expected-error @below {{'func.func' op must have a buffer of the arena for each tensor}}
func.func @step(%x: !t) -> !t {
  return %x : !t
}
