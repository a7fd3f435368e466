// RUN: ds-opt %s --split-input-file --verify-diagnostics

// C1
// expected-error @below {{'ds.mesh' op axis "dp" must be >= 1, got 0}}
ds.mesh @mesh <dp = 0>

// -----

// C2
// expected-error @below {{'ds.mesh' op axis "dp" must be declared once}}
ds.mesh @mesh <dp = 2, dp = 4>

// -----

// C3
// expected-error @below {{'ds.mesh' op axis "dp" must have one weight per coordinate, got 3 for 2}}
ds.mesh @mesh <dp = 2 weights [1, 1, 1]>

// -----

// The second axis is at fault, not the first.
// C3
// expected-error @below {{'ds.mesh' op axis "tp" must have one weight per coordinate, got 1 for 2}}
ds.mesh @mesh <dp = 1 weights [1], tp = 2 weights [1]>

// -----

// C3
// expected-error @below {{'ds.mesh' op axis "tp" must have positive weights}}
ds.mesh @mesh <dp = 2, tp = 2 weights [1, 0]>
