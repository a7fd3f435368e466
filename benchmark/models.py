# SPDX-FileCopyrightText: The ds-mlir authors
# SPDX-License-Identifier: Apache-2.0
"""The models of the benchmarks: exported once by the peer, from the oracles' builders, and kept in DS_BENCH_CACHE."""
import json
import time

import setting

# layers, hidden, inner, columns of q, k and v together, vocabulary, matrices of an MLP, batch, sequence
_FIELDS = ("layers", "hidden", "inner", "qkv", "vocabulary", "mlp", "batch", "sequence")
SHAPES = {name: dict(zip(_FIELDS, values)) for name, values in {
    "gpt2-mid": (6, 384, 1536, 1152, 8192, 2, 8, 256),
    "llama-mid": (6, 384, 1024, 640, 8192, 3, 8, 256),
    "gpt2-124m": (12, 768, 3072, 2304, 50257, 2, 2, 512),
}.items()}


def step_flops(name):
    """Multiplications and additions of forward and backward: 6 per weight of a matmul and token, and attention, of
    which only the causal half is counted."""
    shape = SHAPES[name]
    hidden = shape["hidden"]
    layer = hidden * (shape["qkv"] + hidden + shape["mlp"] * shape["inner"])
    weights = shape["layers"] * layer + shape["vocabulary"] * hidden
    attention = shape["layers"] * hidden * shape["sequence"]
    return 6 * shape["batch"] * shape["sequence"] * (weights + attention)


def folder(name):
    """The folder of a model with train.onnx, its data and its config; exports it where it is missing."""
    if not (setting.ORACLES / "bench_torch.py").exists():
        setting.fail("%s must have bench_torch.py; set DS_ORACLES" % setting.ORACLES)
    target = setting.CACHE / name
    if not (target / "ds_config.json").exists():
        print("exporting %s into %s" % (name, target), flush=True)
        setting.CACHE.mkdir(parents=True, exist_ok=True)
        setting.run([setting.peer_python(), setting.ROOT / "benchmark" / "peer" / "export.py", setting.CACHE, name],
                    env=setting.peer_environment())
    return target


def compile_plan(name, ranks=1):
    """Compiles a model. Returns the plan's path and the seconds it took."""
    source = folder(name)
    plan = source / ("train-%d.dsplan" % ranks)
    start = time.perf_counter()
    setting.run([setting.TOOLS / "ds-compile", source / "train.onnx", "--config", source / "ds_config.json", "--dim",
                 "sequence=%d" % SHAPES[name]["sequence"], "--ranks", ranks, "-o", plan])
    return plan, time.perf_counter() - start


def train(name, plan, steps, threads=setting.CORES, data=None):
    """Runs a plan, on the model's own data if no others are named. Returns its records of steps and its report."""
    source = folder(name)
    log, report = source / "log.jsonl", source / "report.json"
    setting.run([setting.TOOLS / "ds-run", "train", plan, "--model-folder", source, "--data", data or source, "--steps", steps,
                 "--threads", threads, "-q", "--log", log, "--report", report])
    records = [json.loads(line) for line in log.read_text().splitlines()]
    return records, json.loads(report.read_text())
