// RUN: ds-opt %s --split-input-file --verify-diagnostics

// C1
// expected-error @below {{'ds.arena' op refers to unknown function @missing}}
ds.arena of @missing bytes 0 lower_bound 0 peak 0 "" largest [] {
}

// -----

func.func private @step()
// C2
// expected-error @below {{'ds.arena' op must have at least the 512 bytes of its bound, got 256}}
ds.arena of @step bytes 256 lower_bound 512 peak 0 "" largest [] {
}

// -----

func.func private @step()
// C3
// expected-error @below {{'ds.arena' op refers to unknown buffer 1 of 1}}
ds.arena of @step bytes 256 lower_bound 256 peak 0 "" largest [1] {
  ds.buffer 0 "x" at 0 bytes 256 live 0 to 0
}

// -----

func.func private @step()
ds.arena of @step bytes 256 lower_bound 256 peak 0 "" largest [] {
  // C5
  // expected-error @below {{'ds.buffer' op must have the number of its place, 0, got 3}}
  ds.buffer 3 "x" at 0 bytes 256 live 0 to 0
}

// -----

func.func private @step()
ds.arena of @step bytes 256 lower_bound 256 peak 0 "" largest [] {
  // C6
  // expected-error @below {{'ds.buffer' op must lie in an arena of 256 bytes, got 256 bytes at 4}}
  ds.buffer 0 "x" at 4 bytes 256 live 0 to 0
}

// -----

func.func private @step()
ds.arena of @step bytes 256 lower_bound 256 peak 0 "" largest [] {
  // C7
  // expected-error @below {{'ds.buffer' op must live from a time >= 0 to one not before it, got 4 to 3}}
  ds.buffer 0 "x" at 0 bytes 256 live 4 to 3
}

// -----

func.func private @step()
ds.arena of @step bytes 256 lower_bound 256 peak 0 "" largest [] {
  // C4
  // expected-error @below {{'arith.constant' op must be a ds.buffer in a ds.arena}}
  %0 = arith.constant 0 : i64
}
