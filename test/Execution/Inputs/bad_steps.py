# SPDX-FileCopyrightText: The ds-mlir authors
# SPDX-License-Identifier: Apache-2.0
"""Trains a small classifier on data that make loss and gradients NaN in some steps:

    bad_steps.py WORK_FOLDER CASE

CASE is one of
    skipped    a bad step changes nothing: the same bits as a training without it, for each stage, on 1 to 3 ranks
    stopped    three bad steps in a row end the training with exit code 7 and the weights from before them
    hopeless   no step was good: exit code 7, and nothing is saved
    unguarded  "model.stop_after_bad_steps" 0 trains on, but weights that are NaN are not saved: exit code 7
    exploded   the last update made the weights infinite: exit code 7, and nothing is saved
"""

import json
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "Inputs"))
import make_classifier
import tensors

SAMPLES, SIZES = 6, [5, 7, 3]
NAN = float("nan")


def make(folder, bad_steps, kept_steps=None, **config):
    """Data of which `bad_steps` have a NaN, reduced to `kept_steps`."""
    make_classifier.make(folder, SAMPLES, SIZES)
    recipe = json.loads((folder / "ds_config.json").read_text())
    (folder / "ds_config.json").write_text(json.dumps(dict(recipe, **config)))
    for name in ("x", "labels"):
        tensor = tensors.read_npy(folder / "data" / (name + ".npy"))
        size = len(tensor.values) // tensor.shape[0]
        steps = [tensor.values[size * step : size * (step + 1)] for step in list(range(tensor.shape[0])) * 2]
        for step in bad_steps if name == "x" else []:
            steps[step][size // 2] = NAN
        kept = [steps[step] for step in (range(len(steps)) if kept_steps is None else kept_steps)]
        values = sum(kept[1:], kept[0])
        tensors.write_npy(folder / "data" / (name + ".npy"), tensors.Tensor((len(kept),) + tensor.shape[1:], values, tensor.dtype))


def train(folder, ranks=2):
    command = ["ds-run", "train", "model.onnx", "--config", "ds_config.json", "--data", "data", "--ranks", str(ranks)]
    command += ["--threads", "1", "--quiet", "--log", "log", "--save-model", "weights"]
    command += ["--dump-variables", "optimizer_state=state", "--dump-variables", "counter=steps"]
    answer = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
    return answer.returncode, answer.stderr


def saved(folder):
    return [(folder / name).read_bytes() if (folder / name).exists() else None for name in ("weights", "state", "steps")]


def expect(what, condition):
    if not condition:
        raise RuntimeError("must have " + what)


def expect_answer(answer, code, pattern):
    expect("exit code %d and %s, got %d and %r" % (code, pattern, *answer), answer[0] == code and re.search(pattern, answer[1]))


def records(folder):
    return [json.loads(line) for line in (folder / "log").read_text().splitlines()]


def skipped(work):
    for stage in range(4):
        for ranks in (1, 2, 3):
            folders = [work / ("%s-%d-%d" % (name, stage, ranks)) for name in ("bad", "good")]
            for folder, kept in zip(folders, ([0, 1, 2, 3], [0, 1, 3])):
                make(folder, [2] if len(kept) == 4 else [], kept, zero_optimization={"stage": stage})
            expect_answer(train(folders[0], ranks), 0, r"^ds-run: step 2: loss nan, gradient norm nan; the step changed nothing\n$")
            expect_answer(train(folders[1], ranks), 0, r"^$")
            expect("the same bits at stage %d on %d ranks" % (stage, ranks), saved(folders[0]) == saved(folders[1]))
            expect("one record that says so", [record.get("skipped", False) for record in records(folders[0])] == [False, False, True, False])


def stopped(work):
    make(work / "bad", [2, 3, 4], range(8))
    make(work / "good", [], [0, 1])
    expect_answer(train(work / "bad"), 7, r"error: stopped after step 4: loss nan, gradient norm nan, the last of 3 steps in a row "
                  r"that changed nothing; the weights are those after step 1, the last good one; --find-nan")
    expect_answer(train(work / "good"), 0, r"^$")
    expect("the weights of the last good step", saved(work / "bad") == saved(work / "good"))
    expect("five records", len(records(work / "bad")) == 5)


def hopeless(work):
    make(work, [0, 1], [0, 1])
    expect_answer(train(work), 7, r"error: stopped after step 1: .* no step was good, so nothing is saved")
    expect("nothing saved", saved(work) == [None] * 3)


def unguarded(work):
    make(work, [1], range(6), model={"stop_after_bad_steps": 0})
    expect_answer(train(work), 7, r"step 1: loss nan.*training goes on(?s:.*)error: rank \d: variable 'fc0\.(weight|bias)' has \d+ NaN "
                  r"and 0 infinite elements after step 5; nothing is saved")
    expect("nothing saved", saved(work) == [None] * 3)
    expect("records with numbers and without", [record["loss"] is None for record in records(work)][:4] == [False, True, True, True])


def exploded(work):
    make(work, [], [0], optimizer={"type": "SGD", "params": {"lr": 3e38}}, gradient_clipping=0)
    weights = tensors.read_npy(work / "data" / "x.npy")
    weights.values = type(weights.values)("f", (1000.0 * value for value in weights.values))
    tensors.write_npy(work / "data" / "x.npy", weights)
    expect_answer(train(work), 7, r"error: rank \d: variable 'fc\d\.(weight|bias)' has 0 NaN and \d+ infinite elements after step 0; nothing is saved")
    expect("nothing saved", saved(work) == [None] * 3)


CASES = {"skipped": skipped, "stopped": stopped, "hopeless": hopeless, "unguarded": unguarded, "exploded": exploded}

if __name__ == "__main__":
    CASES[sys.argv[2]](pathlib.Path(sys.argv[1]))
    print(sys.argv[2] + ": ok")
