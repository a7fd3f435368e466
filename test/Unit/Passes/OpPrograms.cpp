// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "OpPrograms.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace ds::test;

std::string ds::test::forwardText(const OpProgram &program) {
  std::string variables, reads;
  for (auto [number, type] : llvm::enumerate(program.parameters)) {
    std::string name(1, static_cast<char>('a' + number));
    variables += "ds.variable @" + name + " {role = #ds.role<parameter>} : " + type + "\n";
    reads += "  %" + name + " = ds.read @" + name + " : " + type + "\n";
  }
  int64_t rank = llvm::StringRef(program.result).count('x');
  std::string dims;
  for (int64_t dim = 0; dim < rank; ++dim)
    dims += (dim ? ", " : ": ") + std::to_string(dim);
  return variables + "func.func @forward(%weights: " + program.result + " {ds.name = \"weights\"}" + program.arguments +
         ") -> (tensor<f64> {ds.name = \"loss\"}) {\n" + reads + program.body +
         "\n  %weighted = arith.mulf %y, %weights : " + program.result +
         "\n  %loss = ds.reduce %weighted {dims = array<i64" + dims + ">, kind = #ds.reduction<sum>} : (" +
         program.result + ") -> tensor<f64>\n  return %loss : tensor<f64>\n}\n";
}

/// y = op a, with a shifted to be positive if asked for.
static OpProgram unary(const std::string &op, bool isPositive = false) {
  std::string shifted =
      isPositive ? "  %c = arith.constant dense<0.5> : tensor<6xf64>\n  %s = arith.mulf %a, %a : tensor<6xf64>\n"
                   "  %x = arith.addf %s, %c : tensor<6xf64>\n  %y = " +
                       op + " %x : tensor<6xf64>"
                 : "  %y = " + op + " %a : tensor<6xf64>";
  return {op.substr(op.find('.') + 1), {"tensor<6xf64>"}, "tensor<6xf64>", shifted, ""};
}

static OpProgram binary(const std::string &op) {
  return {op.substr(op.find('.') + 1),
          {"tensor<6xf64>", "tensor<6xf64>"},
          "tensor<6xf64>",
          "  %y = " + op + " %a, %b : tensor<6xf64>",
          ""};
}

/// y = op(a) + a, for ops that are flat but for steps.
static OpProgram step(const std::string &op) {
  return {op.substr(op.find('.') + 1),
          {"tensor<6xf64>"},
          "tensor<6xf64>",
          "  %s = " + op + " %a : tensor<6xf64>\n  %y = arith.addf %s, %a : tensor<6xf64>",
          ""};
}

static OpProgram powerBySplat(const std::string &name, const std::string &exponent) {
  return {name,
          {"tensor<6xf64>"},
          "tensor<6xf64>",
          "  %h = arith.constant dense<0.5> : tensor<6xf64>\n  %s = arith.mulf %a, %a : tensor<6xf64>\n  %x = "
          "arith.addf %s, %h : tensor<6xf64>\n"
          "  %c = arith.constant dense<" +
              exponent + "> : tensor<6xf64>\n  %y = math.powf %x, %c : tensor<6xf64>",
          ""};
}

/// y = ds.op a {attributes}.
OpProgram ds::test::modelProgram(const std::string &name, const std::string &op, const std::string &from,
                                 const std::string &to, const std::string &attributes) {
  return {name, {from}, to, "  %y = ds." + op + " %a {" + attributes + "} : (" + from + ") -> " + to, ""};
}

static OpProgram matmul(const std::string &name, const std::string &indices, const std::string &a, const std::string &b,
                        const std::string &y) {
  return {
      name, {a, b}, y, "  %y = ds.matmul %a, %b {indices = \"" + indices + "\"} : (" + a + ", " + b + ") -> " + y, ""};
}

