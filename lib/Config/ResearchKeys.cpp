// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Keys: elasticity, tuning, curricula, compression, and what else DeepSpeed has.

#include "ConfigKey.h"

namespace ds::config {

constexpr auto NoEffect = KeyStatus::NoEffect;
constexpr auto Refused = KeyStatus::Refused;

static Section openSwitched(Section top, const char *name, const char *meaning) {
  Section section = top.open(name, Refused, meaning).gatedBy("enabled");
  section.flag("enabled", Refused, "false", "switches the section on");
  return section;
}

static void addElasticityKeys(Section top) {
  Section elastic = openSwitched(top, "elasticity", "batch sizes that fit several numbers of ranks");
  elastic.integer("max_train_batch_size", Refused, "2000", "largest batch").atLeast(1);
  elastic.add(KeyKind::IntegerList, "micro_batch_sizes", Refused, "[2, 4, 6]", "allowed micro-batches").atLeast(1);
  elastic.integer("min_gpus", Refused, "1", "fewest ranks").atLeast(1);
  elastic.integer("max_gpus", Refused, "10000", "most ranks").atLeast(1);
  elastic.integer("min_time", Refused, "0", "minutes before a change").atLeast(0);
  elastic.number("version", Refused, "0.2", "version of the rules");
  elastic.flag("prefer_larger_batch", Refused, "true", "takes the largest that fits");
  elastic.flag("ignore_non_elastic_batch_info", Refused, "false", "overrides the batch sizes");
  elastic.integer("model_parallel_size", Refused, "1", "ranks that share a replica").atLeast(1);
  elastic.integer("num_gpus_per_node", Refused, "1", "ranks per machine").atLeast(1);
}

static void addTuningKeys(Section top) {
  Section tuning = openSwitched(top, "autotuning", "search for a good configuration");
  for (const char *name : {"fast", "overwrite"})
    tuning.flag(name, Refused, "true", "a detail of the search");
  for (const char *name : {"results_dir", "exps_dir", "model_info_path"})
    tuning.string(name, Refused, "null", "a folder or file");
  tuning.integer("start_profile_step", Refused, "3", "first measured step");
  tuning.integer("end_profile_step", Refused, "5", "last measured step");
  tuning.choice("metric", Refused, "\"throughput\"", "what is best").oneOf({"throughput", "latency", "flops"});
  tuning.choice("tuner_type", Refused, "\"gridsearch\"", "kind of search")
      .oneOf({"gridsearch", "random", "model_based"});
  tuning.integer("tuner_early_stopping", Refused, "5", "trials without a gain");
  tuning.integer("tuner_num_trials", Refused, "50", "most trials");
  tuning.integer("num_tuning_micro_batch_sizes", Refused, "3", "micro-batches to try");
  tuning.integer("min_train_micro_batch_size_per_gpu", Refused, "1", "smallest micro-batch");
  tuning.integer("max_train_micro_batch_size_per_gpu", Refused, "1024", "largest micro-batch");
  tuning.integer("min_train_batch_size", Refused, "1", "smallest batch");
  tuning.integer("max_train_batch_size", Refused, "null", "largest batch");
  tuning.integer("mp_size", Refused, "1", "ranks that share a replica");
  for (const char *name : {"model_info", "arg_mappings"})
    tuning.add(KeyKind::Object, name, Refused, "null", "how to call the program");
}

static void addCurriculumKeys(Section top) {
  Section data = openSwitched(top, "data_efficiency", "sampling and routing of data");
  data.integer("seed", Refused, "1234", "random seed");
  data.add(KeyKind::Object, "data_routing", Refused, "null", "random layer-token dropping");
  data.add(KeyKind::Object, "data_sampling", Refused, "null", "curricula and dynamic batches");
  Section curriculum = openSwitched(top, "curriculum_learning", "sequence lengths that grow");
  curriculum.string("curriculum_type", Refused, "\"seqlen\"", "what grows");
  curriculum.integer("min_difficulty", Refused, "null", "start");
  curriculum.integer("max_difficulty", Refused, "null", "end");
  curriculum.string("schedule_type", Refused, "null", "how it grows");
  curriculum.add(KeyKind::Object, "schedule_config", Refused, "null", "parameters of the schedule");
  Section layers = openSwitched(top, "progressive_layer_drop", "layers that are skipped at random");
  layers.number("theta", Refused, "1.0", "kept in the limit").atLeast(0).atMost(1);
  layers.number("gamma", Refused, "0.001", "speed").atLeast(0);
}

static void addCompressionKeys(Section top) {
  Section compression = top.open("compression_training", KeyStatus::Honoured, "compression while training");
  for (const char *name : {"layer_reduction", "weight_quantization", "activation_quantization", "sparse_pruning",
                           "row_pruning", "head_pruning", "channel_pruning"})
    compression.add(KeyKind::Object, name, Refused, "null", "a technique of compression");
  top.add(KeyKind::Object, "quantize_training", Refused, "null", "MoQ");
  Section eigenvalue = openSwitched(top, "eigenvalue", "curvature for MoQ");
  eigenvalue.flag("verbose", Refused, "false", "prints progress");
  eigenvalue.integer("max_iter", Refused, "100", "most iterations");
  eigenvalue.number("tol", Refused, "0.01", "when to stop");
  eigenvalue.number("stability", Refused, "1e-06", "added to norms");
  eigenvalue.integer("gas_boundary_resolution", Refused, "1", "steps between computations");
  eigenvalue.string("layer_name", Refused, "\"bert.encoder.layer\"", "the layers");
  eigenvalue.integer("layer_num", Refused, "0", "number of layers");
}

static void addSparseAttentionKeys(Section top) {
  Section sparse = top.open("sparse_attention", Refused, "block-sparse attention");
  sparse.choice("mode", Refused, "\"fixed\"", "pattern")
      .oneOf({"dense", "fixed", "variable", "bigbird", "bslongformer"});
  for (const char *name : {"block", "num_local_blocks", "num_global_blocks", "num_random_blocks",
                           "num_sliding_window_blocks", "num_different_global_patterns"})
    sparse.integer(name, Refused, "null", "a detail of the pattern").atLeast(0);
  for (const char *name : {"local_window_blocks", "global_block_indices", "global_block_end_indices"})
    sparse.add(KeyKind::IntegerList, name, Refused, "null", "a detail of the pattern");
  sparse.string("attention", Refused, "\"bidirectional\"", "direction");
  for (const char *name : {"horizontal_global_attention", "different_layout_per_head"})
    sparse.flag(name, Refused, "false", "a detail of the pattern");
}

void addResearchKeys(Section top) {
  addElasticityKeys(top);
  addTuningKeys(top);
  addCurriculumKeys(top);
  addCompressionKeys(top);
  addSparseAttentionKeys(top);
  Section hybrid = openSwitched(top, "hybrid_engine", "training and generation in turn").withAuto();
  hybrid.integer("max_out_tokens", Refused, "512", "longest answer").atLeast(1);
  hybrid.integer("inference_tp_size", Refused, "1", "ranks that share each layer").atLeast(1);
  hybrid.integer("tp_gather_partition_size", Refused, "8", "parameters gathered at once").atLeast(1);
  hybrid.flag("pin_parameters", Refused, "true", "keeps parameters");
  for (const char *name : {"release_inference_cache", "enable_cuda_graph"})
    hybrid.flag(name, Refused, "false", "a detail of the generation");
  top.add(KeyKind::Object, "inference", Refused, "null", "settings of DeepSpeed's inference engine");
  top.flag("zero_allow_untested_optimizer", NoEffect, "false", "permits optimizers unknown to DeepSpeed");
  top.flag("zero_force_ds_cpu_optimizer", NoEffect, "true", "demands DeepSpeed's optimizer when offloading");
}

} // namespace ds::config
