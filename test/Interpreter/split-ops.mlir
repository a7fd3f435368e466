// Ops whose result depends on where a shard starts.
// RUN: ds-interpret %s --function plain --random > %t.plain
// RUN: ds-interpret %s --function split --random > %t.split && diff %t.plain %t.split
// RUN: ds-interpret %s --function split --random --mesh tp=2 > %t.two && diff %t.plain %t.two
// RUN: ds-interpret %s --function plain_heads --random > %t.heads
// RUN: ds-interpret %s --function split_heads --random > %t.tp && diff %t.heads %t.tp
// RUN: ds-interpret %s --function stages --random > %t.stages && diff %t.heads %t.stages
ds.mesh @mesh <tp = 3>

func.func @plain(%table: tensor<7x2xf32> {ds.name = "table"}, %ids: tensor<4xi64> {ds.name = "ids"}, %g: tensor<4x2xf32> {ds.name = "g"})
    -> (tensor<4x2xf32> {ds.name = "rows"}, tensor<7x2xf32> {ds.name = "sums"}, tensor<7xi32> {ds.name = "iota"}, tensor<7xf32> {ds.name = "constant"}) {
  %rows = ds.gather_rows %table, %ids : (tensor<7x2xf32>, tensor<4xi64>) -> tensor<4x2xf32>
  %sums = ds.scatter_add_rows %ids, %g : (tensor<4xi64>, tensor<4x2xf32>) -> tensor<7x2xf32>
  %iota = ds.iota {dim = 0 : i64} : () -> tensor<7xi32>
  %constant = arith.constant dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0]> : tensor<7xf32>
  return %rows, %sums, %iota, %constant : tensor<4x2xf32>, tensor<7x2xf32>, tensor<7xi32>, tensor<7xf32>
}

!table = tensor<7x2xf32, #ds.layout<[{tp}, {}]>>
func.func @split(%table: !table {ds.name = "table"}, %ids: tensor<4xi64> {ds.name = "ids"}, %g: tensor<4x2xf32> {ds.name = "g"})
    -> (tensor<4x2xf32, #ds.layout<[{}, {}], partial = {tp}>> {ds.name = "rows"}, !table {ds.name = "sums"},
        tensor<7xi32, #ds.layout<[{tp}]>> {ds.name = "iota"}, tensor<7xf32, #ds.layout<[{}], flat = {tp}>> {ds.name = "constant"}) {
  %rows = ds.gather_rows %table, %ids : (!table, tensor<4xi64>) -> tensor<4x2xf32, #ds.layout<[{}, {}], partial = {tp}>>
  %sums = ds.scatter_add_rows %ids, %g : (tensor<4xi64>, tensor<4x2xf32>) -> !table
  %iota = ds.iota {dim = 0 : i64} : () -> tensor<7xi32, #ds.layout<[{tp}]>>
  %constant = arith.constant dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0]> : tensor<7xf32, #ds.layout<[{}], flat = {tp}>>
  return %rows, %sums, %iota, %constant
      : tensor<4x2xf32, #ds.layout<[{}, {}], partial = {tp}>>, !table, tensor<7xi32, #ds.layout<[{tp}]>>, tensor<7xf32, #ds.layout<[{}], flat = {tp}>>
}

// A fused weight of 3 parts x 3 heads x 2 columns, cut into its parts.
func.func @plain_heads(%qkv: tensor<5x18xf32> {ds.name = "qkv"}) -> (tensor<5x3x2xf32> {ds.name = "key"}) {
  %part = ds.slice %qkv {offsets = array<i64: 0, 6>, strides = array<i64: 1, 1>} : (tensor<5x18xf32>) -> tensor<5x6xf32>
  %key = ds.reshape %part : (tensor<5x6xf32>) -> tensor<5x3x2xf32>
  return %key : tensor<5x3x2xf32>
}

func.func @split_heads(%qkv: tensor<5x18xf32, #ds.layout<[{}, (3)(3{tp})(2)]>> {ds.name = "qkv"})
    -> (tensor<5x3x2xf32, #ds.layout<[{}, {tp}, {}]>> {ds.name = "key"}) {
  %part = ds.slice %qkv {offsets = array<i64: 0, 6>, strides = array<i64: 1, 1>}
      : (tensor<5x18xf32, #ds.layout<[{}, (3)(3{tp})(2)]>>) -> tensor<5x6xf32, #ds.layout<[{}, (3{tp})(2)]>>
  %key = ds.reshape %part : (tensor<5x6xf32, #ds.layout<[{}, (3{tp})(2)]>>) -> tensor<5x3x2xf32, #ds.layout<[{}, {tp}, {}]>>
  return %key : tensor<5x3x2xf32, #ds.layout<[{}, {tp}, {}]>>
}

// Half on the first rank, half on the last.
!first = tensor<5x18xf32, #ds.layout<[{}, {}], at = {tp = 0}>>
func.func @stages(%qkv: !first {ds.name = "qkv"}) -> (tensor<5x3x2xf32, #ds.layout<[{}, {}, {}], at = {tp = 2}>> {ds.name = "key"}) {
  %part = ds.slice %qkv {offsets = array<i64: 0, 6>, strides = array<i64: 1, 1>} : (!first) -> tensor<5x6xf32, #ds.layout<[{}, {}], at = {tp = 0}>>
  %there = ds.transfer %part : tensor<5x6xf32, #ds.layout<[{}, {}], at = {tp = 0}>> -> tensor<5x6xf32, #ds.layout<[{}, {}], at = {tp = 2}>>
  %key = ds.reshape %there : (tensor<5x6xf32, #ds.layout<[{}, {}], at = {tp = 2}>>) -> tensor<5x3x2xf32, #ds.layout<[{}, {}, {}], at = {tp = 2}>>
  return %key : tensor<5x3x2xf32, #ds.layout<[{}, {}, {}], at = {tp = 2}>>
}