static const OpProgram kArith[] = {
    binary("arith.addf"),
    binary("arith.subf"),
    binary("arith.mulf"),
    binary("arith.maximumf"),
    binary("arith.minimumf"),
    unary("arith.negf"),
    {"square", {"tensor<6xf64>"}, "tensor<6xf64>", "  %y = arith.mulf %a, %a : tensor<6xf64>", ""},
    {"divf",
     {"tensor<6xf64>", "tensor<6xf64>"},
     "tensor<6xf64>",
     "  %h = arith.constant dense<2.0> : tensor<6xf64>\n  %d = arith.addf %b, %h : tensor<6xf64>\n  %y = arith.divf "
     "%a, %d : tensor<6xf64>",
     ""},
    {"remf",
     {"tensor<6xf64>", "tensor<6xf64>"},
     "tensor<6xf64>",
     "  %c = arith.constant dense<0.3> : tensor<6xf64>\n  %s = arith.mulf %b, %b : tensor<6xf64>\n  %d = arith.addf "
     "%s, %c : tensor<6xf64>\n"
     "  %ten = arith.constant dense<9.7> : tensor<6xf64>\n  %n = arith.mulf %a, %ten : tensor<6xf64>\n  %y = "
     "arith.remf %n, %d : tensor<6xf64>",
     ""},
    {"select",
     {"tensor<6xf64>", "tensor<6xf64>"},
     "tensor<6xf64>",
     "  %z = arith.constant dense<0.0> : tensor<6xf64>\n  %c = arith.cmpf ogt, %weights, %z : tensor<6xf64>\n"
     "  %y = arith.select %c, %a, %b : tensor<6xi1>, tensor<6xf64>",
     ""},
    {"relu",
     {"tensor<6xf64>"},
     "tensor<6xf64>",
     "  %z = arith.constant dense<0.0> : tensor<6xf64>\n  %c = arith.cmpf ole, %a, %z : tensor<6xf64>\n"
     "  %y = arith.select %c, %z, %a : tensor<6xi1>, tensor<6xf64>",
     ""},
    {"extf", {"tensor<6xf32>"}, "tensor<6xf64>", "  %y = arith.extf %a : tensor<6xf32> to tensor<6xf64>", ""},
    {"truncf",
     {"tensor<6xf64>"},
     "tensor<6xf64>",
     "  %t = arith.truncf %a : tensor<6xf64> to tensor<6xbf16>\n  %y = arith.extf %t : tensor<6xbf16> to tensor<6xf64>",
     ""},
};
llvm::ArrayRef<OpProgram> ds::test::arithPrograms() { return kArith; }

static const OpProgram kMath[] = {
    unary("math.exp"),
    unary("math.expm1"),
    unary("math.log1p", true),
    unary("math.log", true),
    unary("math.sqrt", true),
    unary("math.rsqrt", true),
    unary("math.tanh"),
    unary("math.erf"),
    unary("math.sin"),
    unary("math.cos"),
    unary("math.absf"),
    step("math.floor"),
    step("math.ceil"),
    step("math.roundeven"),
    powerBySplat("pow_0", "0.0"),
    powerBySplat("pow_1", "1.0"),
    powerBySplat("pow_2", "2.0"),
    powerBySplat("pow_3", "3.0"),
    powerBySplat("pow_half", "0.5"),
    powerBySplat("pow_minus", "-1.5"),
    {"powf",
     {"tensor<6xf64>", "tensor<6xf64>"},
     "tensor<6xf64>",
     "  %h = arith.constant dense<0.5> : tensor<6xf64>\n  %s = arith.mulf %a, %a : tensor<6xf64>\n  %x = arith.addf "
     "%s, %h : tensor<6xf64>\n"
     "  %y = math.powf %x, %b : tensor<6xf64>",
     ""},
};
llvm::ArrayRef<OpProgram> ds::test::mathPrograms() { return kMath; }

static const OpProgram kMatmul[] = {
    matmul("linear", "bsk,kn->bsn", "tensor<2x3x4xf64>", "tensor<4x5xf64>", "tensor<2x3x5xf64>"),
    matmul("batched", "bhsd,bhtd->bhst", "tensor<2x2x3x4xf64>", "tensor<2x2x5x4xf64>", "tensor<2x2x3x5xf64>"),
    matmul("transposed_result", "ik,kj->ji", "tensor<2x3xf64>", "tensor<3x4xf64>", "tensor<4x2xf64>"),
    matmul("outer", "i,j->ij", "tensor<3xf64>", "tensor<4xf64>", "tensor<3x4xf64>"),
    matmul("inner", "ij,ji->", "tensor<3x4xf64>", "tensor<4x3xf64>", "tensor<f64>"),
    matmul("diagonal", "bi,bi->b", "tensor<3x4xf64>", "tensor<3x4xf64>", "tensor<3xf64>"),
};
llvm::ArrayRef<OpProgram> ds::test::matmulPrograms() { return kMatmul; }

