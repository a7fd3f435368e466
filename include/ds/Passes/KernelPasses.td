// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DS_PASSES_KERNEL_PASSES
#define DS_PASSES_KERNEL_PASSES

include "mlir/Pass/PassBase.td"

def BoundInputsPass : Pass<"ds-bound-inputs", "::mlir::func::FuncOp"> {
  let summary = "says which integers an input may hold";
  let description = [{
    Requires: embeddings and losses are still ops of their own.
    Ensures: an integer argument that is used as indices or labels has the attribute `ds.allowed`: what all these uses allow. The
    run refuses other elements when it loads them. Values are unchanged.

    ```mlir
    func.func @forward(%ids: tensor<8xi64>) { ... ds.gather_rows %table, %ids : (tensor<256x4xf32>, tensor<8xi64>) -> ... }
    // becomes
    func.func @forward(%ids: tensor<8xi64> {ds.allowed = #ds.int_set<-256 to 256>}) { ... }
    ```
  }];
}

def FuseAttentionPass : Pass<"ds-fuse-attention", "::mlir::func::FuncOp"> {
  let summary = "makes one kernel of each attention, without a tensor of queries by keys";
  let description = [{
    Requires: layouts are assigned.
    Ensures: an f32 attention whose bias does not depend on the query's position, and its gradient, are `ds.fused_attention` and
    `ds.fused_attention_grad`. The gradient reads the rows' statistics that the attention of the same operands left; where there is none, it
    is computed again. Other attentions stay, for `ds-decompose-composites`. Values are unchanged up to rounding.

    ```mlir
    %y = ds.attention %q, %k, %v {scale = 0.125 : f64, causal} : ...
    // becomes
    %y, %m, %s = ds.fused_attention %q, %k, %v {indices = "bksd,bktd,bkte->bkse,bks,bks", scale = 0.125 : f64, causal} : ...
    ```
    Source: Dao 2023, FlashAttention-2.
  }];
}

def FuseEpiloguesPass : Pass<"ds-fuse-epilogues", "::mlir::func::FuncOp"> {
  let summary = "lets matmuls add their bias and apply their activation";
  let description = [{
    Requires: layouts are assigned.
    Ensures: a matmul plus a bias along one index is a `ds.fused_matmul`; so is an f32 matmul, with or without bias, under a ReLU, GELU or SiLU
    that alone reads it. (In training the gradient reads it too.) Values are unchanged up to rounding.

    ```mlir
    %m = ds.matmul %x, %w {indices = "mk,kn->mn"} : ...
    %b = ds.broadcast %bias {dims = array<i64: 1>} : ...
    %s = arith.addf %m, %b : ...
    %y = ds.silu %s : ...
    // becomes ds.fused_matmul %x, %w, %bias {indices = "mk,kn->mn", bias_indices = "n", activation = #ds.activation<silu>, ..}
    ```
  }];
}

