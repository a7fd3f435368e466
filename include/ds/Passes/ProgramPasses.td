// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// The program stage: from a forward function to a training step.

#ifndef DS_PASSES_PROGRAM_PASSES
#define DS_PASSES_PROGRAM_PASSES

include "mlir/Pass/PassBase.td"

class ProgramPass<string flag, list<string> dialects = []> : Pass<flag, "::mlir::ModuleOp"> {
  let dependentDialects = !listconcat(["::mlir::arith::ArithDialect", "::ds::DsDialect"], dialects);
}

def AttachLossPass : ProgramPass<"ds-attach-loss"> {
  let summary = "makes a scalar loss the one result of @forward";
  let description = [{
    Requires: a function @forward whose results have a `ds.name`.
    Ensures: its one result is the scalar "loss". That is the output named `output`, or, if `logits` is set, the mean
    cross entropy of the output named `logits` [batch, ..., classes] at the integers of the argument `labels` [batch,
    ...] (added if it is missing) over the labels that differ from `ignore-index`. With `shift` position i is compared
    with label i + 1. Where the loss is a mean cross entropy, attached or of the graph, and no label counts, it is 0, and
    so are its gradients (PyTorch's gradients are 0 there too, but its loss is NaN). With `counts-labels` the loss is the sum instead of the mean, and a second result, the scalar
    "ds.label_count", is the number of labels that count. Values are unchanged.

    ```mlir
    func.func @forward(%x: ...) -> (tensor<8x32x256xf32> {ds.name = "logits"})
    // becomes, with logits=logits
    func.func @forward(%x: ..., %l: tensor<8x32xi64> {ds.name = "labels"}) -> (tensor<f32> {ds.name = "loss"})
    ```
  }];
  let options = [
    Option<"output", "output", "std::string", "\"loss\"", "the name of the output that is the loss">,
    Option<"logits", "logits", "std::string", "",
           "the name of the output to attach cross entropy to; empty: the graph has its loss">,
    Option<"labels", "labels", "std::string", "\"labels\"", "the name of the argument that holds the labels">,
    Option<"shift", "shift", "bool", "false", "position i predicts label i + 1">,
    Option<"ignoreIndex", "ignore-index", "int64_t", "-100", "labels of this value do not count">,
    Option<"countsLabels", "counts-labels", "bool", "false",
           "the loss is a sum, and the number of labels a result of its own; needs a mean cross entropy">
  ];
}

def DifferentiatePass : ProgramPass<"ds-differentiate", ["::mlir::math::MathDialect"]> {
  let summary = "turns @forward into @step, which returns the loss and its gradients";
  let description = [{
    Requires: @forward is one flat block whose first result is a scalar float, the loss; the only other one it may have
    is "ds.label_count".
    Ensures: it is named @step and has one more result per trainable variable (role parameter, not `frozen`) that the
    loss depends on through floats, in the order of their declaration: the gradient of the loss, with the attribute
    `ds.gradient = @variable`. Other variables have no gradient, so that no optimizer decays them, as in PyTorch, where
    their `grad` is None. The loss is unchanged. An op without a rule (`DifferentiableOpInterface`) between a
    trainable variable and the loss is an error. Integer values and `ds.stop_gradient`, of which none is
    left, end a path.

    ```mlir
    func.func @forward(...) -> (tensor<f32> {ds.name = "loss"})
    // becomes
    func.func @step(...) -> (tensor<f32> {ds.name = "loss"}, tensor<64x8xf32> {ds.gradient = @w})
    ```
    Source: Griewank and Walther, Evaluating Derivatives, 2008, chapter 3 (reverse mode).
  }];
  let options = [
    ListOption<"frozen", "frozen", "std::string",
               "regular expressions; parameters that one matches as a whole are set `frozen` first">
  ];
}

def AccumulateGradientsPass : ProgramPass<"ds-accumulate-gradients", ["::mlir::scf::SCFDialect"]> {
  let summary = "computes a step part by part of its batch";
  let description = [{
    Requires: @step of ds-differentiate, for one part of the batch; dim 0 of every argument that is neither a scalar nor
    marked `ds.whole` is the part.
    Ensures: with `parts` = m > 1 these arguments are m times as long in dim 0, and an `scf.for` runs the step on each
    part (`ds.take_part`, in sample order). Results are the means over the parts: summed in order, divided by m after
    the loop. If there is a result "ds.label_count", it is gone afterwards and the others are sums divided by its sum
    (by 1 if that is 0). Variables that the step assigns go from part to part. With m = 1 nothing else changes.

    The loop has the attribute `ds.gradients`: per result `@variable` if it is the sum of that variable's gradient, else
    unit.

    ```mlir
    %r:2 = scf.for %i = %c0 to %c4 step %c1 iter_args(%loss = %zero, %g = %zeros) -> (tensor<f32>, tensor<64xf32>) {
      %part = ds.take_part %x[%i] {parts = 4} : tensor<32x8xf32> -> tensor<8x8xf32>
      ...
    } {ds.gradients = [unit, @w]}
    ```
  }];
  let options = [Option<"parts", "parts", "int64_t", "1", "number of parts of the batch">];
}

def ClipGradientsPass : ProgramPass<"ds-clip-gradients", ["::mlir::math::MathDialect"]> {
  let summary = "measures the global gradient norm and clips to it";
  let description = [{
    Requires: @step with results marked `ds.gradient`.
    Ensures: one more result, the scalar "grad_norm": the L2 norm of all gradients together before clipping, in f32 at
    least. With `max-norm` > 0 all gradients are multiplied by min(1, max-norm / (norm + 1e-6)), as PyTorch's
    clip_grad_norm_ does.
    Source: Pascanu, Mikolov and Bengio 2013.

    ```mlir
    func.func @step(...) -> (tensor<f32> {ds.name = "loss"}, tensor<8xf32> {ds.gradient = @w})
    // becomes
    func.func @step(...) -> (tensor<f32> {ds.name = "loss"}, tensor<8xf32> {ds.gradient = @w}, tensor<f32> {ds.name = "grad_norm"})
    ```
  }];
  let options = [Option<"maxNorm", "max-norm", "double", "0", "the largest norm; 0: only measure">];
}

def AttachOptimizerPass : ProgramPass<"ds-attach-optimizer"> {
  let summary = "updates the trainable variables with their gradients";
  let description = [{
    Requires: @step with results marked `ds.gradient`.
    Ensures: no such results are left. For each the variable is updated by `ds.adam_update` or `ds.sgd_update` and
    assigned, as is its state: `@"<name>.exp_avg"` and `.exp_avg_sq`, or `.momentum` if there is one (role optimizer,
    f32 at least, from zeros). `@ds.step` (role counter) counts the steps. The learning rate is the scalar argument
    "ds.learning_rate".
    Source: see the ops.

    ```mlir
    func.func @step(...) -> (tensor<f32> {ds.name = "loss"}, tensor<8xf32> {ds.gradient = @w}) { ... return %loss, %g : ... }
    // becomes, with kind=sgd and momentum=0.9
    func.func @step(..., %rate: tensor<f32> {ds.name = "learning_rate"}) -> (tensor<f32> {ds.name = "loss"}) {
      ...
      %p, %b = ds.sgd_update %w, %g, %velocity, %rate, %t {...} : ...
      ds.assign @w, %p : tensor<8xf32>
      ds.assign @w.momentum, %b : tensor<8xf32>
      return %loss : tensor<f32>
    }
    ```
  }];
  let options = [
    Option<"kind", "kind", "std::string", "\"adamw\"", "adam, adamw or sgd">,
    Option<"beta1", "beta1", "double", "0.9", "Adam: decay of the mean">,
    Option<"beta2", "beta2", "double", "0.999", "Adam: decay of the variance">,
    Option<"epsilon", "epsilon", "double", "1e-8", "Adam: added to the root of the variance">,
    Option<"biasCorrection", "bias-correction", "bool", "true", "Adam: divide the moments by 1 - beta^step">,
    Option<"weightDecay", "weight-decay", "double", "0", "of the loss (adam, sgd) or decoupled (adamw)">,
    Option<"momentum", "momentum", "double", "0", "SGD: decay of the velocity; 0: no state">,
    Option<"dampening", "dampening", "double", "0", "SGD: 1 - the gradient's weight in the velocity">,
    Option<"nesterov", "nesterov", "bool", "false", "SGD: look ahead along the velocity">
  ];
}

def GuardAssignsPass : ProgramPass<"ds-guard-assigns", ["::mlir::math::MathDialect"]> {
  let summary = "leaves all variables alone in a step whose loss or gradient norm is not finite";
  let description = [{
    Requires: @step with scalar results "loss" and "grad_norm".
    Ensures: each assigned value is `select(finite, new value, value at the start of the step)`, where `finite` is one
    flag for all variables: whether loss and norm are neither NaN nor infinite. Both are sums over all ranks, so all
    ranks decide alike, and no control flow is needed. Values are unchanged where the flag holds. The buffers of norms
    and the optimizer's step counter are guarded like parameters: a step that was skipped has left no trace.

    ```mlir
    ds.assign @w, %new : tensor<4xf32>
    // becomes
    %kept = arith.select %finite, %new, %old : tensor<4xi1>, tensor<4xf32>
    ds.assign @w, %kept : tensor<4xf32>
    ```
    Source: Micikevicius et al. 2018 (skipping a step on overflow), here of f32 as well.
  }];
}

def VerifyProgramPass : Pass<"ds-verify-program", "::mlir::ModuleOp"> {
  let summary = "checks what holds at the end of the program stage";
  let description = [{
    Requires: nothing.
    Ensures: only `arith`, `math`, `func`, `scf.for` and `ds` ops that have a layout rule (and reads, assigns and
    constraints) are there; a function reads each variable at most once, before all ops but constants, and assigns it at
    most once, after all others; reads and assigns stand at the top level of a function; arguments have a `ds.name`,
    results a `ds.name` or a `ds.gradient`. Anything else is an error.

    ```mlir
    // refused: a variable must be read before all ops but constants
    %y = math.exp %x : tensor<8xf32>
    %w = ds.read @w : tensor<8xf32>
    ```
  }];
}

#endif // DS_PASSES_PROGRAM_PASSES
