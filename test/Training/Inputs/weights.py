# SPDX-FileCopyrightText: The ds-mlir authors
# SPDX-License-Identifier: Apache-2.0
"""Saves and loads the weights of an oracle:

    weights.py ORACLE WORK_FOLDER

* What ds-run saved after two steps gives the loss of the third, whatever batch the plan was made for, and serves inference with another
  batch and length.
* PyTorch's own state_dict loads: as it is, with one module path before all names, with buffers that the model does not have, without
  those it has; and --save-model gives it back bit by bit.
Prints what is wrong; exit code 1 if anything is.
"""

import json
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "Inputs"))
import tensors


class Oracle:
    def __init__(self, folder, work):
        self.folder, self.work = pathlib.Path(folder), pathlib.Path(work)
        self.config = json.loads((self.folder / "ds_config.json").read_text())
        shutil.rmtree(work, ignore_errors=True)
        self.work.mkdir(parents=True)
        self.data = {path.stem: tensors.read_npy(path) for path in self.folder.glob("*.npy")
                     if path.stem in ("input_ids", "attention_mask", "pixels", "labels")}

    def write_data(self, name, step, cut):
        """One step of the data, each dim but the pixels' own no longer than `cut` (samples, positions)."""
        (self.work / name).mkdir()
        for key, tensor in self.data.items():
            shape = tensor.shape[1:]
            count = len(tensor.values) // tensor.shape[0]
            values = list(tensor.values[step * count : (step + 1) * count])
            if cut:
                row = count // shape[0]
                kept = min(row, cut[1]) if len(shape) == 2 else row
                values = [values[sample * row + i] for sample in range(cut[0]) for i in range(kept)]
                shape = (cut[0], kept) if len(shape) == 2 else (cut[0],) + tuple(shape[1:])
            tensors.write_npy(self.work / name / (key + ".npy"), tensors.Tensor((1,) + tuple(shape), values, tensor.dtype))

    def run(self, command, data, more):
        arguments = ["ds-run", command, self.folder / "train.onnx", "--data", data, "--threads", "1"] + more
        answer = subprocess.run([str(a) for a in arguments], capture_output=True, text=True, timeout=600)
        if answer.returncode != 0:
            sys.exit("%s: exit code %d: %s" % (" ".join(str(a) for a in arguments), answer.returncode, answer.stderr[-400:]))
        return answer.stdout + answer.stderr

    def train(self, data, steps, more, config=None):
        """The losses, and what was printed."""
        (self.work / "config.json").write_text(json.dumps(config or self.config))
        text = self.run("train", data, ["--config", self.work / "config.json", "--steps", steps, "--log", self.work / "log"] + more)
        return [json.loads(line)["loss"] for line in (self.work / "log").read_text().splitlines()], text


def check_own(oracle):
    losses, _ = oracle.train(oracle.folder, 3, [])
    saved = oracle.work / "saved.safetensors"
    oracle.train(oracle.folder, 2, ["--save-model", saved, "--ranks", "2"])
    oracle.write_data("third", 2, None)
    again, text = oracle.train(oracle.work / "third", 1, ["--load-model", saved])
    if abs(again[0] - losses[2]) > 1e-5 * losses[2] or "note: " + str(saved) in text:
        yield "the third step must have the loss %s, got %s and %s" % (losses[2], again, text)
    oracle.write_data("short", 3, (2, 16))
    oracle.run("infer", oracle.work / "short", ["--load-model", saved, "--output", oracle.work / "out"])
    loss = tensors.read_npy(oracle.work / "out/loss.npy").values
    if not 0 < loss[0] < 10:
        yield "inference must give a loss, got %s" % list(loss)


def check_torch(oracle):
    final = tensors.read_safetensors(oracle.folder / "final.safetensors")
    still = dict(oracle.config, optimizer={"type": "SGD", "params": {"lr": 0.0}})
    floats = {name: tensor for name, tensor in final.items() if tensor.dtype == "f32"}
    parameters = {name: tensor for name, tensor in floats.items() if ".running_" not in name}
    cases = {
        "as it is": (final, "tensors are not in the model" if len(floats) < len(final) else ""),
        "behind a path": ({"net." + name: tensor for name, tensor in floats.items()}, "its names begin with 'net.'"),
        "with a mask": (dict(floats, **{"mask.masked_bias": tensors.Tensor((1,), [0.0])}), "1 tensors are not in the model"),
        "without buffers": (parameters, "has not all buffers of the model" if len(parameters) < len(floats) else ""),
    }
    for name, (weights, note) in cases.items():
        path, saved = oracle.work / "theirs.safetensors", oracle.work / "back.safetensors"
        tensors.write_safetensors(path, weights)
        _, text = oracle.train(oracle.folder, 1, ["--load-model", path, "--save-model", saved], still)
        back = tensors.read_safetensors(saved)
        wrong = [key for key in parameters if back[key].values != parameters[key].values]
        if wrong or note not in text:
            yield "%s: must come back with the note %r, got %s and %s" % (name, note, wrong, text)


def main(folder, work):
    oracle = Oracle(folder, work)
    faults = list(check_own(oracle)) + list(check_torch(oracle))
    print("\n".join(faults or [oracle.folder.name + ": ok"]))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
