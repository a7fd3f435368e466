// DEFINE: %{placement} = ds-propagate-layouts,ds-verify-layouts{allow-relayouts},ds-expand-relayouts,cse,func.func(ds-regather-parameters{distance=1}),ds-verify-layouts
// DEFINE: %{kernels} = func.func(ds-decompose-composites),cse,func.func(ds-match-library-calls),cse,func.func(ds-form-kernels),ds-verify-layouts
// DEFINE: %{schedule} = func.func(ds-split-async),func.func(ds-bucket-collectives),func.func(ds-schedule),func.func(ds-verify-schedule),ds-verify-layouts
// DEFINE: %{cleanup} = canonicalize,cse,loop-invariant-code-motion,ds-verify-layouts
// DEFINE: %{mesh} = dp = 3, tp = 2
// DEFINE: %{check} = sed 's/<dp = 3, tp = 2>/<%{mesh}>/' %s | ds-opt --check-each-pass --pass-pipeline='builtin.module(%{placement},%{kernels},%{schedule},%{cleanup})' -o /dev/null
// RUN: %{check}
// REDEFINE: %{mesh} = dp = 8, tp = 3
// RUN: %{check}
// REDEFINE: %{mesh} = dp = 1, tp = 5
// RUN: %{check}
// REDEFINE: %{mesh} = dp = 2 weights [3, 1], tp = 2
// RUN: %{check}
// REDEFINE: %{mesh} = tp = 4, dp = 2
// RUN: %{check}

