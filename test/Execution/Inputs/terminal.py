# SPDX-FileCopyrightText: The ds-mlir authors
# SPDX-License-Identifier: Apache-2.0
"""Looks at what a person sees of a training: terminal.py WORK_FOLDER.

On a terminal one line is rewritten, never wider than the terminal and at most about ten times a second; in a pipe lines
are few; names from files cannot steer a terminal; and NaN has no sign.
"""

import fcntl
import json
import os
import pathlib
import pty
import re
import struct
import subprocess
import sys
import termios
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "Inputs"))
import make_classifier
import tensors

COLUMNS = 40
STEPS = 2000
TRAIN = ["ds-run", "train", "model.onnx", "--config", "ds_config.json", "--data", "data", "--threads", "1"]


def expect(what, condition, got):
    if not condition:
        raise RuntimeError("must have %s, got %r" % (what, got))


def run_on_terminal(command, folder):
    """What arrives at a terminal of COLUMNS columns, and after how many seconds all has."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, COLUMNS, 0, 0))
    begin = time.monotonic()
    process = subprocess.Popen(command, cwd=folder, stdin=slave, stdout=slave, stderr=slave)
    os.close(slave)
    text = b""
    try:
        while chunk := os.read(master, 4096):
            text += chunk
    except OSError:  # all that had the terminal open have ended
        pass
    expect("exit code 0", process.wait() == 0, text)
    return text.decode(), time.monotonic() - begin


def terminal(folder):
    text, seconds = run_on_terminal(TRAIN + ["--steps", str(STEPS)], folder)
    updates = text.split("\r\x1b[2K")[1:]
    expect("updates", len(updates) > 1, text)
    expect("at most ten updates a second", len(updates) <= 10 * seconds + 2, (len(updates), seconds))
    updates[-1] = updates[-1].split("\r\n")[0]
    expect("lines narrower than the terminal", max(map(len, updates)) < COLUMNS, updates)
    expect("the last step at the end", updates[-1].startswith("step %d/%d " % (STEPS, STEPS)), updates[-1])


def pipe(folder):
    def lines(*more):
        out = subprocess.run(TRAIN + ["--steps", "60", *more], cwd=folder, capture_output=True, text=True, check=True).stdout
        return re.findall(r"^step (\d+)/60 ", out, re.MULTILINE)

    expect("the first and the last step and few between", len(lines()) <= 4 and {"1", "60"} <= set(lines()), lines())
    expect("every 25th step where that is asked for", lines("--print-every", "25") == ["1", "26", "51", "60"], lines("--print-every", "25"))


def names(folder):
    weights = {"\x1b]0;owned\x07": tensors.Tensor((1,), [0.0])}
    for name, shape in (("fc0.weight", (5, 7)), ("fc0.bias", (7,)), ("fc1.weight", (7, 3)), ("fc1.bias", (3,))):
        count = shape[0] * (shape[1] if len(shape) > 1 else 1)
        weights[name] = tensors.Tensor(shape, [0.1] * count)
    tensors.write_safetensors(folder / "weights", weights)
    err = subprocess.run(TRAIN + ["--load-model", "weights"], cwd=folder, capture_output=True, text=True, check=True).stderr
    expect("a name that is harmless", "\\x1b]0;owned\\x07" in err and "\x1b" not in err, err)


def not_a_number(folder):
    x = tensors.read_npy(folder / "data" / "x.npy")
    x.values[0] = float("-nan")
    tensors.write_npy(folder / "data" / "x.npy", x)
    answer = subprocess.run(TRAIN, cwd=folder, capture_output=True, text=True, check=True)
    text = answer.stdout + answer.stderr
    expect("nan without a sign", "loss nan" in text and "-nan" not in text, text)
    expect("the sum of bad steps", "1 of 4 steps had a loss or gradient norm that is not finite and changed nothing" in text, text)


def clipping(folder):
    note = "\"gradient_clipping\" is not in the config"
    err = subprocess.run(TRAIN, cwd=folder, capture_output=True, text=True, check=True).stderr
    expect("one line about the default of clipping", err.count(note) == 1, err)
    recipe = json.loads((folder / "ds_config.json").read_text())
    (folder / "ds_config.json").write_text(json.dumps(dict(recipe, gradient_clipping=0.25)))
    command = TRAIN + ["--log", "log"]
    err = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stderr
    expect("no line about what the config says", note not in err, err)
    for record in map(json.loads, (folder / "log").read_text().splitlines()):
        wanted = min(1.0, 0.25 / (record["grad_norm"] + 1e-6))
        expect("the factor of clipping", abs(record["clip_coef"] - wanted) < 1e-12 and wanted < 1, record)


if __name__ == "__main__":
    for case in (terminal, pipe, names, not_a_number, clipping):
        folder = pathlib.Path(sys.argv[1]) / case.__name__
        make_classifier.make(folder, 6, [5, 7, 3])
        case(folder)
        print(case.__name__ + ": ok")
