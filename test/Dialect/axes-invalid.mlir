// RUN: ds-opt %s --split-input-file --verify-diagnostics
// C1
// expected-error @below {{refers to unknown mesh @mesh}}
ds.axes @mesh "tp" = ["tp0", "tp1"]

// -----

ds.mesh @mesh <tp = 2, tp0 = 2>
// C2
// expected-error @below {{alias must be no axis of the mesh, got "tp"}}
ds.axes @mesh "tp" = ["tp0"]

// -----

ds.mesh @mesh <tp0 = 2>
// C3
// expected-error @below {{refers to unknown axis "tp1"}}
ds.axes @mesh "tp" = ["tp0", "tp1"]
