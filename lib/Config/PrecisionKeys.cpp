// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Keys: number formats of computation, communication and storage.

#include "ConfigKey.h"

namespace ds::config {

constexpr auto NoEffect = KeyStatus::NoEffect;
constexpr auto Refused = KeyStatus::Refused;

static void addHalfKeys(Section top) {
  Section half = top.open("fp16", Refused, "16-bit floats with loss scaling").gatedBy("enabled").withAuto();
  half.flag("enabled", Refused, "false", "switches the section on");
  half.number("loss_scale", Refused, "0", "0: dynamic").atLeast(0);
  half.integer("initial_scale_power", Refused, "16", "the dynamic scale starts at 2 to this power").atLeast(0);
  half.integer("loss_scale_window", Refused, "1000", "clean steps before the scale doubles").atLeast(1);
  half.integer("hysteresis", Refused, "2", "overflows before the scale halves").atLeast(0);
  half.flag("consecutive_hysteresis", Refused, "false", "each clean step refills the hysteresis");
  half.number("min_loss_scale", Refused, "1", "least scale").above(0);
  half.flag("auto_cast", Refused, "false", "converts inputs");
  half.flag("fp16_master_weights_and_grads", Refused, "false", "no 32-bit master weights");
}

static void addBrainKeys(Section top, const std::string &name) {
  Section brain = top.open(name, Refused, "bfloat16").gatedBy("enabled").withAuto();
  brain.flag("enabled", Refused, "false", "switches the section on");
  brain.flag("immediate_grad_update", Refused, "false", "accumulates 32-bit gradients at once").also({"true"});
  brain.flag("check_grad_overflow", Refused, "true", "skips a step with infinite gradients").also({"false"});
  brain.flag("bf16_master_weights_and_grads", Refused, "false", "no 32-bit master weights");
  brain.flag("bf16_optimizer_states", Refused, "false", "moments in bfloat16");
}

static void addReductionKeys(Section top) {
  top.flag("prescale_gradients", NoEffect, "false", "divides before the reduction; the result is the mean either way");
  top.number("gradient_predivide_factor", NoEffect, "1.0", "splits the division; the result is the same").above(0);
  top.choice("gradient_allreduce_op", Refused, "\"mean\"", "how gradients of ranks combine").oneOf({"mean", "sum"});
  top.flag("sparse_gradients", Refused, "false", "sparse gradients of embeddings");
  top.flag("disable_allgather", NoEffect, "false", "broadcasts instead of all-gather");
  top.choice("communication_data_type", Refused, "null", "format of gradients in reductions")
      .oneOf({"fp32", "fp16", "bf16"})
      .caseless()
      .also({"\"fp32\""});
  top.choice("seq_parallel_communication_data_type", Refused, "\"fp32\"", "the same for sequence parallelism")
      .oneOf({"fp32", "fp16", "bf16"})
      .caseless();
}

static void addDataTypeKeys(Section top) {
  Section types = top.open("data_types", KeyStatus::Honoured, "formats of stored values");
  const std::vector<std::string> formats = {"fp32", "fp16", "bf16"};
  types.choice("grad_accum_dtype", Refused, "null", "accumulated gradients").oneOf(formats).also({"\"fp32\""});
  types.choice("param_dtype", Refused, "null", "parameters").oneOf(formats).also({"\"fp32\""});
  types.choice("buffer_dtype", Refused, "null", "buffers").oneOf(formats).also({"\"fp32\""});
}

static void addMixedKeys(Section top) {
  Section amp = top.open("amp", Refused, "NVIDIA Apex").gatedBy("enabled");
  amp.flag("enabled", Refused, "false", "switches the section on");
  for (const char *name :
       {"opt_level", "cast_model_type", "patch_torch_functions", "keep_batchnorm_fp32", "master_weights", "loss_scale",
        "min_loss_scale", "max_loss_scale", "num_losses", "verbosity", "cast_model_outputs"})
    amp.add(KeyKind::Any, name, Refused, "null", "a parameter of Apex");

  Section autocast = top.open("torch_autocast", Refused, "a format per operation").gatedBy("enabled");
  autocast.flag("enabled", Refused, "false", "switches the section on");
  autocast.string("dtype", Refused, "null", "the lower format");
  autocast.add(KeyKind::StringList, "lower_precision_safe_modules", Refused, "null", "modules in the lower format");

  Section weights = top.open("weight_quantization", KeyStatus::Honoured, "quantized weights for inference").withAuto();
  weights.add(KeyKind::Object, "quantized_initialization", Refused, "null", "quantizes when initializing");
  weights.add(KeyKind::Object, "post_init_quant", Refused, "null", "quantizes afterwards");
}

void addPrecisionKeys(Section top) {
  addHalfKeys(top);
  addBrainKeys(top, "bf16");
  addBrainKeys(top, "bfloat16");
  addReductionKeys(top);
  addDataTypeKeys(top);
  addMixedKeys(top);
}

} // namespace ds::config
