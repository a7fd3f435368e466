// RUN: not ds-opt %s --ds-build-mesh=axes=dp=0 2>&1 | FileCheck %s --check-prefix=SIZE
// RUN: not ds-opt %s --ds-build-mesh=axes=dp 2>&1 | FileCheck %s --check-prefix=FORM
// RUN: not ds-opt %s --ds-build-mesh=axes=dp=2 2>&1 | FileCheck %s --check-prefix=OTHER

// SIZE: error: an axis must be name=size with size >= 1, got "dp=0"
// FORM: error: an axis must be name=size with size >= 1, got "dp"
// OTHER: [[@LINE+1]]:1: error: the module has another mesh already
ds.mesh @mesh <dp = 4>