static const OpProgram kRows[] = {
    modelProgram("softmax", "softmax", "tensor<3x4xf64>", "tensor<3x4xf64>", "dim = 1 : i64"),
    modelProgram("softmax_of_columns", "softmax", "tensor<3x4xf64>", "tensor<3x4xf64>", "dim = 0 : i64"),
    modelProgram("log_softmax", "log_softmax", "tensor<2x3x4xf64>", "tensor<2x3x4xf64>", "dim = 1 : i64"),
    {"layer_norm",
     {"tensor<2x3x4xf64>", "tensor<4xf64>", "tensor<4xf64>"},
     "tensor<2x3x4xf64>",
     "  %y = ds.layer_norm %a, %b, %c {epsilon = 1.0e-2 : f64} : (tensor<2x3x4xf64>, tensor<4xf64>, tensor<4xf64>) -> "
     "tensor<2x3x4xf64>",
     ""},
    {"layer_norm_without_bias",
     {"tensor<3x2x4xf64>", "tensor<2x4xf64>"},
     "tensor<3x2x4xf64>",
     "  %y = ds.layer_norm %a, %b {epsilon = 1.0e-2 : f64} : (tensor<3x2x4xf64>, tensor<2x4xf64>) -> tensor<3x2x4xf64>",
     ""},
    {"layer_norm_of_one_row",
     {"tensor<4xf64>", "tensor<4xf64>", "tensor<4xf64>"},
     "tensor<4xf64>",
     "  %y = ds.layer_norm %a, %b, %c {epsilon = 1.0e-2 : f64} : (tensor<4xf64>, tensor<4xf64>, tensor<4xf64>) -> "
     "tensor<4xf64>",
     ""},
    {"rms_norm",
     {"tensor<2x3x4xf64>", "tensor<4xf64>"},
     "tensor<2x3x4xf64>",
     "  %y = ds.rms_norm %a, %b {epsilon = 1.0e-2 : f64} : (tensor<2x3x4xf64>, tensor<4xf64>) -> tensor<2x3x4xf64>",
     ""},
    modelProgram("gelu_erf", "gelu", "tensor<6xf64>", "tensor<6xf64>", "kind = #ds.gelu_kind<erf>"),
    modelProgram("gelu_tanh", "gelu", "tensor<6xf64>", "tensor<6xf64>", "kind = #ds.gelu_kind<tanh>"),
    modelProgram("sigmoid", "sigmoid", "tensor<6xf64>", "tensor<6xf64>", ""),
    modelProgram("silu", "silu", "tensor<6xf64>", "tensor<6xf64>", ""),
    modelProgram("softplus", "softplus", "tensor<6xf64>", "tensor<6xf64>", ""),
    {"cross_entropy",
     {"tensor<2x3x5xf64>"},
     "tensor<2x3xf64>",
     "  %y = ds.cross_entropy %a, %labels {ignore_index = -100 : i64} : (tensor<2x3x5xf64>, tensor<2x3xi64>) -> "
     "tensor<2x3xf64>",
     ", %labels: tensor<2x3xi64> {ds.name = \"labels\"}"},
};
llvm::ArrayRef<OpProgram> ds::test::rowPrograms() { return kRows; }

