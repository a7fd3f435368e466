// Each function gives on a mesh, with layouts, what the plain one gives.
// RUN: ds-interpret %s --function plain --random > %t.plain
// RUN: ds-interpret %s --function data_parallel --random > %t.dp && diff %t.plain %t.dp
// RUN: ds-interpret %s --function tensor_parallel --random > %t.tp && diff %t.plain %t.tp
// RUN: ds-interpret %s --function tensor_parallel --random --mesh dp=1,tp=1 > %t.one && diff %t.plain %t.one
// RUN: ds-interpret %s --function tensor_parallel --random --mesh dp=2,tp=3 > %t.six && diff %t.plain %t.six
// RUN: ds-interpret %s --function overlapped --random > %t.over && diff %t.plain %t.over
ds.mesh @mesh <dp = 3, tp = 2>

func.func @plain(%x: tensor<5x4xf32> {ds.name = "x"}, %a: tensor<4x6xf32> {ds.name = "a"}, %b: tensor<6x3xf32> {ds.name = "b"})
    -> (tensor<5x3xf32> {ds.name = "y"}) {
  %h = ds.matmul %x, %a {indices = "bk,kn->bn"} : (tensor<5x4xf32>, tensor<4x6xf32>) -> tensor<5x6xf32>
  %e = math.tanh %h : tensor<5x6xf32>
  %y = ds.matmul %e, %b {indices = "bk,kn->bn"} : (tensor<5x6xf32>, tensor<6x3xf32>) -> tensor<5x3xf32>
  return %y : tensor<5x3xf32>
}

// The samples are spread, the weights are gathered from flat pieces.
!rows = tensor<5x4xf32, #ds.layout<[{dp}, {}]>>
func.func @data_parallel(%x: !rows {ds.name = "x"}, %a: tensor<4x6xf32, #ds.layout<[{}, {}], flat = {dp, tp}>> {ds.name = "a"},
                         %b: tensor<6x3xf32> {ds.name = "b"}) -> (tensor<5x3xf32, #ds.layout<[{dp}, {}]>> {ds.name = "y"}) {
  %half = ds.all_gather %a over "tp" : tensor<4x6xf32, #ds.layout<[{}, {}], flat = {dp, tp}>> -> tensor<4x6xf32, #ds.layout<[{}, {}], flat = {dp}>>
  %whole = ds.all_gather %half over "dp" : tensor<4x6xf32, #ds.layout<[{}, {}], flat = {dp}>> -> tensor<4x6xf32>
  %h = ds.matmul %x, %whole {indices = "bk,kn->bn"} : (!rows, tensor<4x6xf32>) -> tensor<5x6xf32, #ds.layout<[{dp}, {}]>>
  %e = math.tanh %h : tensor<5x6xf32, #ds.layout<[{dp}, {}]>>
  %y = ds.matmul %e, %b {indices = "bk,kn->bn"} : (tensor<5x6xf32, #ds.layout<[{dp}, {}]>>, tensor<6x3xf32>) -> tensor<5x3xf32, #ds.layout<[{dp}, {}]>>
  return %y : tensor<5x3xf32, #ds.layout<[{dp}, {}]>>
}

// Columns, then rows, then the sum over tp.
func.func @tensor_parallel(%x: tensor<5x4xf32> {ds.name = "x"}, %a: tensor<4x6xf32, #ds.layout<[{}, {tp}]>> {ds.name = "a"},
                           %b: tensor<6x3xf32, #ds.layout<[{tp}, {}]>> {ds.name = "b"}) -> (tensor<5x3xf32> {ds.name = "y"}) {
  %h = ds.matmul %x, %a {indices = "bk,kn->bn"} : (tensor<5x4xf32>, tensor<4x6xf32, #ds.layout<[{}, {tp}]>>) -> tensor<5x6xf32, #ds.layout<[{}, {tp}]>>
  %e = math.tanh %h : tensor<5x6xf32, #ds.layout<[{}, {tp}]>>
  %p = ds.matmul %e, %b {indices = "bk,kn->bn"} : (tensor<5x6xf32, #ds.layout<[{}, {tp}]>>, tensor<6x3xf32, #ds.layout<[{tp}, {}]>>)
      -> tensor<5x3xf32, #ds.layout<[{}, {}], partial = {tp}>>
  %y = ds.all_reduce %p over "tp" : tensor<5x3xf32, #ds.layout<[{}, {}], partial = {tp}>> -> tensor<5x3xf32>
  return %y : tensor<5x3xf32>
}

// Starts, waits, kernels, fences, relayouts and memory tiers do not matter.
func.func @overlapped(%x: !rows {ds.name = "x"}, %a: tensor<4x6xf32, #ds.layout<[{}, {}], flat = {dp}, memory = host>> {ds.name = "a"},
                      %b: tensor<6x3xf32, #ds.layout<[{}, {}], partial = {dp}>> {ds.name = "b"}) -> (tensor<5x3xf32, #ds.layout<[{dp}, {}]>> {ds.name = "y"}) {
  %device = ds.copy %a : tensor<4x6xf32, #ds.layout<[{}, {}], flat = {dp}, memory = host>> -> tensor<4x6xf32, #ds.layout<[{}, {}], flat = {dp}>>
  %t = ds.start all_gather %device over "dp" : tensor<4x6xf32, #ds.layout<[{}, {}], flat = {dp}>> -> [tensor<4x6xf32>]
  %rest = ds.relayout %b : tensor<6x3xf32, #ds.layout<[{}, {}], partial = {dp}>> -> tensor<6x3xf32>
  %whole = ds.wait %t, %device : tensor<4x6xf32, #ds.layout<[{}, {}], flat = {dp}>> -> tensor<4x6xf32>
  %h = ds.matmul %x, %whole {indices = "bk,kn->bn"} : (!rows, tensor<4x6xf32>) -> tensor<5x6xf32, #ds.layout<[{dp}, {}]>>
  %f = ds.fence %h id 1 : tensor<5x6xf32, #ds.layout<[{dp}, {}]>>
  %e = ds.kernel (%f) : (tensor<5x6xf32, #ds.layout<[{dp}, {}]>>) -> tensor<5x6xf32, #ds.layout<[{dp}, {}]>> {
  ^bb0(%in: tensor<5x6xf32, #ds.layout<[{dp}, {}]>>):
    %1 = math.tanh %in : tensor<5x6xf32, #ds.layout<[{dp}, {}]>>
    ds.yield %1 : tensor<5x6xf32, #ds.layout<[{dp}, {}]>>
  }
  %y = ds.matmul %e, %rest {indices = "bk,kn->bn"} : (tensor<5x6xf32, #ds.layout<[{dp}, {}]>>, tensor<6x3xf32>) -> tensor<5x3xf32, #ds.layout<[{dp}, {}]>>
  return %y : tensor<5x3xf32, #ds.layout<[{dp}, {}]>>
}
