// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Keys: ZeRO, offload, activation checkpointing, the disk.

#include "ConfigKey.h"

namespace ds::config {

constexpr auto Honoured = KeyStatus::Honoured;
constexpr auto NoEffect = KeyStatus::NoEffect;
constexpr auto Refused = KeyStatus::Refused;

static void addBucketKeys(Section zero) {
  zero.integer("reduce_bucket_size", NoEffect, "5e8",
               "elements per bucket of gradients; here the compiler chooses the buckets")
      .atLeast(1)
      .into(DS_PLACE(zero.reduceBucketSize));
  zero.integer("allgather_bucket_size", NoEffect, "5e8", "elements per all-gather; here the compiler chooses")
      .atLeast(0)
      .into(DS_PLACE(zero.allgatherBucketSize));
  zero.integer("sub_group_size", NoEffect, "1e9",
               "elements that are updated at a time; here the update of a parameter is one kernel, without buffers")
      .atLeast(0)
      .into(DS_PLACE(zero.subGroupSize));
  zero.flag("overlap_comm", NoEffect, "null", "reduces gradients beside the backward pass; the schedule always does")
      .into(DS_PLACE(zero.overlapComm));
  zero.flag("contiguous_gradients", NoEffect, "true",
            "copies gradients into one buffer; here they have their places in the arena")
      .into(DS_PLACE(zero.contiguousGradients));
  zero.flag("reduce_scatter", NoEffect, "true",
            "reduces gradients by reduce-scatter; from stage 1 on that is always so")
      .into(DS_PLACE(zero.reduceScatter));
  zero.flag("round_robin_gradients", NoEffect, "false", "spreads the copies of gradients to the host over the ranks")
      .into(DS_PLACE(zero.roundRobinGradients));
  zero.flag("use_multi_rank_bucket_allreduce", NoEffect, "true", "how DeepSpeed reduces a bucket");
  zero.flag("allgather_partitions", NoEffect, "true", "false: broadcasts instead of all-gather");
}

static void addStage3Keys(Section zero) {
  zero.integer("stage3_prefetch_bucket_size", NoEffect, "5e7",
               "elements that are gathered ahead of use; here the schedule starts each gather as late as predicted "
               "times allow")
      .atLeast(0)
      .into(DS_PLACE(zero.prefetchBucketSize));
  zero.integer("stage3_param_persistence_threshold", NoEffect, "1e5",
               "parameters of fewer elements stay whole on every rank; here all are kept in shards")
      .atLeast(0)
      .into(DS_PLACE(zero.parameterPersistenceThreshold));
  zero.integer("stage3_model_persistence_threshold", NoEffect, "9223372036854775807",
               "most elements that may stay whole; nothing does")
      .atLeast(0);
  zero.integer("stage3_max_live_parameters", NoEffect, "1e9",
               "most elements that are gathered at a time; here `--memory-budget` bounds all memory of a rank")
      .atLeast(0)
      .into(DS_PLACE(zero.maxLiveParameters));
  zero.integer("stage3_max_reuse_distance", NoEffect, "1e9",
               "a gathered parameter is kept if it is used again within so many elements; here if within 32 ops")
      .atLeast(0)
      .into(DS_PLACE(zero.maxReuseDistance));
  zero.flag("stage3_gather_16bit_weights_on_model_save", NoEffect, "false",
            "gathers the weights when a model is saved; saved files always hold whole tensors");
  zero.flag("stage3_gather_fp16_weights_on_model_save", NoEffect, "false",
            "deprecated name of `stage3_gather_16bit_weights_on_model_save`");
  zero.integer("stage3_module_granularity_threshold", NoEffect, "0",
               "size of modules whose parameters are gathered together");
  zero.flag("stage3_use_all_reduce_for_fetch_params", NoEffect, "false", "gathers parameters by all-reduce");
  zero.flag("stage3_allgather_sequential", NoEffect, "false",
            "one all-gather per parameter, rather than per group of them");
  Section leaves = zero.open("leaf_module", NoEffect,
                             "modules whose parameters are gathered together; here the schedule groups gathers");
  for (const char *name : {"classes", "names", "name_suffixes"})
    leaves.add(KeyKind::StringList, name, NoEffect, "null", "modules, by " + std::string(name));
}

static void addCommunicationKeys(Section zero) {
  zero.integer("zero_hpz_partition_size", Refused, "1", "ZeRO++: ranks of the secondary shard").atLeast(0).also({"0"});
  zero.flag("zero_quantized_weights", Refused, "false", "ZeRO++: 8-bit all-gather of parameters");
  zero.flag("zero_quantized_nontrainable_weights", Refused, "false", "ZeRO++: 8-bit all-gather of frozen parameters");
  zero.flag("zero_quantized_gradients", Refused, "false", "ZeRO++: 4-bit reduction of gradients");
  Section loco = zero.open("zeropp_loco_param", Refused, "ZeRO++: error feedback of quantized gradients");
  loco.number("err_beta", Refused, "0.8", "decay of the error");
  loco.integer("reset_T", Refused, "1024", "steps between resets");
  zero.integer("mics_shard_size", Refused, "-1", "MiCS: ranks that share a shard");
  zero.flag("mics_hierarchical_params_gather", Refused, "false", "MiCS: two-level gather");
}

static void addLegacyZeroKeys(Section zero) {
  zero.flag("load_from_fp32_weights", NoEffect, "true", "loads 32-bit master weights; weights are always 32-bit");
  zero.flag("elastic_checkpoint", NoEffect, "false", "deprecated; saved weights fit any number of ranks");
  zero.flag("ignore_unused_parameters", Refused, "true", "false: an unused parameter is an error");
  zero.flag("memory_efficient_linear", NoEffect, "true",
            "a linear layer that does not keep its gathered weight for the backward pass; here no gathered weight is "
            "kept long");
  zero.flag("pipeline_loading_checkpoint", NoEffect, "false", "how DeepSpeed loads checkpoints");
  zero.flag("override_module_apply", NoEffect, "true", "how DeepSpeed initializes modules");
  zero.flag("log_trace_cache_warnings", NoEffect, "false", "warnings of DeepSpeed's prefetcher");
  zero.flag("enable_sanity_checks", NoEffect, "false", "checks of DeepSpeed's engine; plans are always checked");
  zero.flag("save_muon_momentum_buffer_in_memory", NoEffect, "false", "belongs to Muon");
  zero.flag("cpu_offload", Refused, "null", "deprecated name of `offload_optimizer`").also({"false"});
  zero.flag("cpu_offload_param", Refused, "null", "deprecated name of `offload_param`").also({"false"});
  zero.flag("cpu_offload_use_pin_memory", NoEffect, "null", "deprecated; belongs to `cpu_offload`");
  zero.flag("legacy_stage1", Refused, "false", "DeepSpeed's old stage 1");
}

static void addOffloadKeys(Section zero) {
  Section parameters = zero.open("offload_param", Refused, "parameters outside device memory").gatedBy("device");
  parameters.choice("device", Refused, "\"none\"", "where parameters live").oneOf({"none", "cpu", "nvme"});
  parameters.string("nvme_path", Refused, "null", "a folder on the disk");
  parameters.integer("buffer_count", Refused, "5", "buffers in flight").atLeast(0);
  parameters.integer("buffer_size", Refused, "1e8", "elements per buffer").atLeast(0);
  parameters.integer("max_in_cpu", Refused, "1e9", "elements kept in host memory").atLeast(0);
  parameters.flag("pin_memory", Refused, "true", "page-locked host memory");

  Section states = zero.open("offload_optimizer", Refused, "optimizer states outside device memory").gatedBy("device");
  states.choice("device", Refused, "\"none\"", "where optimizer states live").oneOf({"none", "cpu", "nvme"});
  states.string("nvme_path", Refused, "null", "a folder on the disk");
  states.integer("buffer_count", Refused, "4", "buffers in flight").atLeast(0);
  states.flag("pin_memory", Refused, "true", "page-locked host memory");
  states.flag("pipeline_read", Refused, "false", "reads beside the update");
  states.flag("pipeline_write", Refused, "false", "writes beside the update");
  states.flag("fast_init", Refused, "false", "fast initialization on the disk");
  states.number("ratio", Refused, "1.0", "part of the states that is updated on the host").atLeast(0).atMost(1);
  states.flag("super_offload", Refused, "false", "SuperOffload");
  states.number("cpuadam_cores_perc", Refused, "0.8", "part of the cores for the update").atLeast(0).atMost(1);

  Section zenflow = zero.open("zenflow", Refused, "ZenFlow: updates of important gradients first");
  zenflow.number("topk_ratio", Refused, "0.1", "part of the gradients that is important").above(0).below(1);
  zenflow.choice("select_strategy", Refused, "\"auto\"", "when to select").oneOf({"auto", "step", "epoch"});
  zenflow.integer("select_interval", Refused, "\"auto\"", "steps between selections");
  zenflow.integer("update_interval", Refused, "\"auto\"", "steps between updates");
  zenflow.flag("overlap_step", Refused, "false", "overlaps the update");
  zenflow.flag("offload", Refused, "false", "offloads the selected states");
  zenflow.number("auto_ratio", Refused, "0.99", "threshold of the automatic choice").atLeast(0).atMost(1);
  zenflow.integer("full_warm_up_rounds", Refused, "0", "full updates at the start");
  zenflow.number("pt_reserved_cores_perc", Refused, "0.5", "part of the cores for PyTorch").atLeast(0).atMost(1);
  zenflow.integer("steps_per_epoch", Refused, "null", "steps per epoch");
}

static void addRecomputeKeys(Section top) {
  Section section = top.open("activation_checkpointing", Honoured, "recomputation of activations");
  section.flag("partition_activations", Refused, "false", "splits saved activations over tensor-parallel ranks");
  section.integer("number_checkpoints", Refused, "null", "number of saved activations");
  section.flag("contiguous_memory_optimization", Refused, "false", "one buffer for saved activations");
  section.flag("cpu_checkpointing", Refused, "false", "saved activations in host memory");
  section.flag("synchronize_checkpoint_boundary", Refused, "false", "synchronizes the device at each");
  section.flag("profile", Refused, "false", "times each");
}

static void addDiskKeys(Section top) {
  Section aio = top.open("aio", NoEffect, "asynchronous disk I/O of the offload to NVMe");
  aio.integer("block_size", NoEffect, "1048576", "bytes per request").atLeast(1);
  aio.integer("queue_depth", NoEffect, "8", "requests in flight").atLeast(1);
  aio.integer("intra_op_parallelism", NoEffect, "1", "threads per request").atLeast(1);
  aio.flag("single_submit", NoEffect, "false", "submits one by one");
  aio.flag("overlap_events", NoEffect, "true", "submits while waiting");
  aio.flag("use_gds", NoEffect, "false", "GPUDirect storage");
}

void addZeroKeys(Section top) {
  Section zero = top.open("zero_optimization", Honoured, "ZeRO").withAuto();
  zero.integer("stage", Honoured, "0",
               "what is split over the data-parallel ranks: 1 optimizer states, 2 gradients, "
               "3 parameters")
      .atLeast(0)
      .atMost(3)
      .into(DS_PLACE(zero.stage));
  addBucketKeys(zero);
  addStage3Keys(zero);
  addCommunicationKeys(zero);
  addLegacyZeroKeys(zero);
  addOffloadKeys(zero);
  addRecomputeKeys(top);
  addDiskKeys(top);
}

} // namespace ds::config