def DecomposeCompositesPass : Pass<"ds-decompose-composites", "::mlir::func::FuncOp"> {
  let summary = "writes composite ops out in ops that kernels are made of";
  let description = [{
    Requires: layouts are assigned.
    Ensures: norms, softmax, activations, losses, attention and rotary embeddings that are not f32 are `ds.matmul`, `arith`, `math`,
    reductions, broadcasts, iotas, slices and concats, in the same layouts; every reduction folds leading or trailing dims. Values are
    unchanged up to rounding.

    ```mlir
    %y = ds.silu %x : (tensor<8xf32>) -> tensor<8xf32>
    // becomes x / (1 + exp(-x))
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

def DecomposeUpdatesPass : Pass<"ds-decompose-updates", "::mlir::func::FuncOp"> {
  let summary = "writes optimizer updates out in ops that kernels are made of";
  let description = [{
    Requires: layouts are assigned.
    Ensures: optimizer updates are `arith`, `math` and broadcasts, in the same layouts. What only depends on the rate, the step and the
    constants is computed once for all updates of a block. Values are unchanged up to rounding.

    ```mlir
    %n:2 = ds.sgd_update %p, %g, %v, %rate, %step {momentum = 0.0 : f64, dampening = 0.0 : f64, decay = 0.0 : f64} : ...
    // becomes p - rate * g, and g
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

def MatchLibraryCallsPass : Pass<"ds-match-library-calls", "::mlir::func::FuncOp"> {
  let summary = "shapes matmuls and attentions for what runs them";
  let description = [{
    Requires: composites are decomposed.
    Ensures: these ops are part of the indices of the matmul or fused attention beside them:
    - a transpose that feeds it;
    - a transpose that is the one user of its result;
    - a slice that feeds a fused attention;
    - the concatenation of the three gradients of a fused attention, also if it is spelt as a sum of pads that do not overlap.

    A matmul that is added to what a loop carries is a `ds.fused_matmul`. Values are unchanged.

    ```mlir
    %t = ds.transpose %k {permutation = array<i64: 1, 0>} : (tensor<4x8xf32>) -> tensor<8x4xf32>
    %s = ds.matmul %q, %t {indices = "ik,kj->ij"} : ...
    // becomes ds.matmul %q, %k {indices = "ik,jk->ij"}
    ```
  }];
}

def ContractProductsPass : Pass<"ds-contract-products", "::mlir::func::FuncOp"> {
  let summary = "makes fused multiply-adds of products that a sum alone reads";
  let description = [{
    Requires: composites are decomposed.
    Ensures: a sum or difference of f32 or f64 with a product that nothing else reads is a `math.fma`, which rounds once; code generation
    fuses no other product with an elementwise sum. So the bits of a value are fixed here, and a copy of it that is computed again, beside
    other ops, is equal to it: the gradient of a maximum compares the two.

    ```mlir
    %p = arith.mulf %a, %b                 %y = math.fma %a, %b, %c
    %y = arith.addf %p, %c
    ```
  }];
  let dependentDialects = ["::mlir::math::MathDialect"];
}

def RecomputeElementwisePass : Pass<"ds-recompute-elementwise", "::mlir::func::FuncOp"> {
  let summary = "computes cheap elementwise values again where they are used much later";
  let description = [{
    Requires: composites are decomposed, matmuls are matched.
    Ensures: an elementwise value that only kernels read, and some of them after a matmul or another op that separates kernels, is
    computed again in front of those. It is computed from values that are in memory anyway, or that are no larger. So it need not be
    stored between the forward and the backward pass: the tanh of a GELU, the normalized input of a layer norm, a mask. Costly
    expressions and reductions are left alone. Values are unchanged. Source: Chen et al. 2016, for the idea.

    ```mlir
    %t = math.tanh %x                      %t = math.tanh %x
    %y = arith.mulf %t, %x                 %y = arith.mulf %t, %x
    %m = ds.matmul %y, %w ...              %m = ds.matmul %y, %w ...
    %g = arith.mulf %dy, %t                %u = math.tanh %x
                                           %g = arith.mulf %dy, %u
    ```
  }];
}

def FormKernelsPass : Pass<"ds-form-kernels", "::mlir::func::FuncOp"> {
  let summary = "clusters elementwise ops and reductions into kernels";
  let description = [{
    Requires: composites are decomposed.
    Ensures: every elementwise op, reduction, broadcast and iota is inside a `ds.kernel`. A kernel has one iteration space, cut
    once into rows and columns: a trailing reduction folds the columns of a row and may be used in the kernel, a leading reduction folds
    rows and may not. Ops stand close to their users, and only ops with no matmul or library call between them share a kernel, so that
    fusion does not lengthen lifetimes. Values are unchanged.

    ```mlir
    %n = arith.negf %x : tensor<8x4xf32>
    %e = math.exp %n : tensor<8x4xf32>
    // becomes
    %e = ds.kernel(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32> {
    ^bb0(%a: tensor<8x4xf32>):
      %n = arith.negf %a : tensor<8x4xf32>
      %f = math.exp %n : tensor<8x4xf32>
      ds.yield %f : tensor<8x4xf32>
    }
    ```
  }];
  let dependentDialects = ["::ds::DsDialect"];
}

def StreamResultsPass : Pass<"ds-stream-results", "::mlir::func::FuncOp"> {
  let summary = "stores large results of kernels past the caches";
  let description = [{
    Requires: kernels are formed.
    Ensures: each `ds.kernel` lists in `streamed` the results that are stored past the caches. These are the results for which both hold:
    - they take at least `min-bytes` on the rank that has most of them; twice as many if the kernel reads their rows again, as a softmax does;
    - they cannot take the place of an input that nobody reads afterwards, such as the old value of a variable.

    A `ds.rotary_embedding` is marked by the same rule. A store through the caches would read each line before writing it, and drive out
    what is read sooner. Values are unchanged.

    ```mlir
    %y = ds.kernel(%x) : ... {...}         %y = ds.kernel(%x) attributes {streamed = array<i64: 0>} : ... {...}
    ```
  }];
  let options = [
    Option<"minBytes", "min-bytes", "uint64_t", /*default=*/"8388608",
           "the bytes from which on a result is streamed; the default is more than the caches of a few cores hold">
  ];
  let dependentDialects = ["::ds::DsDialect"];
}

def VerifyKernelsPass : Pass<"ds-verify-kernels", "::mlir::func::FuncOp"> {
  let summary = "checks what holds at the end of the kernel stage";
  let description = [{
    Ensures: no op is left that stands for a formula, such as `ds.layer_norm` or `ds.adam_update`; elementwise ops, reductions, broadcasts
    and iotas of tensors are inside kernels; each kernel has one space of rows and columns that code can be generated for. Changes
    nothing.

    ```mlir
    // refused: no instruction of the plan computes an exp outside of a kernel
    %y = math.exp %x : tensor<8xf32>
    ```
  }];
}

#endif // DS_PASSES_KERNEL_PASSES
