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
  }];
}

def BucketCollectivesPass : Pass<"ds-bucket-collectives", "::mlir::func::FuncOp"> {
  let summary = "lets collectives of one kind and axis go together";
  let description = [{
    Requires: collectives are split; their order is that of their producers.
    Ensures: reductions, and gathers of what was computed, wait for others of their kind, axis and element type as long as nobody needs
    them, until a bucket has `bytes`; gathers of parameters go with the next ones that are needed within `window` ops. Each bucket is one
    `ds.start` with a segment per tensor: nothing is copied. `ds.assign`s stand at the end. Values are unchanged.
    Source: Li et al., VLDB 2020, section 3.2.2 (gradient buckets).
  }];
  let options = [Option<"bytes", "bytes", "int64_t", "26214400", "the size at which a bucket is closed">,
                 Option<"window", "window", "int64_t", "12", "the number of ops over which gathers of parameters are joined">];
}

def SchedulePass : Pass<"ds-schedule", "::mlir::func::FuncOp"> {
  let summary = "starts collectives early and waits late";
  let description = [{
    Requires: collectives are split and bucketed.
    Ensures: a wait stands right before the first user; the gather of parameters that is needed next starts before the wait of the one
    before it, so that one is in flight while another is in use. Values are unchanged.
    Source: Zhang et al., SimpleFSDP, arXiv 2411.00284 (reordering).
  }];
}

def VerifySchedulePass : Pass<"ds-verify-schedule", "::mlir::func::FuncOp"> {
  let summary = "checks what holds at the end of the schedule stage";
  let description = [{
    Ensures: every collective is a start with exactly one wait behind it in the same block; elementwise work is in kernels. The order
    of starts is the order of collectives on every rank, as there is one program for all. Changes nothing.
  }];
}

#endif // DS_PASSES_SCHEDULE_PASSES