// From hints to a schedule no pass changes a value, on any mesh: sizes that do not divide, empty shards, an axis of one rank, weights.
// Decomposed ops have f32 constants, hence widths and epsilons that are powers of two.
ds.mesh @mesh <dp = 3, tp = 2>
ds.variable @emb {role = #ds.role<parameter>, layout = #ds.layout<[{tp}, {}]>} : tensor<7x5xf32>
ds.variable @w {role = #ds.role<parameter>, layout = #ds.layout<[{}, {tp}], flat = {dp}>} : tensor<5x7xf32>
ds.variable @b {role = #ds.role<parameter>, layout = #ds.layout<[{}], flat = {dp}>} : tensor<2xf32>
ds.variable @s {role = #ds.role<parameter>} : tensor<f32>
ds.variable @c {role = #ds.role<parameter>, layout = #ds.layout<[{dp}, {}, {}]>} : tensor<4x3x3xf32>

func.func @an_embedding_split_by_rows(%i: tensor<4x3xi64> {ds.name = "i", ds.layout = #ds.layout<[{dp}, {}]>}, %l: tensor<4x3xi64> {ds.name = "l", ds.layout = #ds.layout<[{dp}, {}]>}) -> (tensor<f32> {ds.name = "loss"}, tensor<7x5xf32> {ds.name = "g"}) {
  %e = ds.read @emb : tensor<7x5xf32>
  %w = ds.read @w : tensor<5x7xf32>
  %s = ds.read @s : tensor<f32>
  %x = ds.gather_rows %e, %i : (tensor<7x5xf32>, tensor<4x3xi64>) -> tensor<4x3x5xf32>
  %sb = ds.broadcast %s {dims = array<i64>} : (tensor<f32>) -> tensor<4x3x5xf32>
  %y = arith.mulf %x, %sb : tensor<4x3x5xf32>
  %sq = ds.reshape %y : (tensor<4x3x5xf32>) -> tensor<12x5xf32>
  %lo = ds.matmul %sq, %w {indices = "bk,kn->bn"} : (tensor<12x5xf32>, tensor<5x7xf32>) -> tensor<12x7xf32>
  %ll = ds.reshape %l : (tensor<4x3xi64>) -> tensor<12xi64>
  %ce = ds.cross_entropy %lo, %ll {ignore_index = -100 : i64} : (tensor<12x7xf32>, tensor<12xi64>) -> tensor<12xf32>
  %loss = ds.reduce %ce {dims = array<i64: 0>, kind = #ds.reduction<sum>} : (tensor<12xf32>) -> tensor<f32>
  %g = ds.scatter_add_rows %i, %y : (tensor<4x3xi64>, tensor<4x3x5xf32>) -> tensor<7x5xf32>
  return %loss, %g : tensor<f32>, tensor<7x5xf32>
}

func.func @dims_and_axes_that_do_not_divide(%x: tensor<5x4xf32> {ds.name = "x", ds.layout = #ds.layout<[{dp}, {tp}]>}, %y: tensor<5x4xf32> {ds.name = "y", ds.layout = #ds.layout<[{tp}, {}]>}) -> (tensor<5xf32> {ds.name = "a"}, tensor<4x5xf32> {ds.name = "b"}, tensor<f32> {ds.name = "c"}, tensor<2x2xf32> {ds.name = "d"}) {
  %b = ds.read @b : tensor<2xf32>
  %z = arith.addf %x, %y : tensor<5x4xf32>
  %m = ds.reduce %z {dims = array<i64: 1>, kind = #ds.reduction<max>} : (tensor<5x4xf32>) -> tensor<5xf32>
  %t = ds.transpose %z {permutation = array<i64: 1, 0>} : (tensor<5x4xf32>) -> tensor<4x5xf32>
  %u = ds.concat %t, %t {dim = 0 : i64} : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<8x5xf32>
  %v = ds.slice %u {offsets = array<i64: 2, 0>, strides = array<i64: 1, 1>} : (tensor<8x5xf32>) -> tensor<4x5xf32>
  %sum = ds.reduce %v {dims = array<i64: 0, 1>, kind = #ds.reduction<sum>} : (tensor<4x5xf32>) -> tensor<f32>
  %bs = ds.reduce %b {dims = array<i64: 0>, kind = #ds.reduction<sum>} : (tensor<2xf32>) -> tensor<f32>
  %c = arith.addf %sum, %bs : tensor<f32>
  %c2 = arith.mulf %c, %c : tensor<f32>
  %bb = ds.broadcast %b {dims = array<i64: 1>} : (tensor<2xf32>) -> tensor<2x2xf32>
  return %m, %v, %c2, %bb : tensor<5xf32>, tensor<4x5xf32>, tensor<f32>, tensor<2x2xf32>
}

func.func @a_fused_weight_split_by_heads(%x: tensor<4x6x24xf32> {ds.name = "x", ds.layout = #ds.layout<[{dp}, {}, (3)(2{tp})(4)]>}) -> (tensor<4x6x8xf32> {ds.name = "o"}) {
  %q0 = ds.slice %x {offsets = array<i64: 0, 0, 0>, strides = array<i64: 1, 1, 1>} : (tensor<4x6x24xf32>) -> tensor<4x6x8xf32>
  %k0 = ds.slice %x {offsets = array<i64: 0, 0, 8>, strides = array<i64: 1, 1, 1>} : (tensor<4x6x24xf32>) -> tensor<4x6x8xf32>
  %v0 = ds.slice %x {offsets = array<i64: 0, 0, 16>, strides = array<i64: 1, 1, 1>} : (tensor<4x6x24xf32>) -> tensor<4x6x8xf32>
  %q1 = ds.reshape %q0 : (tensor<4x6x8xf32>) -> tensor<4x6x2x4xf32>
  %k1 = ds.reshape %k0 : (tensor<4x6x8xf32>) -> tensor<4x6x2x4xf32>
  %v1 = ds.reshape %v0 : (tensor<4x6x8xf32>) -> tensor<4x6x2x4xf32>
  %q = ds.transpose %q1 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<4x6x2x4xf32>) -> tensor<4x2x6x4xf32>
  %k = ds.transpose %k1 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<4x6x2x4xf32>) -> tensor<4x2x6x4xf32>
  %v = ds.transpose %v1 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<4x6x2x4xf32>) -> tensor<4x2x6x4xf32>
  %o = ds.attention %q, %k, %v {scale = 0.5 : f64, causal} : (tensor<4x2x6x4xf32>, tensor<4x2x6x4xf32>, tensor<4x2x6x4xf32>) -> tensor<4x2x6x4xf32>
  %ot = ds.transpose %o {permutation = array<i64: 0, 2, 1, 3>} : (tensor<4x2x6x4xf32>) -> tensor<4x6x2x4xf32>
  %or = ds.reshape %ot : (tensor<4x6x2x4xf32>) -> tensor<4x6x8xf32>
  return %or : tensor<4x6x8xf32>
}

func.func @a_loop_over_parts(%x: tensor<10x4xf32> {ds.name = "x", ds.layout = #ds.layout<[(2)(5{dp}), {}]>}, %w: tensor<4x4xf32> {ds.name = "w", ds.layout = #ds.layout<[{tp}, {}]>}) -> (tensor<4x4xf32> {ds.name = "g"}, tensor<f32> {ds.name = "n"}, tensor<4xf32> {ds.name = "r"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  %z = arith.constant dense<0.0> : tensor<f32>
  %one = arith.constant dense<0.0> : tensor<4xf32>
  %r:3 = scf.for %i = %c0 to %c2 step %c1 iter_args(%a = %zero, %n = %z, %o = %one) -> (tensor<4x4xf32>, tensor<f32>, tensor<4xf32>) {
    %p = ds.take_part %x[%i] {parts = 2} : tensor<10x4xf32> -> tensor<5x4xf32>
    %h = ds.matmul %p, %w {indices = "bk,kn->bn"} : (tensor<5x4xf32>, tensor<4x4xf32>) -> tensor<5x4xf32>
    %t = math.tanh %h : tensor<5x4xf32>
    %g = ds.matmul %p, %t {indices = "bk,bn->kn"} : (tensor<5x4xf32>, tensor<5x4xf32>) -> tensor<4x4xf32>
    %a2 = arith.addf %g, %a : tensor<4x4xf32>
    %s = ds.reduce %t {dims = array<i64: 0, 1>, kind = #ds.reduction<sum>} : (tensor<5x4xf32>) -> tensor<f32>
    %n2 = arith.addf %n, %s : tensor<f32>
    %cs = ds.reduce %t {dims = array<i64: 0>, kind = #ds.reduction<max>} : (tensor<5x4xf32>) -> tensor<4xf32>
    %o2 = arith.maximumf %o, %cs : tensor<4xf32>
    scf.yield %a2, %n2, %o2 : tensor<4x4xf32>, tensor<f32>, tensor<4xf32>
  }
  return %r#0, %r#1, %r#2 : tensor<4x4xf32>, tensor<f32>, tensor<4xf32>
}

func.func @a_convolution_split_by_channels(%x: tensor<4x3x6xf32> {ds.name = "x", ds.layout = #ds.layout<[{tp}, {}, {}]>}) -> (tensor<4x4x6xf32> {ds.name = "y"}, tensor<4x4x3xf32> {ds.name = "p"}, tensor<4x3x3xf32> {ds.name = "gw"}) {
  %w = ds.read @c : tensor<4x3x3xf32>
  %y = ds.convolution %x, %w {strides = array<i64: 1>, pads = array<i64: 1, 1>, dilations = array<i64: 1>} : (tensor<4x3x6xf32>, tensor<4x3x3xf32>) -> tensor<4x4x6xf32>
  %p = ds.max_pool %y {kernel = array<i64: 2>, strides = array<i64: 2>, pads = array<i64: 0, 0>, dilations = array<i64: 1>} : (tensor<4x4x6xf32>) -> tensor<4x4x3xf32>
  %gy = ds.max_pool_grad %y, %p {kernel = array<i64: 2>, strides = array<i64: 2>, pads = array<i64: 0, 0>, dilations = array<i64: 1>} : (tensor<4x4x6xf32>, tensor<4x4x3xf32>) -> tensor<4x4x6xf32>
  %gw = ds.convolution_grad_weight %x, %gy {strides = array<i64: 1>, pads = array<i64: 1, 1>, dilations = array<i64: 1>} : (tensor<4x3x6xf32>, tensor<4x4x6xf32>) -> tensor<4x3x3xf32>
  return %y, %p, %gw : tensor<4x4x6xf32>, tensor<4x4x3xf32>, tensor<4x3x3xf32>
}

func.func @integers_that_are_summed(%x: tensor<8xi64> {ds.name = "x", ds.layout = #ds.layout<[{dp}]>}) -> (tensor<i64> {ds.name = "n"}, tensor<f32> {ds.name = "f"}) {
  %s = ds.reduce %x {dims = array<i64: 0>, kind = #ds.reduction<sum>} : (tensor<8xi64>) -> tensor<i64>
  %t = arith.addi %s, %s : tensor<i64>
  %f = arith.sitofp %t : tensor<i64> to tensor<f32>
  return %t, %f : tensor<i64>, tensor<f32>
}

func.func @ops_along_split_dims(%x: tensor<5x8xf32> {ds.name = "x", ds.layout = #ds.layout<[{dp}, {tp}]>}, %g: tensor<8xf32> {ds.name = "g", ds.layout = #ds.layout<[{tp}]>}, %i: tensor<5x2xi64> {ds.name = "i"}) -> (tensor<5x8xf32> {ds.name = "a"}, tensor<5x8xf32> {ds.name = "b"}, tensor<5x2xf32> {ds.name = "c"}, tensor<5x8xf32> {ds.name = "d"}, tensor<5x9xf32> {ds.name = "e"}) {
  %a = ds.layer_norm %x, %g, %g {epsilon = 0.0009765625 : f64} : (tensor<5x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<5x8xf32>
  %b = ds.rms_norm %a, %g {epsilon = 0.0009765625 : f64} : (tensor<5x8xf32>, tensor<8xf32>) -> tensor<5x8xf32>
  %c, %ids = ds.top_k %x {dim = 1 : i64} : (tensor<5x8xf32>) -> (tensor<5x2xf32>, tensor<5x2xi64>)
  %d = ds.scatter_elements %ids, %c {dim = 1 : i64} : (tensor<5x2xi64>, tensor<5x2xf32>) -> tensor<5x8xf32>
  %sm = ds.log_softmax %b {dim = 0 : i64} : (tensor<5x8xf32>) -> tensor<5x8xf32>
  %e = ds.pad %sm {low = array<i64: 0, 1>, interior = array<i64: 0, 0>} : (tensor<5x8xf32>) -> tensor<5x9xf32>
  return %a, %b, %c, %d, %e : tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x2xf32>, tensor<5x8xf32>, tensor<5x9xf32>
}

func.func @constants_and_coordinates_of_split_dims(%x: tensor<6xf32> {ds.name = "x", ds.layout = #ds.layout<[{dp}]>}) -> (tensor<3xf32> {ds.name = "a"}, tensor<6xf32> {ds.name = "b"}, tensor<6x6xf32> {ds.name = "c"}) {
  %k = arith.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]> : tensor<6xf32>
  %y = arith.mulf %x, %k : tensor<6xf32>
  %a = ds.slice %y {offsets = array<i64: 5>, strides = array<i64: -2>} : (tensor<6xf32>) -> tensor<3xf32>
  %i = ds.iota {dim = 0 : i64} : () -> tensor<6xf32>
  %b = arith.addf %i, %y : tensor<6xf32>
  %c = ds.matmul %x, %y {indices = "i,j->ij"} : (tensor<6xf32>, tensor<6xf32>) -> tensor<6x6xf32>
  return %a, %b, %c : tensor<3xf32>, tensor<6xf32>, tensor<6x6xf32>
}

func.func @maxima_and_a_constant(%x: tensor<8xf32> {ds.name = "x", ds.layout = #ds.layout<[{dp}]>}) -> (tensor<f32> {ds.name = "y"}) {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %0 = ds.reduce %x {dims = array<i64: 0>, kind = #ds.reduction<max>} : (tensor<8xf32>) -> tensor<f32>
  %1 = arith.maximumf %0, %zero : tensor<f32>
  return %1 : tensor<f32>
}

func.func @a_choice_by_a_sum(%x: tensor<8xf32> {ds.name = "x", ds.layout = #ds.layout<[{dp}]>}) -> (tensor<f32> {ds.name = "y"}, tensor<f32> {ds.name = "z"}) {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %s = ds.reduce %x {dims = array<i64: 0>, kind = #ds.reduction<sum>} : (tensor<8xf32>) -> tensor<f32>
  %m = ds.reduce %x {dims = array<i64: 0>, kind = #ds.reduction<min>} : (tensor<8xf32>) -> tensor<f32>
  %c = arith.cmpf ogt, %s, %zero : tensor<f32>
  %w = arith.select %c, %s, %m : tensor<i1>, tensor<f32>
  %n = arith.negf %m : tensor<f32>
  %d = arith.subf %s, %n : tensor<f32>
  return %w, %d : tensor<f32>, tensor<f32>
}

func.func @a_sum_that_is_repeated(%x: tensor<8x6xf32> {ds.name = "x", ds.layout = #ds.layout<[{dp}, {tp}]>}) -> (tensor<8x6xf32> {ds.name = "y"}, tensor<8x6x2xf32> {ds.name = "z"}) {
  %s = ds.reduce %x {dims = array<i64: 0>, kind = #ds.reduction<sum>} : (tensor<8x6xf32>) -> tensor<6xf32>
  %b = ds.broadcast %s {dims = array<i64: 1>} : (tensor<6xf32>) -> tensor<8x6xf32>
  %y = arith.addf %x, %b : tensor<8x6xf32>
  %c = ds.broadcast %b {dims = array<i64: 0, 1>} : (tensor<8x6xf32>) -> tensor<8x6x2xf32>
  return %y, %c : tensor<8x6xf32>, tensor<8x6x2xf32>
}

func.func @two_axes_in_both_orders(%x: tensor<8x6xf32> {ds.name = "x", ds.layout = #ds.layout<[{dp, tp}, {}]>}, %w: tensor<6x8xf32> {ds.name = "w", ds.layout = #ds.layout<[{}, {tp, dp}]>}) -> (tensor<8x8xf32> {ds.name = "y"}, tensor<6x6xf32> {ds.name = "z"}) {
  %y = ds.matmul %x, %w {indices = "ik,kj->ij"} : (tensor<8x6xf32>, tensor<6x8xf32>) -> tensor<8x8xf32>
  %z = ds.matmul %x, %w {indices = "ki,jk->ij"} : (tensor<8x6xf32>, tensor<6x8xf32>) -> tensor<6x6xf32>
  return %y, %z : tensor<8x8xf32>, tensor<6x6xf32>
}

func.func @scalars_and_single_elements(%x: tensor<f32> {ds.name = "x"}, %v: tensor<1xf32> {ds.name = "v", ds.layout = #ds.layout<[{dp}]>}) -> (tensor<1xf32> {ds.name = "y"}, tensor<f32> {ds.name = "z"}) {
  %r = ds.reshape %x : (tensor<f32>) -> tensor<1xf32>
  %y = arith.addf %r, %v : tensor<1xf32>
  %z = ds.reshape %v : (tensor<1xf32>) -> tensor<f32>
  return %y, %z : tensor<1xf32>, tensor<f32>
}

func.func @reshapes_of_split_dims(%x: tensor<6x4xf32> {ds.name = "x", ds.layout = #ds.layout<[{tp}, {dp}]>}) -> (tensor<24xf32> {ds.name = "a"}, tensor<3x8xf32> {ds.name = "b"}, tensor<4x6xf32> {ds.name = "c"}, tensor<2x3x1x4xf32> {ds.name = "d"}) {
  %a = ds.reshape %x : (tensor<6x4xf32>) -> tensor<24xf32>
  %b = ds.reshape %x : (tensor<6x4xf32>) -> tensor<3x8xf32>
  %c = ds.reshape %x : (tensor<6x4xf32>) -> tensor<4x6xf32>
  %d = ds.reshape %x : (tensor<6x4xf32>) -> tensor<2x3x1x4xf32>
  return %a, %b, %c, %d : tensor<24xf32>, tensor<3x8xf32>, tensor<4x6xf32>, tensor<2x3x1x4xf32>
}
