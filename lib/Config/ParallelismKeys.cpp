// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Keys: tensor, expert, sequence and pipeline parallelism, and DeepSpeed's compiler.

#include "ConfigKey.h"

namespace ds::config {

constexpr auto Honoured = KeyStatus::Honoured;
constexpr auto NoEffect = KeyStatus::NoEffect;
constexpr auto Refused = KeyStatus::Refused;

static void addTensorKeys(Section top) {
  Section tensor = top.open("tensor_parallel", Honoured, "AutoTP").withAuto();
  tensor.integer("autotp_size", Refused, "0", "ranks that share each layer").atLeast(0).also({"1"});
  tensor.string("dtype", NoEffect, "\"fp16\"", "format for inference");
  tensor.flag("tp_overlap_comm", NoEffect, "false", "overlaps reductions; scheduled wherever it helps");
  for (const char *name : {"tensor_parallel", "tp"}) {
    Section sizes = tensor.open(name, Honoured, "sizes for inference");
    sizes.integer("tp_size", Refused, "1", "ranks that share each layer").atLeast(1);
    sizes.integer("tp_grain_size", Refused, "1", "granularity of uneven splits").atLeast(1);
    sizes.add(KeyKind::Any, "mpu", Refused, "null", "an object of the program");
    sizes.add(KeyKind::Any, "tp_group", Refused, "null", "an object of the program");
  }
  tensor.choice("preset_model", Refused, "null", "rules of a known model")
      .oneOf({"llama", "bloom", "chatglm", "mixtral", "deepseek_v2", "qwen2", "phi3"});
  tensor.add(KeyKind::Object, "partition_config", Refused, "null", "rules of one's own");
  tensor.add(KeyKind::Any, "injection_policy_tuple", Refused, "null", "layers that end in a reduction");
  tensor.flag("keep_module_on_host", NoEffect, "false", "how DeepSpeed loads");
  tensor.flag("replace_with_kernel_inject", NoEffect, "false", "kernels for inference");
  tensor.flag("kernel_inject", NoEffect, "false", "another name of the former");
}

static void addExpertKeys(Section top) {
  Section expert = top.open("expert_parallel", Refused, "AutoEP").gatedBy("enabled");
  expert.flag("enabled", Refused, "false", "switches the section on");
  expert.integer("autoep_size", Refused, "1", "ranks that share the experts").atLeast(1);
  expert.integer("expert_tensor_parallel_size", Refused, "1", "ranks that share each expert").atLeast(1);
  for (const char *name : {"validate_folding_routing", "disable_triton_grouped_mm"})
    expert.flag(name, Refused, "false", "a detail of AutoEP");
  expert.flag("use_grouped_mm", Refused, "true", "grouped matrix products");
  for (const char *name :
       {"preset_model", "moe_layer_pattern", "router_pattern", "expert_pattern", "expert_w1", "expert_w2", "expert_w3",
        "num_experts_attr", "top_k_attr", "shared_experts_pattern", "shared_experts_gate_pattern"})
    expert.string(name, Refused, "null", "how AutoEP finds the layers");
  for (const char *name : {"route_norm", "has_shared_experts"})
    expert.flag(name, Refused, "null", "a detail of the routing");
  for (const char *name : {"num_expert_groups", "num_limited_groups"})
    expert.integer(name, Refused, "null", "a detail of the routing");
  expert.number("route_scale", Refused, "1.0", "factor on the routing weights");
  for (const char *name : {"score_func", "score_apply", "combine_impl", "top_k", "routed_scaling_factor"})
    expert.add(KeyKind::Any, name, Refused, "\"auto\"", "a detail of the routing");
}

static void addPipelineKeys(Section top) {
  Section pipeline = top.open("pipeline", Honoured, "pipeline parallelism");
  pipeline.add(KeyKind::Any, "stages", Refused, "\"auto\"", "number of stages").also({"1"});
  pipeline.string("partition", NoEffect, "\"best\"", "how layers are dealt out");
  pipeline.flag("seed_layers", Refused, "false", "a random seed per layer");
  pipeline.integer("activation_checkpoint_interval", Refused, "0", "layers between saved activations").atLeast(0);
  pipeline.flag("pipe_partitioned", NoEffect, "true", "splits activations between stages");
  pipeline.flag("grad_partitioned", NoEffect, "true", "splits gradients between stages");
  top.integer("sequence_parallel_size", Refused, "1", "ranks that share each sequence").atLeast(1);
  top.integer("data_parallel_size", Refused, "null", "ranks that share the batch; here the mesh says so").atLeast(1);
  top.flag("use_data_before_expert_parallelism", Refused, "false", "order of the axes");
}

static void addCompilerKeys(Section top) {
  Section compile = top.open("compile", Refused, "DeepCompile").gatedBy("deepcompile").withAuto();
  compile.flag("deepcompile", Refused, "false", "switches the section on; here all is compiled");
  for (const char *name : {"symmetric_memory", "free_activation", "offload_activation", "offload_opt_states",
                           "offload_parameters", "sync_before_reduce", "sync_after_reduce", "sync_before_allgather",
                           "sync_after_allgather", "keep_all_input_tensors", "debug_log"})
    compile.flag(name, Refused, "false", "a detail of DeepCompile");
  for (const char *name : {"double_buffer", "offload_activation_pin_memory", "keep_int_input_tensors"})
    compile.flag(name, Refused, "true", "a detail of DeepCompile");
  compile.integer("free_activation_threshold", Refused, "10485760", "bytes from which activations are freed");
  compile.add(KeyKind::StringList, "passes", Refused, "null", "passes of DeepCompile");
}

void addParallelismKeys(Section top) {
  addTensorKeys(top);
  addExpertKeys(top);
  addPipelineKeys(top);
  addCompilerKeys(top);
}

} // namespace ds::config
