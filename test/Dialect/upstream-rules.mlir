// RUN: ds-opt %s --ds-verify-layouts -o /dev/null
// RUN: ds-opt %s --check-each-pass --ds-propagate-layouts --ds-verify-layouts=allow-relayouts | FileCheck %s
// RUN: python3 %S/Inputs/check_rules.py %source-dir %s

// Every upstream op that a stage of the compiler makes has a layout rule, as an external model: one that is forgotten would be an error
// only in the program that needs it. Inputs/check_rules.py compares this file with the sources.
ds.mesh @mesh <dp = 2>

// CHECK-LABEL: func.func @unary_math_ops_stay_split
func.func @unary_math_ops_stay_split(%x: tensor<8xf32> {ds.name = "x", ds.layout = #ds.layout<[{dp}]>}) -> (tensor<8xf32> {ds.name = "result"}) {
  %f0 = math.absf %x : tensor<8xf32>
  %f1 = math.ceil %x : tensor<8xf32>
  %f2 = math.cos %x : tensor<8xf32>
  %f3 = math.erf %x : tensor<8xf32>
  %f4 = math.expm1 %x : tensor<8xf32>
  %f5 = math.exp %x : tensor<8xf32>
  %f6 = math.floor %x : tensor<8xf32>
  %f7 = math.log1p %x : tensor<8xf32>
  %f8 = math.log %x : tensor<8xf32>
  %f9 = math.roundeven %x : tensor<8xf32>
  %f10 = math.rsqrt %x : tensor<8xf32>
  %f11 = math.sin %x : tensor<8xf32>
  %f12 = math.sqrt %x : tensor<8xf32>
  %f13 = math.tanh %x : tensor<8xf32>
  %s1 = arith.addf %f0, %f1 : tensor<8xf32>
  %s2 = arith.addf %s1, %f2 : tensor<8xf32>
  %s3 = arith.addf %s2, %f3 : tensor<8xf32>
  %s4 = arith.addf %s3, %f4 : tensor<8xf32>
  %s5 = arith.addf %s4, %f5 : tensor<8xf32>
  %s6 = arith.addf %s5, %f6 : tensor<8xf32>
  %s7 = arith.addf %s6, %f7 : tensor<8xf32>
  %s8 = arith.addf %s7, %f8 : tensor<8xf32>
  %s9 = arith.addf %s8, %f9 : tensor<8xf32>
  %s10 = arith.addf %s9, %f10 : tensor<8xf32>
  %s11 = arith.addf %s10, %f11 : tensor<8xf32>
  %s12 = arith.addf %s11, %f12 : tensor<8xf32>
  %s13 = arith.addf %s12, %f13 : tensor<8xf32>
  // CHECK: return %{{.*}} : tensor<8xf32, #ds.layout<[{dp}]>>
  return %s13 : tensor<8xf32>
}

// CHECK-LABEL: func.func @arithmetic_of_floats_stays_split
func.func @arithmetic_of_floats_stays_split(%x: tensor<8xf32> {ds.name = "x", ds.layout = #ds.layout<[{dp}]>}, %y: tensor<8xf32> {ds.name = "y", ds.layout = #ds.layout<[{dp}]>}) -> (tensor<8xf32> {ds.name = "result"}) {
  %b0 = arith.addf %x, %y : tensor<8xf32>
  %b1 = arith.subf %x, %y : tensor<8xf32>
  %b2 = arith.mulf %x, %y : tensor<8xf32>
  %b3 = arith.divf %x, %y : tensor<8xf32>
  %b4 = arith.remf %x, %y : tensor<8xf32>
  %b5 = arith.maximumf %x, %y : tensor<8xf32>
  %b6 = arith.minimumf %x, %y : tensor<8xf32>
  %p = math.powf %x, %y : tensor<8xf32>
  %f = math.fma %p, %x, %y : tensor<8xf32>
  %n = arith.negf %f : tensor<8xf32>
  %s0 = arith.addf %n, %b0 : tensor<8xf32>
  %s1 = arith.addf %s0, %b1 : tensor<8xf32>
  %s2 = arith.addf %s1, %b2 : tensor<8xf32>
  %s3 = arith.addf %s2, %b3 : tensor<8xf32>
  %s4 = arith.addf %s3, %b4 : tensor<8xf32>
  %s5 = arith.addf %s4, %b5 : tensor<8xf32>
  %s6 = arith.addf %s5, %b6 : tensor<8xf32>
  // CHECK: return %{{.*}} : tensor<8xf32, #ds.layout<[{dp}]>>
  return %s6 : tensor<8xf32>
}

// CHECK-LABEL: func.func @arithmetic_of_integers_stays_split
func.func @arithmetic_of_integers_stays_split(%i: tensor<8xi64> {ds.name = "i", ds.layout = #ds.layout<[{dp}]>}, %j: tensor<8xi64> {ds.name = "j", ds.layout = #ds.layout<[{dp}]>}) -> (tensor<8xi64> {ds.name = "result"}) {
  %one = arith.constant dense<1> : tensor<8xi64>
  %seven = arith.constant dense<7> : tensor<8xi64>
  %m = arith.andi %j, %seven : tensor<8xi64>
  %d = arith.addi %m, %one : tensor<8xi64>
  %b0 = arith.addi %i, %d : tensor<8xi64>
  %b1 = arith.subi %i, %d : tensor<8xi64>
  %b2 = arith.muli %i, %d : tensor<8xi64>
  %b3 = arith.divsi %i, %d : tensor<8xi64>
  %b4 = arith.remsi %i, %d : tensor<8xi64>
  %b5 = arith.floordivsi %i, %d : tensor<8xi64>
  %b6 = arith.andi %i, %d : tensor<8xi64>
  %b7 = arith.ori %i, %d : tensor<8xi64>
  %b8 = arith.xori %i, %d : tensor<8xi64>
  %b9 = arith.maxsi %i, %d : tensor<8xi64>
  %b10 = arith.minsi %i, %d : tensor<8xi64>
  %a = math.absi %i : tensor<8xi64>
  %s0 = arith.xori %a, %b0 : tensor<8xi64>
  %s1 = arith.xori %s0, %b1 : tensor<8xi64>
  %s2 = arith.xori %s1, %b2 : tensor<8xi64>
  %s3 = arith.xori %s2, %b3 : tensor<8xi64>
  %s4 = arith.xori %s3, %b4 : tensor<8xi64>
  %s5 = arith.xori %s4, %b5 : tensor<8xi64>
  %s6 = arith.xori %s5, %b6 : tensor<8xi64>
  %s7 = arith.xori %s6, %b7 : tensor<8xi64>
  %s8 = arith.xori %s7, %b8 : tensor<8xi64>
  %s9 = arith.xori %s8, %b9 : tensor<8xi64>
  %s10 = arith.xori %s9, %b10 : tensor<8xi64>
  // CHECK: return %{{.*}} : tensor<8xi64, #ds.layout<[{dp}]>>
  return %s10 : tensor<8xi64>
}

// CHECK-LABEL: func.func @conversions_and_choices_stay_split
func.func @conversions_and_choices_stay_split(%x: tensor<8xf32> {ds.name = "x", ds.layout = #ds.layout<[{dp}]>}) -> (tensor<8xf32> {ds.name = "result"}) {
  %w = arith.extf %x : tensor<8xf32> to tensor<8xf64>
  %n = arith.truncf %w : tensor<8xf64> to tensor<8xf32>
  %c = arith.fptosi %n : tensor<8xf32> to tensor<8xi64>
  %t = arith.trunci %c : tensor<8xi64> to tensor<8xi32>
  %e = arith.extsi %t : tensor<8xi32> to tensor<8xi64>
  %u = arith.extui %t : tensor<8xi32> to tensor<8xi64>
  %g = arith.cmpi slt, %e, %u : tensor<8xi64>
  %h = arith.cmpf olt, %x, %n : tensor<8xf32>
  %o = arith.ori %g, %h : tensor<8xi1>
  %a = arith.sitofp %e : tensor<8xi64> to tensor<8xf32>
  %b = arith.uitofp %o : tensor<8xi1> to tensor<8xf32>
  %r = arith.select %o, %a, %b : tensor<8xi1>, tensor<8xf32>
  // CHECK: return %{{.*}} : tensor<8xf32, #ds.layout<[{dp}]>>
  return %r : tensor<8xf32>
}
