// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DS_PASSES_SCHEDULE_PASSES
#define DS_PASSES_SCHEDULE_PASSES

include "mlir/Pass/PassBase.td"

def SplitAsyncPass : Pass<"ds-split-async", "::mlir::func::FuncOp"> {
  let summary = "splits each collective into start and wait";
  let description = [{
    Requires: relayouts are expanded.
    Ensures: no all_gather, reduce_scatter, all_reduce or all_to_all is left; each is a `ds.start` with its `ds.wait` behind it. Values are
    unchanged.

    ```mlir
    %w = ds.all_gather %s over "dp" : tensor<8xf32, #ds.layout<[{} ], flat = {dp}>> -> tensor<8xf32>
    // becomes
    %t = ds.start all_gather %s over "dp" : tensor<8xf32, #ds.layout<[{} ], flat = {dp}>> -> [tensor<8xf32>]
    %w = ds.wait %t, %s : tensor<8xf32, #ds.layout<[{} ], flat = {dp}>> -> tensor<8xf32>
    ```
  }];
}

def BucketCollectivesPass : Pass<"ds-bucket-collectives", "::mlir::func::FuncOp"> {
  let summary = "lets collectives of one kind and axis go together";
  let description = [{
    Requires: collectives are split; their order is that of their producers.
    Ensures: collectives of one kind, axis and element type are joined into buckets. A reduction, or a gather of what was computed, waits
    for others as long as nobody needs its result, until the bucket has `bytes`. A gather of a parameter goes together with the next ones
    that are needed within `window` ops. Each bucket is one `ds.start` with a segment per tensor: nothing is copied. `ds.assign`s stand
    at the end. Values are unchanged.

    ```mlir
    %t = ds.start reduce_scatter %a over "dp" : ...
    %u = ds.start reduce_scatter %b over "dp" : ...
    // becomes
    %t = ds.start reduce_scatter %a, %b over "dp" : ...
    ```
    Source: Li et al., VLDB 2020, section 3.2.2 (gradient buckets).
  }];
  let options = [Option<"bytes", "bytes", "int64_t", "26214400", "the size at which a bucket is closed">,
                 Option<"window", "window", "int64_t", "12", "the number of ops over which gathers of parameters are joined">];
}

def PredictTimesPass : Pass<"ds-predict-times", "::mlir::func::FuncOp"> {
  let summary = "writes on each op how long it will take";
  let description = [{
    Requires: collectives are split; kernels are formed.
    Ensures: every op that runs has an attribute `ds.work`, what it asks of the rank that has most, and `ds.seconds`, the time that
    takes on the machine: arithmetic or memory, whichever takes longer, plus the time of a call; collectives by latency and bytes
    received. Changes nothing else.

    ```mlir
    %y = ds.matmul %x, %w {ds.seconds = 2.4e-05 : f64, ds.work = {bytes = 9.8e+04 : f64, matmul_flops = 2.0e+06 : f64}, indices = "mk,kn->mn"} : ...
    ```
    Source: Williams et al., "Roofline", CACM 2009; docs/machines.md has the constants.
  }];
  let options = [Option<"machine", "machine", "std::string", "\"cpu\"", "a preset, or a machine file">];
}

def SchedulePass : Pass<"ds-schedule", "::mlir::func::FuncOp"> {
  let summary = "starts collectives early and waits late";
  let description = [{
    Requires: collectives are split and bucketed; `ds-predict-times` has run.
    Ensures: a gather of parameters starts as late as it can and still ends before it is needed, after the collectives that go before it
    on its axis. The wait of any other collective stands where the collective will have ended, or before the first user of its results: from
    there on the memory of its sources is free. Values are unchanged.

    ```mlir
    %a = ds.fused_attention ...            %t = ds.start all_gather %s over "dp" : ...
    %t = ds.start all_gather %s ...        %a = ds.fused_attention ...
    %w = ds.wait %t, %s : ...              %w = ds.wait %t, %s : ...
    %y = ds.matmul %a, %w ...              %y = ds.matmul %a, %w ...
    ```
    Source: Zhang et al., SimpleFSDP, arXiv 2411.00284 (reordering).
  }];
}

def VerifySchedulePass : Pass<"ds-verify-schedule", "::mlir::func::FuncOp"> {
  let summary = "checks what holds at the end of the schedule stage";
  let description = [{
    Ensures, so that a run never hangs and never reads what is not there:
    - every collective is a start with exactly one wait behind it in the same block; elementwise work is in kernels;
    - every rank comes by every collective equally often, and so in one order: none stands under a condition, and loops around them
      have a constant number of iterations;
    - if there is a `ds.arena`: buffers that are live at one time do not overlap; each op finds in its buffers what it reads; the
      destination of a collective in flight is not touched, and its source not written, before the wait.

    Then all queues and ranks are acyclic together: there is one program for all ranks, collectives of all ranks are merged into one
    node each, and every edge points forward in the program: from start to wait, from value to use, from one collective of an axis to
    the next, and from the last use of a buffer's bytes to the next one. Changes nothing.

    ```mlir
    // refused: the source of a collective in flight must not be released before the wait
    %t = ds.start all_gather %s over "dp" : ...  // %s in buffer 1
    %x = ds.kernel(%y) ... {ds.buffers = array<i64: 1>}
    %w = ds.wait %t, %s : ...
    ```
  }];
}

def AssignArenaPass : Pass<"ds-assign-arena", "::mlir::ModuleOp"> {
  let summary = "gives every value of the step a place in one arena";
  let description = [{
    Requires: the kernel and schedule stages have run.
    Ensures: the module has a `ds.arena` of the function with a `ds.buffer` per storage, and every tensor the number of its buffer.
    Values share one where no copy is needed: reshapes and fences with their input, a variable's new value with the old one, a loop's
    carried values, a kernel's result with an input that dies in it. Buffers whose lifetimes meet do not overlap. Remarks tell the
    arena's bytes, the largest live set (no arena is smaller), where that is and its ten largest tensors. Fails if the arena takes more
    than `memory-budget`. Values are unchanged.

    ```mlir
    %y = ds.matmul %x, %w ... {ds.buffers = array<i64: 2>}

    ds.arena of @step bytes 8192 lower_bound 4352 peak 3 "matmul" largest [0, 2] {
      ds.buffer 0 "w" at 0 bytes 4096 live 0 to 5
      ...
    }
    ```
    The arena is as small as a search of a fixed number of steps makes it; those of the tests' models are within 3 % of the largest live
    set. Sources: Lee et al., "On-Device Neural Net Inference with Mobile GPUs", 2019 (greedy placement by size); Sekiyama et al.,
    "Profile-guided memory optimization for deep neural networks", 2018 (filling a skyline).
  }];
  let options = [Option<"function", "function", "std::string", "\"step\"", "the function whose memory is planned">,
                 Option<"memoryBudget", "memory-budget", "uint64_t", "0", "the most bytes that the arena may take; 0: any number">];
}

#endif // DS_PASSES_SCHEDULE_PASSES
