#!/usr/bin/env python3
# SPDX-FileCopyrightText: The ds-mlir authors
# SPDX-License-Identifier: Apache-2.0
"""Side by side with PyTorch on one machine: seconds per training step, alternating in one run.

    benchmark/run.py step [MODEL ...]     gpt2-mid by default; also llama-mid, gpt2-124m
    benchmark/run.py compile [MODEL ...]  seconds from model file to plan

The models and PyTorch's timings come from bench_torch.py of the oracles (DS_ORACLES). PyTorch is a peer, never a dependency:
DS_PEER_PYTHON names a Python that has torch and onnx, in an environment of its own. Results go to the terminal and, as JSON, to
build/benchmark.json.
"""
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
ORACLES = pathlib.Path(os.environ.get("DS_ORACLES", ROOT.parent / "shared" / "oracles"))
PEER = os.environ.get("DS_PEER_PYTHON")
ROUNDS = int(os.environ.get("DS_BENCH_ROUNDS", "3"))
STEPS = int(os.environ.get("DS_BENCH_STEPS", "5"))
SEQUENCE = {"gpt2-mid": 256, "llama-mid": 256, "gpt2-124m": 512}


def fail(text):
    sys.exit("benchmark: " + text)


def run(command, **options):
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)
    if result.returncode:
        fail("%s\n%s" % (" ".join(str(part) for part in command), result.stdout + result.stderr))
    return result.stdout + result.stderr


def peer_environment():
    """The peer's best environment: no preset of its BLAS's core type."""
    return {key: value for key, value in os.environ.items() if not key.startswith("OPENBLAS_")}


def peer_scripts():
    """Copies of the oracles' scripts, made to use the exporter that current PyTorch calls the legacy one."""
    folder = BUILD / "benchmark"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "make.py").write_text((ORACLES / "make.py").read_text())
    script = (ORACLES / "bench_torch.py").read_text()
    version = run([PEER, "-c", "import torch; print(torch.__version__)"]).strip()
    if int(version.split(".")[0]) >= 2:
        script = script.replace("opset_version=17,", "opset_version=17, dynamo=False,")
    (folder / "bench_torch.py").write_text(script)
    return folder, version


def model_folder(folder, model):
    target = folder / model
    if not (target / "train.onnx").exists():
        print("exporting %s ..." % model, flush=True)
        run([PEER, folder / "bench_torch.py", "export", folder, model], env=peer_environment())
    return target


def compile_model(target, model):
    plan = target / "train.dsplan"
    start = time.perf_counter()
    run([BUILD / "bin" / "ds-compile", target / "train.onnx", "--config", target / "ds_config.json", "--dim",
         "sequence=%d" % SEQUENCE[model], "-o", plan])
    return plan, time.perf_counter() - start


def our_step(plan, target):
    log = target / "log.jsonl"
    run([BUILD / "bin" / "ds-run", "train", plan, "--model-folder", target, "--data", target, "--steps", STEPS + 3, "--threads", 2, "-q", "--log", log])
    records = [json.loads(line) for line in log.read_text().splitlines()]
    return statistics.median(record["seconds"] for record in records[3:])


def peer_step(folder, model):
    output = run([PEER, folder / "bench_torch.py", "time", model, "--threads", 2, "--steps", STEPS], env=peer_environment())
    return json.loads(re.findall(r"^\{.*\}$", output, re.M)[-1])


def bench_step(models):
    folder, version = peer_scripts()
    rows = []
    for model in models or ["gpt2-mid"]:
        target = model_folder(folder, model)
        plan, seconds = compile_model(target, model)
        ours, theirs = [], []
        for number in range(ROUNDS):
            ours.append(our_step(plan, target))
            theirs.append(peer_step(folder, model)["median_s"])
            print("%s round %d: ds-mlir %.3f s, PyTorch %.3f s" % (model, number + 1, ours[-1], theirs[-1]), flush=True)
        rows.append({"model": model, "ds_mlir_s": statistics.median(ours), "pytorch_s": statistics.median(theirs),
                     "ratio": statistics.median(theirs) / statistics.median(ours), "compile_s": seconds, "pytorch": version})
    print("\n%-12s %14s %14s %10s %12s" % ("model", "ds-mlir s/step", "PyTorch s/step", "speedup", "compile s"))
    for row in rows:
        print("%(model)-12s %(ds_mlir_s)14.3f %(pytorch_s)14.3f %(ratio)9.2fx %(compile_s)12.2f" % row)
    (BUILD / "benchmark.json").write_text(json.dumps(rows, indent=1) + "\n")


def bench_compile(models):
    folder, _ = peer_scripts()
    for model in models or ["gpt2-mid"]:
        _, seconds = compile_model(model_folder(folder, model), model)
        print("%-12s %.2f s from model file to plan" % (model, seconds))


def main():
    verbs = {"step": bench_step, "compile": bench_compile}
    verb, models = (sys.argv[1:2] or ["step"])[0], sys.argv[2:]
    if verb in ("-h", "--help"):
        print(__doc__)
        return
    if verb not in verbs or any(model not in SEQUENCE for model in models):
        fail("must be step or compile and models of %s, got %s" % (", ".join(SEQUENCE), " ".join(sys.argv[1:])))
    if not PEER:
        fail("DS_PEER_PYTHON must name a Python with torch, numpy and onnx (python3 -m venv; pip install torch numpy onnx)")
    if not (ORACLES / "bench_torch.py").exists():
        fail("%s must have bench_torch.py; set DS_ORACLES" % ORACLES)
    verbs[verb](models)


if __name__ == "__main__":
    main()