static const OpProgram kShapes[] = {
    modelProgram("reduce_sum", "reduce", "tensor<2x3x4xf64>", "tensor<3xf64>",
                 "dims = array<i64: 0, 2>, kind = #ds.reduction<sum>"),
    modelProgram("reduce_max", "reduce", "tensor<2x3x4xf64>", "tensor<2x4xf64>",
                 "dims = array<i64: 1>, kind = #ds.reduction<max>"),
    modelProgram("reduce_min", "reduce", "tensor<2x3x4xf64>", "tensor<f64>",
                 "dims = array<i64: 0, 1, 2>, kind = #ds.reduction<min>"),
    modelProgram("broadcast", "broadcast", "tensor<3xf64>", "tensor<2x3x4xf64>", "dims = array<i64: 1>"),
    modelProgram("broadcast_scalar", "broadcast", "tensor<f64>", "tensor<2x3xf64>", "dims = array<i64>"),
    modelProgram("transpose", "transpose", "tensor<2x3x4xf64>", "tensor<4x2x3xf64>",
                 "permutation = array<i64: 2, 0, 1>"),
    modelProgram("reshape", "reshape", "tensor<2x6xf64>", "tensor<3x4xf64>", ""),
    modelProgram("slice", "slice", "tensor<7x3xf64>", "tensor<3x2xf64>",
                 "offsets = array<i64: 1, 1>, strides = array<i64: 2, 1>"),
    modelProgram("slice_backwards", "slice", "tensor<7x3xf64>", "tensor<3x2xf64>",
                 "offsets = array<i64: 5, 0>, strides = array<i64: -2, 2>"),
    modelProgram("slice_of_one", "slice", "tensor<4x3xf64>", "tensor<1x3xf64>",
                 "offsets = array<i64: 3, 2>, strides = array<i64: -1, -1>"),
    modelProgram("pad", "pad", "tensor<2x3xf64>", "tensor<5x6xf64>",
                 "low = array<i64: 1, 0>, interior = array<i64: 2, 1>"),
    {"concat",
     {"tensor<2x3xf64>", "tensor<2x1xf64>"},
     "tensor<2x7xf64>",
     "  %y = ds.concat %a, %b, %a {dim = 1 : i64} : (tensor<2x3xf64>, tensor<2x1xf64>, tensor<2x3xf64>) -> "
     "tensor<2x7xf64>",
     ""},
    {"constrain", {"tensor<2x3xf64>"}, "tensor<2x3xf64>", "  %y = ds.constrain %a to <[{}, {}]> : tensor<2x3xf64>", ""},
};
llvm::ArrayRef<OpProgram> ds::test::shapePrograms() { return kShapes; }

static const OpProgram kIndices[] = {
    {"gather_rows",
     {"tensor<6x2xf64>"},
     "tensor<2x3x2xf64>",
     "  %y = ds.gather_rows %a, %ids : (tensor<6x2xf64>, tensor<2x3xi64>) -> tensor<2x3x2xf64>",
     ", %ids: tensor<2x3xi64> {ds.name = \"ids\"}"},
    {"scatter_add_rows",
     {"tensor<2x3x2xf64>"},
     "tensor<4x2xf64>",
     "  %y = ds.scatter_add_rows %ids, %a : (tensor<2x3xi64>, tensor<2x3x2xf64>) -> tensor<4x2xf64>",
     ", %ids: tensor<2x3xi64> {ds.name = \"ids\"}"},
    {"gather_elements",
     {"tensor<3x5xf64>"},
     "tensor<3x4xf64>",
     "  %y = ds.gather_elements %a, %ids {dim = 1 : i64} : (tensor<3x5xf64>, tensor<3x4xi64>) -> tensor<3x4xf64>",
     ", %ids: tensor<3x4xi64> {ds.name = \"ids\"}"},
    {"scatter_elements",
     {"tensor<3x4xf64>"},
     "tensor<3x5xf64>",
     "  %y = ds.scatter_elements %ids, %a {dim = 1 : i64} : (tensor<3x4xi64>, tensor<3x4xf64>) -> tensor<3x5xf64>",
     ", %ids: tensor<3x4xi64> {ds.name = \"ids\"}"},
    {"top_k",
     {"tensor<3x5xf64>"},
     "tensor<3x2xf64>",
     "  %y, %i = ds.top_k %a {dim = 1 : i64} : (tensor<3x5xf64>) -> (tensor<3x2xf64>, tensor<3x2xi64>)",
     ""},
};
llvm::ArrayRef<OpProgram> ds::test::indexPrograms() { return kIndices; }

