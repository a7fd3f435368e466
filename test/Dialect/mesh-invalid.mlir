// RUN: ds-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{'ds.mesh' op axis "dp" must be >= 1, got 0}}
ds.mesh @mesh <dp = 0>

// -----

// expected-error @below {{'ds.mesh' op axis "dp" must be declared once}}
ds.mesh @mesh <dp = 2, dp = 4>

// -----

// expected-error @below {{must have one weight per coordinate, got 3 for 2}}
ds.mesh @mesh <dp = 2 weights [1, 1, 1]>

// -----

// expected-error @below {{must have positive weights}}
ds.mesh @mesh <dp = 2 weights [1, 0]>
