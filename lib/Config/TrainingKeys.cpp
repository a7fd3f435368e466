// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Keys: batch sizes, clipping, optimizer, scheduler, model.

#include "ConfigKey.h"

namespace ds::config {

constexpr auto Honoured = KeyStatus::Honoured;
constexpr auto NoEffect = KeyStatus::NoEffect;
constexpr auto Refused = KeyStatus::Refused;

static void addBatchKeys(Section top) {
  top.integer("train_batch_size", Honoured, "null", "samples per optimizer step, over all ranks")
      .atLeast(1)
      .into(DS_PLACE(batch.train));
  top.integer("train_micro_batch_size_per_gpu", Honoured, "null",
              "samples per rank and micro-batch; if given, `train = micro * accumulation * ranks` must hold")
      .atLeast(1)
      .into(DS_PLACE(batch.micro));
  top.integer("gradient_accumulation_steps", Honoured, "null",
              "micro-batches per optimizer step; if not given, it follows from the two others, or is 1")
      .atLeast(1)
      .into(DS_PLACE(batch.accumulation));
  top.flag("managed_gradient_accumulation", Refused, "true", "false: the training script decides when a step ends");
  top.number("gradient_clipping", Honoured, "1.0",
             "largest global L2 norm of the gradients; 0 is no clipping, which was the default before DeepSpeed 0.19.3")
      .atLeast(0)
      .into(DS_PLACE(gradientClipping));
}

static void addEngineKeys(Section top) {
  top.integer("steps_per_print", Honoured, "null",
              "steps between two lines of progress where there is no terminal; by default a line every ten seconds")
      .atLeast(1)
      .atRunTime()
      .into(DS_PLACE(stepsPerPrint));
  top.flag("wall_clock_breakdown", NoEffect, "false",
           "times the parts of a step; here `ds-run train --profile` writes the time of each instruction")
      .into(DS_PLACE(hasWallClockBreakdown));
  top.flag("memory_breakdown", NoEffect, "false",
           "prints memory in use; here `ds-run inspect` tells it before the run");
  top.flag("dump_state", NoEffect, "false", "prints the settings of DeepSpeed's engine");
  top.flag("dataloader_drop_last", NoEffect, "false",
           "leaves out a last batch that is not full; here every step has a full batch");
  top.integer("vocabulary_size", NoEffect, "null",
              "size of the vocabulary, for a warning of DeepSpeed's about its alignment")
      .atLeast(1);
  top.flag("graph_harvesting", NoEffect, "false", "captures CUDA graphs; plans run on the CPU, where there are none");
  top.string("log_level", NoEffect, "null", "verbosity of DeepSpeed's logger");
}

static void addAdamKeys(Section params) {
  const std::vector<std::string> types = {"Adam", "AdamW"};
  params.number("lr", Honoured, "0.001", "learning rate")
      .atLeast(0)
      .only(types)
      .atRunTime()
      .into(DS_PLACE(optimizer.lr));
  params.add(KeyKind::NumberPair, "betas", Honoured, "[0.9, 0.999]", "decay of the two moments")
      .atLeast(0)
      .below(1)
      .only(types)
      .into([](TrainingConfig &config) -> Field {
        return NumberPair{&config.optimizer.beta1, &config.optimizer.beta2};
      });
  params.number("eps", Honoured, "1e-08", "added to the root of the second moment")
      .atLeast(0)
      .only(types)
      .into(DS_PLACE(optimizer.epsilon));
  params.number("weight_decay", Honoured, "0.0", "weight decay; 0.01 by default for AdamW with `torch_adam`")
      .atLeast(0)
      .only(types)
      .into(DS_PLACE(optimizer.weightDecay));
  params.flag("bias_correction", Honoured, "true", "divides the moments by 1 - beta^step, as they start at zero")
      .only(types)
      .into(DS_PLACE(optimizer.biasCorrection));
  params.flag("adam_w_mode", Honoured, "true", "\"Adam\": decoupled weight decay, that is AdamW")
      .only(types)
      .into(DS_PLACE(optimizer.isDecoupled));
  params.flag("torch_adam", Honoured, "false", "PyTorch's class; changes the default of `weight_decay` only")
      .only(types)
      .atRunTime() // what it changes is compared as `weight_decay`
      .into(DS_PLACE(optimizer.isTorchAdam));
  params.flag("fp32_optimizer_states", Refused, "true", "false: moments in 16 bits").only(types);
  params.flag("amsgrad", Refused, "false", "the AMSGrad variant").only(types);
  params
      .flag("set_grad_none", NoEffect, "true",
            "frees gradients after the step; here the plan says how long each one lives")
      .only(types);
  params.number("max_grad_norm", Refused, "0", "DeepSpeed rejects it: use `gradient_clipping`").only(types);
}

static void addSgdKeys(Section params) {
  const std::vector<std::string> types = {"SGD"};
  params.number("lr", Honoured, "0.001", "learning rate")
      .atLeast(0)
      .only(types)
      .atRunTime()
      .into(DS_PLACE(optimizer.lr));
  params.number("momentum", Honoured, "0.0", "momentum").atLeast(0).only(types).into(DS_PLACE(optimizer.momentum));
  params.number("dampening", Honoured, "0.0", "dampening of the momentum")
      .only(types)
      .into(DS_PLACE(optimizer.dampening));
  params.flag("nesterov", Honoured, "false", "Nesterov momentum; needs momentum and no dampening")
      .only(types)
      .into(DS_PLACE(optimizer.nesterov));
  params.number("weight_decay", Honoured, "0.0", "L2 regularization, added to the gradient")
      .atLeast(0)
      .only(types)
      .into(DS_PLACE(optimizer.weightDecay));
  params.flag("maximize", Refused, "false", "ascends instead of descends").only(types);
  params.flag("differentiable", Refused, "false", "differentiates through the step").only(types);
}

static void addOptimizerKeys(Section top) {
  Section optimizer = top.open("optimizer", Honoured, "the optimizer; none if absent");
  optimizer.choice("type", Honoured, "null", "\"Adam\" means AdamW unless `adam_w_mode` is false, as in DeepSpeed")
      .oneOf({"Adam", "AdamW", "SGD"})
      .orRefused({"Adagrad", "Lion",    "Lamb",  "Muon",     "OneBitAdam", "ZeroOneAdam", "OneBitLamb",
                  "MuAdam",  "MuAdamW", "MuSGD", "Adadelta", "Adafactor",  "Adamax",      "ASGD",
                  "LBFGS",   "NAdam",   "RAdam", "RMSprop",  "Rprop",      "SparseAdam"})
      .caseless()
      .required()
      .into(DS_PLACE(optimizer.kind));
  optimizer.flag("legacy_fusion", NoEffect, "false", "which fused kernel DeepSpeed takes");
  Section params = optimizer.open("params", Honoured, "parameters of the optimizer").selectedBy("type");
  addAdamKeys(params);
  addSgdKeys(params);
  const std::vector<std::string> types = {"Adam", "AdamW", "SGD"};
  params.flag("foreach", NoEffect, "null", "PyTorch's choice of kernel").only(types);
  params.flag("fused", NoEffect, "null", "PyTorch's choice of kernel").only(types);
}

static void addWarmupKeys(Section params) {
  const std::vector<std::string> linear = {"WarmupLR", "WarmupDecayLR"};
  const std::vector<std::string> decaying = {"WarmupDecayLR", "WarmupCosineLR"};
  const std::vector<std::string> all = {"WarmupLR", "WarmupDecayLR", "WarmupCosineLR"};
  params.integer("total_num_steps", Honoured, "null", "steps of the whole training")
      .atLeast(1)
      .only(decaying)
      .required()
      .into(DS_PLACE(scheduler.totalSteps));
  params.number("warmup_min_lr", Honoured, "0.0", "learning rate at the start")
      .atLeast(0)
      .only(linear)
      .into(DS_PLACE(scheduler.warmupMinLr));
  params.number("warmup_max_lr", Honoured, "null", "learning rate after the warm-up; by default the optimizer's")
      .atLeast(0)
      .only({"WarmupLR"})
      .into(DS_PLACE(scheduler.warmupMaxLr));
  params.number("warmup_max_lr", Honoured, "0.001", "learning rate after the warm-up")
      .atLeast(0)
      .only({"WarmupDecayLR"})
      .into(DS_PLACE(scheduler.warmupMaxLr));
  params.integer("warmup_num_steps", Honoured, "1000", "steps of the warm-up; 1 counts as 2")
      .atLeast(1)
      .only(all)
      .into(DS_PLACE(scheduler.warmupSteps));
  params.choice("warmup_type", Honoured, "\"log\"", "shape of the warm-up")
      .oneOf({"log", "linear"})
      .only(all)
      .into(DS_PLACE(scheduler.warmupShape));
  params.number("warmup_min_ratio", Honoured, "0.0", "start of the warm-up, relative to the optimizer's learning rate")
      .atLeast(0)
      .only({"WarmupCosineLR"})
      .into(DS_PLACE(scheduler.warmupMinRatio));
  params.number("cos_min_ratio", Honoured, "0.0001", "end of the cosine, relative to the optimizer's learning rate")
      .atLeast(0)
      .only({"WarmupCosineLR"})
      .into(DS_PLACE(scheduler.cosineMinRatio));
}

static void addOneCycleKeys(Section params) {
  const std::vector<std::string> types = {"OneCycle"};
  const auto number = [&](const char *name, const char *value, const char *meaning) -> ConfigKey & {
    return params.number(name, Honoured, value, meaning).atLeast(0).only(types);
  };
  const auto integer = [&](const char *name, const char *value, const char *meaning) -> ConfigKey & {
    return params.integer(name, Honoured, value, meaning).atLeast(0).only(types);
  };
  number("cycle_min_lr", "null", "learning rate at the start and end").required().into(DS_PLACE(scheduler.cycleMinLr));
  number("cycle_max_lr", "null", "learning rate at the peak").required().into(DS_PLACE(scheduler.cycleMaxLr));
  number("decay_lr_rate", "0.0", "decay per `decay_step_size` after the cycle").into(DS_PLACE(scheduler.decayRate));
  integer("cycle_first_step_size", "2000", "steps up").atLeast(1).into(DS_PLACE(scheduler.firstHalfSteps));
  integer("cycle_second_step_size", "null", "steps down; by default as up")
      .atLeast(1)
      .into(DS_PLACE(scheduler.secondHalfSteps));
  integer("cycle_first_stair_count", "0", "stairs up; 0 is continuous").into(DS_PLACE(scheduler.firstStairs));
  integer("cycle_second_stair_count", "null", "stairs down; by default as up").into(DS_PLACE(scheduler.secondStairs));
  integer("decay_step_size", "0", "steps per unit of decay; 0 is no decay").into(DS_PLACE(scheduler.decayStepSize));
  params.flag("cycle_momentum", Honoured, "true", "cycles Adam's betas: refused; write false with Adam and AdamW")
      .only(types)
      .into(DS_PLACE(scheduler.cyclesMomentum));
  for (const char *name : {"cycle_min_mom", "cycle_max_mom", "decay_mom_rate"})
    params
        .number(name, NoEffect,
                name == std::string("cycle_min_mom") ? "0.8"
                : name[0] == 'd'                     ? "0.0"
                                                     : "0.9",
                "belongs to `cycle_momentum`")
        .only(types);
}

static void addRangeTestKeys(Section params) {
  const std::vector<std::string> types = {"LRRangeTest"};
  params.number("lr_range_test_min_lr", Honoured, "0.001", "learning rate at the start")
      .atLeast(0)
      .only(types)
      .into(DS_PLACE(scheduler.rangeMinLr));
  params.integer("lr_range_test_step_size", Honoured, "2000", "steps per unit of growth")
      .atLeast(1)
      .only(types)
      .into(DS_PLACE(scheduler.rangeStepSize));
  params.number("lr_range_test_step_rate", Honoured, "1.0", "growth per unit, relative to the start")
      .atLeast(0)
      .only(types)
      .into(DS_PLACE(scheduler.rangeStepRate));
  params.flag("lr_range_test_staircase", Honoured, "false", "grows in stairs")
      .only(types)
      .into(DS_PLACE(scheduler.isRangeStaircase));
}

static void addSchedulerKeys(Section top) {
  Section scheduler = top.open("scheduler", Honoured, "the learning-rate schedule; constant if absent").atRunTime();
  scheduler.choice("type", Honoured, "null", "kind of schedule")
      .oneOf({"WarmupLR", "WarmupDecayLR", "WarmupCosineLR", "OneCycle", "LRRangeTest"})
      .required()
      .into(DS_PLACE(scheduler.kind));
  Section params = scheduler.open("params", Honoured, "parameters of the schedule").selectedBy("type").atRunTime();
  addWarmupKeys(params);
  addOneCycleKeys(params);
  addRangeTestKeys(params);
}

static void addModelKeys(Section top) {
  Section model = top.open("model", Honoured, "ours, not DeepSpeed's: what the model file does not say");
  Section loss = model.open("loss", Honoured, "an output of the graph, or cross entropy on its logits");
  loss.string("output", Honoured, "\"loss\"", "the scalar output that is the loss").into(DS_PLACE(model.loss.output));
  loss.string("logits", Honoured, "\"\"", "the output that cross entropy is attached to; excludes `output`")
      .into(DS_PLACE(model.loss.logits));
  loss.string("labels", Honoured, "\"labels\"", "name of the labels in the data; needs `logits`")
      .into(DS_PLACE(model.loss.labels));
  loss.flag("shift", Honoured, "false", "position i predicts label i + 1; needs `logits`")
      .into(DS_PLACE(model.loss.isShifted));
  loss.integer("ignore_index", Honoured, "-100", "labels of this value do not count; needs `logits`")
      .into(DS_PLACE(model.loss.ignoreIndex));
  loss.choice("mean", Honoured, "\"parts\"",
              "of what the loss is the mean: of the micro-batches' means, or of all labels of the step")
      .oneOf({"parts", "labels"})
      .into(DS_PLACE(model.loss.mean));
  model.add(KeyKind::IntegerMap, "dims", Honoured, "{}", "extents of the symbolic dimensions, by name")
      .atLeast(1)
      .into(DS_PLACE(model.dims));
  model
      .add(KeyKind::StringList, "frozen", Honoured, "[]",
           "parameters that are not trained: ECMAScript regular expressions for whole names")
      .into(DS_PLACE(model.frozen));
  model
      .integer("stop_after_bad_steps", Honoured, "3",
               "steps in a row with a loss or gradient norm that is NaN or infinite after which training stops (exit "
               "code 7); such steps change no variable; 0: they are trained on, as in PyTorch")
      .atLeast(0)
      .into(DS_PLACE(model.stopAfterBadSteps));
  model
      .add(KeyKind::StringList, "stop_gradient", Honoured, "[]",
           "values that the gradient takes as constants, by the names of the model file; see the top of this page")
      .into(DS_PLACE(model.stopGradient));
  model.add(KeyKind::StringList, "parameters", Honoured, "[]", "tensors that are trained: expressions as in `frozen`")
      .into(DS_PLACE(model.parameters));
  model
      .add(KeyKind::StringList, "buffers", Honoured, "[]",
           "tensors that are no parameters: kept as they are, and saved; expressions as in `frozen`")
      .into(DS_PLACE(model.buffers));
  model
      .add(KeyKind::StringGroups, "tied", Honoured, "null",
           "groups of names, by expressions: each group is one parameter, and nothing else is tied but what shares one "
           "tensor of the file; if absent, also what constant folding has split")
      .into(DS_PLACE(model.tied));
}

void addTrainingKeys(Section top) {
  addBatchKeys(top);
  addEngineKeys(top);
  addOptimizerKeys(top);
  addSchedulerKeys(top);
  addModelKeys(top);
}

} // namespace ds::config