/// Attention of 4 query heads, 3 queries, 5 keys; with a bias of that shape, if not empty.
static OpProgram attention(const std::string &name, int keyHeads, const std::string &bias, bool isCausal) {
  std::string heads = std::to_string(keyHeads);
  std::vector<std::string> types = {"tensor<2x4x3x2xf64>", "tensor<2x" + heads + "x5x2xf64>",
                                    "tensor<2x" + heads + "x5x3xf64>"};
  if (!bias.empty())
    types.push_back(bias);
  std::string body = "  %y = ds.attention %a, %b, %c" + std::string(bias.empty() ? "" : ", %d") +
                     " {scale = 0.7 : f64" + (isCausal ? ", causal" : "") + "} : (" + llvm::join(types, ", ") +
                     ") -> tensor<2x4x3x3xf64>";
  return {name, types, "tensor<2x4x3x3xf64>", body, ""};
}

/// A rotation of %a by the tables %b and %c.
static OpProgram rotary(const std::string &name, const std::string &type, const std::string &table,
                        const std::string &attributes) {
  std::string body = "  %y = ds.rotary_embedding %a, %b, %c {" + attributes + "} : (" + type + ", " + table + ", " +
                     table + ") -> " + type;
  return {name, {type, table, table}, type, body, ""};
}

static const OpProgram kAttention[] = {
    attention("whole", 4, "", false),
    attention("causal", 4, "", true),
    attention("grouped", 2, "", true),
    attention("key_bias", 4, "tensor<2x1x1x5xf64>", false),
    attention("full_bias_causal_grouped", 2, "tensor<2x4x3x5xf64>", true),
    attention("head_bias", 1, "tensor<1x4x3x5xf64>", false),
    rotary("rotary_embedding", "tensor<2x3x4xf64>", "tensor<3x2xf64>", ""),
    rotary("rotary_embedding_of_unlike_halves", "tensor<2x3x4xf64>", "tensor<3x4xf64>", ""),
    rotary("rotary_embedding_of_rows_alike", "tensor<2x3x4xf64>", "tensor<4xf64>", ""),
    rotary("rotary_embedding_of_one_row", "tensor<6xf64>", "tensor<3xf64>", ""),
    rotary("rotary_embedding_along_other_dims", "tensor<2x3x2x4xf64>", "tensor<2x2x2xf64>", "dims = array<i64: 0, 2>"),
    rotary("rotary_embedding_of_each_row", "tensor<2x3x4xf64>", "tensor<2x3x4xf64>", "dims = array<i64: 0, 1>"),
};
llvm::ArrayRef<OpProgram> ds::test::attentionPrograms() { return kAttention; }

static const OpProgram kWindows[] = {
    {"convolution",
     {"tensor<2x3x5x6xf64>", "tensor<4x3x2x3xf64>"},
     "tensor<2x4x3x6xf64>",
     "  %y = ds.convolution %a, %b {strides = array<i64: 2, 1>, pads = array<i64: 0, 1, 1, 1>, dilations = array<i64: "
     "1, 1>} : "
     "(tensor<2x3x5x6xf64>, tensor<4x3x2x3xf64>) -> tensor<2x4x3x6xf64>",
     ""},
    {"convolution_in_groups",
     {"tensor<1x4x7xf64>", "tensor<2x2x2xf64>"},
     "tensor<1x2x3xf64>",
     "  %y = ds.convolution %a, %b {strides = array<i64: 2>, pads = array<i64: 0, 0>, dilations = array<i64: 2>, "
     "groups = 2 : i64} : "
     "(tensor<1x4x7xf64>, tensor<2x2x2xf64>) -> tensor<1x2x3xf64>",
     ""},
    {"convolution_grad_input",
     {"tensor<4x3x2xf64>", "tensor<2x4x3xf64>"},
     "tensor<2x3x6xf64>",
     "  %y = ds.convolution_grad_input %a, %b {strides = array<i64: 2>, pads = array<i64: 0, 0>, dilations = "
     "array<i64: 1>} : "
     "(tensor<4x3x2xf64>, tensor<2x4x3xf64>) -> tensor<2x3x6xf64>",
     ""},
    modelProgram("max_pool", "max_pool", "tensor<2x2x5x5xf64>", "tensor<2x2x3x3xf64>",
                 "kernel = array<i64: 3, 2>, strides = array<i64: 2, 2>, pads = array<i64: 1, 0, 1, 1>, dilations = "
                 "array<i64: 1, 1>"),
};
llvm::ArrayRef<OpProgram> ds::test::windowPrograms() { return kWindows; }
