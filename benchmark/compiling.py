# SPDX-FileCopyrightText: The ds-mlir authors
# SPDX-License-Identifier: Apache-2.0
"""Time and memory of the compiler, and how soon a plan runs."""
import json
import os
import statistics
import subprocess
import sys
import time

import models
import setting

REPEATS = 3          # compilers are deterministic: the median of a few
IMPORT_NODES = 100000
START_MODEL = "gpt2-mid"
NO_CACHE = ["--kernel-cache", "none"]  # as for a model that is new

COLUMNS = [("what", "name", "%s"), ("seconds", "seconds", "%.2f"), ("MiB", "mib", "%.0f"), ("bar s", "bar_s", "%.2f"),
           ("bar MiB", "bar_mib", "%.0f"), ("of the bar", "of_bar", "%.2f")]
CHART = {"title": "Compile time: bar over time, above 1 is met", "value": "of_bar", "bar": 1.0}


def _run(command):
    """Seconds and peak resident MiB of a command, or of the largest process that it waits for."""
    start = time.perf_counter()
    process = subprocess.Popen([str(part) for part in command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    message = process.stderr.read().decode()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        setting.fail("%s\n%s" % (" ".join(str(part) for part in command), message))
    return time.perf_counter() - start, usage.ru_maxrss / 1024


def _write(function, path, size):
    """Writes a model in a process of its own: what is resident here when a command starts would count as its peak."""
    setting.run([sys.executable, "-c", "import sys; sys.path.insert(0, %r); import onnx_writer; onnx_writer.%s(%r, %d)"
                 % (os.path.dirname(__file__), function, str(path), size)])


def _median_run(command):
    runs = [_run(command) for _ in range(REPEATS)]
    return statistics.median(run[0] for run in runs), max(run[1] for run in runs)


def _row(name, measured, bar_s=None, bar_mib=None):
    seconds, mib = measured
    row = {"name": name, "seconds": seconds, "mib": mib, "bar_s": bar_s, "bar_mib": bar_mib}
    shares = [bar / value for bar, value in ((bar_s, seconds), (bar_mib, mib)) if bar]
    row["of_bar"] = min(shares, default=None)
    return row


def _compile_command(model, config, *options):
    return [setting.TOOLS / "ds-compile", model, "--config", config, *options, "-o", setting.CACHE / "compile.dsplan"]


def _gpt2():
    source = models.folder("gpt2-124m")
    command = _compile_command(source / "train.onnx", source / "ds_config.json", "--dim", "sequence=512")
    return [_row("gpt2-124m, file to plan", _median_run(command + NO_CACHE), 10.0),
            _row("the same with its kernels in the cache", _median_run(command), 10.0)]


def _layers():
    config = setting.CACHE / "layers.json"
    config.write_text(json.dumps({"train_batch_size": 2, "optimizer": {"type": "AdamW", "params": {"lr": 1e-3}},
                                  "zero_optimization": {"stage": 3}}))
    exported = {}
    for layers in (12, 96, 384):
        model = models.folder("gpt2-%d-layers" % layers) / "train.onnx"
        exported[layers] = _median_run(_compile_command(model, config, "--dim", "sequence=16") + NO_CACHE)
    written = setting.CACHE / "layers-1000.onnx"
    _write("write_transformer", written, 1000)
    return [_row("an export of 12 layers", exported[12]),
            _row("of 96 layers of the same width", exported[96], 2 * exported[12][0]),
            _row("of 384 layers of the same width", exported[384], 6 * exported[12][0]),
            _row("1000 layers, of fewer nodes each", _run(_compile_command(written, config) + NO_CACHE), 60.0, 2048.0)]


def _imports():
    """Import of a large graph, beside a session of ONNX Runtime with all its optimizations."""
    path = setting.CACHE / "chain.onnx"
    _write("write_chain", path, IMPORT_NODES)
    runtime = _run([setting.peer_python(), "-c",
                    "import onnxruntime as o; o.InferenceSession(%r, providers=['CPUExecutionProvider'])" % str(path)])
    ours = _run([setting.TOOLS / "ds-compile", path, "--infer", "--emit=import", "-o", os.devnull])
    return [_row("ONNX Runtime's session, %d nodes" % IMPORT_NODES, runtime),
            _row("import of the same", ours, runtime[0] / 2, runtime[1] / 2)]


def _start():
    """From the start of ds-run to the end of a run of one step, without the step."""
    plan, _ = models.compile_plan(START_MODEL)
    source = models.folder(START_MODEL)
    log = setting.CACHE / "start.jsonl"
    command = [setting.TOOLS / "ds-run", "train", plan, "--model-folder", source, "--data", source, "--steps", 1,
               "--threads", setting.CORES, "-q", "--log", log]
    seconds = []
    for _ in range(2 * REPEATS):
        total, mib = _run(command)
        seconds.append(total - json.loads(log.read_text())["seconds"])
    start = time.perf_counter()
    (source / "train.onnx").read_bytes()
    reading = time.perf_counter() - start
    return [_row("%s, start to step 0 and end" % START_MODEL, (statistics.median(seconds), mib), 0.3 + reading)]


PARTS = {"gpt2": _gpt2, "layers": _layers, "import": _imports, "start": _start}


def finish(rows, _):
    """Bars do not depend on the limits."""


def notes(rows):
    missed = [row["name"] for row in rows if row["of_bar"] is not None and row["of_bar"] < 1]
    return ["over their bar: %s" % ("; ".join(missed) or "none")]
