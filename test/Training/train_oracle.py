# SPDX-FileCopyrightText: The ds-mlir authors
# SPDX-License-Identifier: Apache-2.0
"""Trains an oracle by ds-run and compares with PyTorch's numbers, within the bounds of the oracles' README:

    train_oracle.py ORACLE WORK_FOLDER CHECK STAGE:RANKS...

CHECK is one of
    train      20 steps of train.onnx: losses, gradient norms, final parameters and buffers
    gradients  the gradients of step 0, by one step of plain SGD whose rate is a power of two
    forward    20 steps of forward.onnx with a cross entropy attached to its logits: losses and gradient norms
    logits     the outputs of forward.onnx on the data of step 0 (the stage has no meaning)
Prints one line for each run; exit code 1 if one of them is out of bounds.
"""

import json
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "Inputs"))
import tensors

STEPS = 20
RUN_SECONDS = 600  # of the test, not of the product: then something hangs

# Pixels of a channel that a batch norm of resnet-tiny averages over, by the start of its name.
NORM_PIXELS = {"bn1.": 28 * 28, "block1.": 14 * 14, "block2.": 7 * 7}
MOMENTUM = 0.9  # of the running statistics: what is kept


class Oracle:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.name = self.folder.name
        self.config = json.loads((self.folder / "ds_config.json").read_text())

    def numbers(self, name):
        return tensors.read_npy(self.folder / (name + ".npy")).values

    def parameters(self, name):
        return tensors.read_safetensors(self.folder / (name + ".safetensors"))

    def is_sgd(self):
        return self.config["optimizer"]["type"] == "SGD"


class Job:
    """One run of ds-run in a folder of its own."""

    def __init__(self, oracle, work, stage, ranks):
        self.oracle, self.stage, self.ranks = oracle, stage, ranks
        self.folder = work / ("stage-%d-ranks-%d" % (stage, ranks))
        self.folder.mkdir(parents=True)

    def run(self, command, model, config, steps, outputs, compiler_flags):
        config_file = self.folder / "ds_config.json"
        config_file.write_text(json.dumps(config))
        arguments = ["ds-run", command, self.oracle.folder / model, "--config", config_file, "--data", self.oracle.folder]
        arguments += ["--ranks", self.ranks, "--steps", steps, "--threads", 1, "--quiet", "--plan-out", self.folder / "plan"]
        arguments += outputs + ["--"] + compiler_flags
        run = subprocess.run([str(a) for a in arguments], capture_output=True, text=True, timeout=RUN_SECONDS)
        if run.returncode != 0:
            raise RuntimeError("ds-run ended with exit code %d: %s" % (run.returncode, run.stderr.strip()[-400:]))

    def train(self, model, config, steps):
        self.run("train", model, config, steps, ["--log", self.folder / "log", "--save-model", self.folder / "saved"],
                 ["--zero-stage=%d" % self.stage])

    def records(self):
        return [json.loads(line) for line in (self.folder / "log").read_text().splitlines()]

    def saved(self):
        return tensors.read_safetensors(self.folder / "saved")


class Comparison:
    """The largest differences, in units of their bounds: at most 1 is right."""

    def __init__(self):
        self.parts = {}

    def add(self, part, name, difference, bound):
        ratio = difference / bound if bound > 0 else float(difference > 0) * float("inf")
        if part not in self.parts or not ratio <= self.parts[part][0]:
            self.parts[part] = (ratio, name)

    def is_right(self):
        return bool(self.parts) and all(ratio <= 1 for ratio, _ in self.parts.values())

    def text(self):
        return ", ".join("%s %.3f of bound (%s)" % (part, ratio, name) for part, (ratio, name) in self.parts.items())


def compare_records(oracle, records, comparison):
    """Losses and gradient norms of all steps."""
    if len(records) != STEPS:
        raise RuntimeError("must have logged %d steps, got %d" % (STEPS, len(records)))
    losses, rounded, norms = (oracle.numbers(name) for name in ("losses", "losses32", "grad_norms"))
    for step in range(STEPS):
        record, loss = records[step], losses[step]
        bound = max(1e-5, 4 * abs(rounded[step] - loss) / loss)
        comparison.add("losses", "step %d" % step, abs(record["loss"] - loss) / loss, bound)
        difference = abs(record["grad_norm"] - norms[step]) / norms[step]
        comparison.add("gradient norms", "step %d" % step, difference, 1e-4 if oracle.is_sgd() else 1e-5)


