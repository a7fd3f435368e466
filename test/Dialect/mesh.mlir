// RUN: ds-opt %s --split-input-file --verify-roundtrip | FileCheck %s

// CHECK: ds.mesh @mesh <dp = 4, tp = 2>
ds.mesh @mesh <dp = 4, tp = 2>

// -----

// CHECK: ds.mesh @weighted <dp = 2 weights [2, 1], tp = 3> {note = "fast and slow"}
ds.mesh @weighted <dp = 2 weights [2, 1], tp = 3> {note = "fast and slow"}
