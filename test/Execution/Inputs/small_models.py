# SPDX-FileCopyrightText: The ds-mlir authors
# SPDX-License-Identifier: Apache-2.0
"""Models of a few operators, each of a kind that once had no plan or a wrong number:

    small_models.py infer FOLDER        runs each, and compares the outputs with the operators' definition
    small_models.py train FOLDER        trains each for two steps on one and two ranks, and compares losses with their formula
"""

import itertools
import json
import math
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "Inputs"))
import onnx_model as onnx
import tensors
from small_model_cases import INFER, TRAIN, RATE

# Relative to the largest entry: sums of at most a hundred terms in f32; the functions are good to a few ulp.
TOLERANCE = {"f32": 2e-6, "f64": 1e-14}


def call(*arguments):
    run = subprocess.run([str(argument) for argument in arguments], stderr=subprocess.PIPE, text=True, timeout=120)
    return run.returncode, run.stderr.strip()


def write(folder, model, inputs, steps):
    """The same inputs in each step."""
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "data").mkdir(parents=True)
    (folder / "model.onnx").write_bytes(model)
    for name, tensor in inputs.items():
        path = folder / "data" / (name + ".npy")
        path.parent.mkdir(parents=True, exist_ok=True)
        tensors.write_npy(path, tensors.Tensor((steps,) + tensor.shape, tensor.values * steps, tensor.dtype))


def fault_of(path, expected):
    """What is wrong with an output: its type, its shape or its values; None if nothing is."""
    got = tensors.read_npy(path)
    if (got.dtype, got.shape) != (expected.dtype, (1,) + expected.shape):
        return "must be %s of shape %s, got %s of %s" % (expected.dtype, expected.shape, got.dtype, got.shape[1:])
    difference = tensors.largest_difference(got.values, expected.values)
    allowed = TOLERANCE.get(expected.dtype, 0) * max(1, expected.largest())
    return None if difference <= allowed else "must differ by at most %g, got %g" % (allowed, difference)


def infer(folder, case):
    model, inputs, outputs = case()
    write(folder, model, inputs, 1)
    code, text = call("ds-run", "infer", folder / "model.onnx", "--data", folder / "data", "--output", folder / "out",
                      "--threads", 2, "-q")
    if code:
        return ["exit %d: %s" % (code, text)]
    faults = {name: fault_of(folder / "out" / (name + ".npy"), expected) for name, expected in outputs.items()}
    return ["output %s %s" % entry for entry in faults.items() if entry[1]]


def train_once(folder, losses, tolerance, ranks, stage):
    code, text = call("ds-run", "train", folder / "model.onnx", "--config", folder / "ds_config.json", "--data", folder / "data",
                      "--ranks", ranks, "--steps", len(losses), "--threads", 1, "-q", "--log", folder / "log", "--",
                      "--zero-stage=%d" % stage)
    if code:
        return "exit %d: %s" % (code, text)
    got = [json.loads(line)["loss"] for line in (folder / "log").read_text().splitlines()]
    close = len(got) == len(losses) and all(math.isclose(a, b, rel_tol=tolerance, abs_tol=tolerance) for a, b in zip(got, losses))
    return None if close else "must have the losses %s, got %s" % (losses, got)


def train(folder, case):
    model, inputs, losses = case()
    write(folder, model, inputs, len(losses))
    batch = next(iter(inputs.values())).shape[0]
    recipe = {"train_batch_size": batch, "gradient_clipping": 0.0, "optimizer": {"type": "SGD", "params": {"lr": RATE}}}
    (folder / "ds_config.json").write_text(json.dumps(recipe))
    runs = itertools.product((1, 2), (0, 1, 3)) if batch > 1 else [(1, 0)]
    tolerance = 1e-13 if next(iter(inputs.values())).dtype == "f64" else 1e-5
    faults = {run: train_once(folder, losses, tolerance, *run) for run in runs}
    return ["on %d ranks in stage %d: %s" % (*run, fault) for run, fault in faults.items() if fault]


def main(what, folder):
    failed = 0
    for name, case in {"infer": INFER, "train": TRAIN}[what].items():
        for fault in {"infer": infer, "train": train}[what](folder / name, case):
            print("%s: %s" % (name, fault))
            failed += 1
    sys.exit(failed > 0)


if __name__ == "__main__":
    main(sys.argv[1], pathlib.Path(sys.argv[2]))
