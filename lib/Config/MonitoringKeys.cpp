// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Keys: logs, profilers, monitors, checkpoints.

#include "ConfigKey.h"

namespace ds::config {

constexpr auto Honoured = KeyStatus::Honoured;
constexpr auto NoEffect = KeyStatus::NoEffect;
constexpr auto Refused = KeyStatus::Refused;

/// A section that only counts if its key `enabled` is true.
static Section openSwitched(Section top, const char *name, const char *meaning) {
  Section section = top.open(name, Refused, meaning).gatedBy("enabled");
  section.flag("enabled", Refused, "false", "switches the section on");
  return section;
}

static void addProfilerKeys(Section top) {
  Section communication = openSwitched(top, "comms_logger", "statistics of collectives").withAuto();
  communication.flag("prof_all", Refused, "true", "all operations");
  communication.add(KeyKind::StringList, "prof_ops", Refused, "[]", "these operations");
  communication.flag("verbose", Refused, "false", "a line per operation");
  communication.flag("debug", Refused, "false", "adds the caller");

  Section flops = openSwitched(top, "flops_profiler", "statistics of floating-point operations");
  flops.integer("profile_step", Refused, "1", "the step that is profiled");
  flops.integer("module_depth", Refused, "-1", "depth of the report");
  flops.integer("top_modules", Refused, "1", "modules in the report");
  flops.flag("detailed", Refused, "true", "details per module");
  flops.string("output_file", Refused, "null", "where the report goes");
  flops.number("recompute_fwd_factor", Refused, "0.0", "share of recomputation");

  Section timers = top.open("timers", NoEffect, "timers").withAuto();
  Section throughput = timers.open("throughput", NoEffect, "samples per second, always reported");
  throughput.flag("enabled", NoEffect, "true", "switches the section on");
  throughput.flag("synchronized", NoEffect, "true", "synchronizes the device");
}

static void addMonitorKeys(Section top) {
  for (const char *name : {"tensorboard", "csv_monitor"}) {
    Section files = openSwitched(top, name, "metrics into files; `ds-run --log` writes them").withAuto();
    files.string("output_path", Refused, "\"\"", "a folder");
    files.string("job_name", Refused, "\"DeepSpeedJobName\"", "a folder below");
  }
  Section wandb = openSwitched(top, "wandb", "metrics to Weights & Biases").withAuto();
  for (const char *name : {"group", "team"})
    wandb.string(name, Refused, "null", "where metrics go");
  wandb.string("project", Refused, "\"deepspeed\"", "where metrics go");
  Section comet = openSwitched(top, "comet", "metrics to Comet").withAuto();
  comet.integer("samples_log_interval", Refused, "100", "samples between two records");
  for (const char *name : {"project", "workspace", "api_key", "experiment_name", "experiment_key", "mode"})
    comet.string(name, Refused, "null", "where metrics go");
  comet.flag("online", Refused, "null", "at once or later");
}

static void addCheckpointKeys(Section top) {
  Section checkpoint = top.open("checkpoint", Honoured, "checkpoints");
  checkpoint.choice("tag_validation", NoEffect, "\"Warn\"", "whether all ranks must name the same checkpoint")
      .oneOf({"Warn", "Ignore", "Fail"})
      .caseless();
  checkpoint.flag("load_universal", Refused, "false", "loads DeepSpeed's universal format");
  checkpoint.flag("use_node_local_storage", Refused, "false", "a part of the checkpoint on each machine");
  Section parallel = checkpoint.open("parallel_write", NoEffect, "who writes");
  parallel.flag("pipeline_stage", NoEffect, "false", "stages write at the same time");
  checkpoint.flag("checkpoint_serialization", NoEffect, "true", "PyTorch's new file format");
  Section writer = checkpoint.open("writer", NoEffect, "how DeepSpeed writes");
  writer.choice("type", NoEffect, "\"FAST\"", "kind of writer").oneOf({"FAST", "PYTHON", "MOCK"}).caseless();
  writer.integer("io_buffer_size", NoEffect, "67108864", "bytes of the buffer").atLeast(1);
  writer.flag("io_buffer_double", NoEffect, "true", "two buffers");
  writer.integer("io_multiplier", NoEffect, "1", "writers per rank").atLeast(1);
  writer.flag("show_statistics", NoEffect, "false", "prints statistics");
  writer.choice("data_parallel", NoEffect, "null", "which replicas write").oneOf({"REPLICA", "SOCKET", "MACHINE"});
  writer.flag("decoupled", NoEffect, "false", "writes beside the next step");
  for (const char *name : {"nebula", "datastates_ckpt"})
    top.add(KeyKind::Object, name, Refused, "null", "a checkpoint engine of others");
}

void addMonitoringKeys(Section top) {
  addProfilerKeys(top);
  addMonitorKeys(top);
  addCheckpointKeys(top);
}

} // namespace ds::config
