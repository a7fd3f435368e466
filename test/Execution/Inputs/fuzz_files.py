# SPDX-FileCopyrightText: The ds-mlir authors
# SPDX-License-Identifier: Apache-2.0
"""Gives our programs files that were changed at random (mutants.py):

    fuzz_files.py WORK_FOLDER FORMAT COUNT SEED

FORMAT is one of
    model-bytes, model-fields   ds-compile on the oracles' models, or on a small classifier where there are none
    config, machine             ds-run check-config, ds-compile --machine
    data, weights               ds-run train on .npy and .safetensors files
    plan                        ds-run inspect

Each mutant must be taken, or refused with a message and an exit code for bad input (2), what is not supported (3), numbers that
are not finite (7) or damage (8); within a minute; and nothing may be left behind. Another mutant of the same seed is the same file; those that fail are
kept in WORK_FOLDER/failed.
"""

import collections
import concurrent.futures
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "Inputs"))
import make_classifier
import mutants
import tensors

SIZES, SAMPLES = [5, 7, 3], 6
WELL = {0: "taken", 2: "bad input", 3: "unsupported", 7: "not finite", 8: "damaged"}
MACHINE = {"name": "mine", "cores": 2, "matmul_flops_per_core": 2e11, "attention_flops_per_core": 1e11, "element_operations_per_core": 1e10,
           "memory_bytes_per_second": 5e10, "call_seconds": 1e-6, "link_seconds": 1e-6, "link_bytes_per_second": 1e10}
DIMS = {"bert-tiny": ["--dim=sequence=32"], "gpt2-tiny": ["--dim=sequence=32"], "llama-tiny": ["--dim=sequence=32"],
        "moe-tiny": ["--dim=sequence=32"]}


def models(good):
    """Pairs of a model's folder and the flags that it is compiled with."""
    folder = pathlib.Path(os.environ.get("DS_ORACLES", ""))
    found = [(path.parent, DIMS.get(path.parent.name, [])) for path in sorted(folder.glob("*/train.onnx"))] if folder.name else []
    return [(path / "train.onnx", path / "ds_config.json", flags) for path, flags in found] or [
        (good / "model.onnx", good / "ds_config.json", [])]


def cases(name, good):
    """For each kind of file of a format: the good file, how it is changed, and the command for a mutant's path."""
    train = ["ds-run", "train", str(good / "plan"), "--model-folder", str(good), "-q", "--threads=1", "--steps=1"]
    if name.startswith("model-"):
        how = mutants.of_bytes if name == "model-bytes" else mutants.of_protobuf
        return [(model, how, lambda path, config=config, flags=flags: ["ds-compile", path, "--config", str(config), "--emit=placement",
                                                                       "--quiet", "-o", "/dev/null"] + flags)
                for model, config, flags in models(good)]
    if name == "config":
        configs = [config for _, config, _ in models(good)] + [good / "ds_config.json"]
        return [(config, mutants.of_json, lambda path: ["ds-run", "check-config", path]) for config in configs]
    if name == "machine":
        return [(good / "machine.json", mutants.of_json, lambda path: [
            "ds-compile", str(good / "model.onnx"), "--config", str(good / "ds_config.json"), "--emit=import", "--quiet", "--machine", path,
            "-o", "/dev/null"])]
    if name == "plan":
        return [(good / "plan", mutants.of_plan, lambda path: ["ds-run", "inspect", path])]
    if name == "weights":
        return [(good / "weights", mutants.of_bytes, lambda path: train + ["--data", str(good / "data"), "--load-model", path])]
    return [(good / "data/x.npy", mutants.of_bytes, lambda path: train + ["--data", str(pathlib.Path(path).parent)])]


def make_good(good):
    make_classifier.make(good, SAMPLES, SIZES)
    (good / "machine.json").write_text(json.dumps(MACHINE))
    subprocess.run(["ds-compile", "model.onnx", "--config", "ds_config.json", "--quiet", "-o", "plan"], cwd=good, check=True)
    weights = {"fc0.weight": (5, 7), "fc0.bias": (7,), "fc1.weight": (7, 3), "fc1.bias": (3,)}
    tensors.write_safetensors(good / "weights", {name: tensors.Tensor(shape, [0.5] * (shape[0] * (shape + (1,))[1]))
                                                 for name, shape in weights.items()})


def try_mutant(number, name, work, seed):
    """The exit code, and what is wrong; None if nothing is."""
    generator = random.Random("%s %d %d" % (name, seed, number))
    good = work / "good"
    all_cases = cases(name, good)
    file, change, command = all_cases[number % len(all_cases)]
    folder = work / ("mutant-%d" % number)
    (folder / "tmp").mkdir(parents=True)
    mutant = folder / ("x.npy" if name == "data" else "mutant")
    if name == "data":
        shutil.copy(good / "data/labels.npy", folder)
    mutant.write_bytes(change(file.read_bytes(), generator))
    before = sorted(path.name for path in folder.iterdir())
    environment = dict(os.environ, TMPDIR=str(folder / "tmp"))
    try:
        answer = subprocess.run(command(str(mutant)), cwd=folder, env=environment, capture_output=True, timeout=60)
    except subprocess.TimeoutExpired:
        return "hung", "took more than a minute"
    left = sorted(path.name for path in folder.iterdir()) != before or list((folder / "tmp").iterdir())
    fault = None
    if answer.returncode not in WELL:
        fault = "exit code %d: %s" % (answer.returncode, answer.stderr.decode(errors="replace")[:300])
    elif answer.returncode != 0 and not answer.stderr:
        fault = "no message"
    elif left:
        fault = "left something behind"
    if fault:
        shutil.copytree(folder, work / "failed" / folder.name)
    shutil.rmtree(folder)
    return answer.returncode, fault


def main(work, name, count, seed):
    work = pathlib.Path(work) / name
    shutil.rmtree(work, ignore_errors=True)
    make_good(work / "good")
    codes, faults = collections.Counter(), 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for number, (code, fault) in enumerate(pool.map(lambda n: try_mutant(n, name, work, seed), range(count))):
            codes[code] += 1
            if fault:
                faults += 1
                print("mutant %d: %s" % (number, fault), flush=True)
    print("%s, seed %d: %s" % (name, seed, ", ".join("%d %s" % (n, WELL.get(code, code)) for code, n in codes.most_common())))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))