def unbiased(oracle, name, values, initial):
    """What PyTorch keeps as running variance where ONNX keeps `values`: the variance of each step times n / (n - 1).

    The initial value has no such factor; of it MOMENTUM ** STEPS is left.
    """
    pixels = next(pixels for start, pixels in NORM_PIXELS.items() if name.startswith(start))
    count = oracle.config["train_batch_size"] * pixels
    rest = [MOMENTUM**STEPS * value for value in initial]
    return [(value - r) * count / (count - 1) + r for value, r in zip(values, rest)]


def compare_parameters(oracle, saved, comparison):
    initial = oracle.parameters("initial")
    for name, expected in oracle.parameters("final").items():
        if name.endswith("num_batches_tracked"):
            continue  # is not in train.onnx
        if saved[name].shape != expected.shape:
            raise RuntimeError("%s must have shape %s, got %s" % (name, expected.shape, saved[name].shape))
        values = saved[name].values
        if name.endswith("running_var"):
            values = unbiased(oracle, name, values, initial[name].values)
        rate = oracle.config["optimizer"]["params"]["lr"]
        bound = 1e-4 * expected.largest() if oracle.is_sgd() else 0.01 * rate * STEPS
        part = "buffers" if ".running_" in name else "parameters"
        comparison.add(part, name, tensors.largest_difference(values, expected.values), bound)


def check_train(oracle, job):
    job.train("train.onnx", oracle.config, STEPS)
    comparison = Comparison()
    compare_records(oracle, job.records(), comparison)
    compare_parameters(oracle, job.saved(), comparison)
    return comparison


def check_gradients(oracle, job):
    rate = 1024.0  # a power of two: the division below is exact
    sgd = {"type": "SGD", "params": {"lr": rate, "momentum": 0.0, "weight_decay": 0.0}}
    job.train("train.onnx", dict(oracle.config, optimizer=sgd, gradient_clipping=0.0), 1)
    initial, saved, expected = oracle.parameters("initial"), job.saved(), oracle.parameters("gradients")
    floor = 1e-3 * max(gradient.largest() for gradient in expected.values())
    comparison = Comparison()
    for name, gradient in expected.items():
        moved = [(a - b) / rate for a, b in zip(initial[name].values, saved[name].values)]
        bound = 1e-5 * max(gradient.largest(), floor)
        comparison.add("gradients", name, tensors.largest_difference(moved, gradient.values), bound)
    return comparison


def check_forward(oracle, job):
    job.train("forward.onnx", dict(oracle.config, model={"loss": {"logits": "logits", "labels": "labels"}}), STEPS)
    comparison = Comparison()
    compare_records(oracle, job.records(), comparison)
    return comparison


def check_logits(oracle, job):
    job.run("infer", "forward.onnx", oracle.config, 1, ["--output", job.folder / "outputs"], [])
    logits = tensors.read_npy(job.folder / "outputs" / "logits.npy").first()
    comparison = Comparison()
    difference = tensors.largest_difference(logits.values, oracle.numbers("logits"))
    comparison.add("logits", "step 0", difference, 1e-5)
    return comparison


CHECKS = {"train": check_train, "gradients": check_gradients, "forward": check_forward, "logits": check_logits}


def main(folder, work, check, runs):
    oracle, work = Oracle(folder), pathlib.Path(work)
    shutil.rmtree(work, ignore_errors=True)
    is_right = True
    for run in runs:
        stage, ranks = map(int, run.split(":"))
        try:
            comparison = CHECKS[check](oracle, Job(oracle, work, stage, ranks))
            passed, text = comparison.is_right(), comparison.text()
        except (RuntimeError, OSError, KeyError, ValueError, subprocess.TimeoutExpired) as error:
            passed, text = False, "%s: %s" % (type(error).__name__, error)
        is_right &= passed
        print("%s %s, stage %d, %d ranks: %s: %s" % (oracle.name, check, stage, ranks, "ok" if passed else "FAILED", text),
              flush=True)
    return 0 if is_right else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]))
