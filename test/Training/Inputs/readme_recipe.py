# SPDX-FileCopyrightText: The ds-mlir authors
# SPDX-License-Identifier: Apache-2.0
"""Runs the recipe of README.md's section on training as it stands there, and trains the same model in PyTorch:

    readme_recipe.py README BUILD_FOLDER WORK_FOLDER

Needs a Python with torch and onnx. Losses must agree to 1e-5 relative, weights to 1 % of what the optimizer could move them.
"""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import textwrap

import numpy
import torch

LENGTH = 32  # "sequence" of the recipe's config


def code_blocks(readme):
    """The blocks of code in the section, without their indentation."""
    section = readme.read_text().split("## Train your own model")[1].split("\n## ")[0]
    blocks = re.findall(r"(?:^       .*\n|^\n(?=       ))+", section, re.MULTILINE)
    return [textwrap.dedent(block).strip() + "\n" for block in blocks]


def one(blocks, needle):
    found = [block for block in blocks if needle in block]
    if len(found) != 1:
        sys.exit("README must have one block of code with %r, got %d" % (needle, len(found)))
    return found[0]


def run_recipe(blocks, build, work):
    (work / "export.py").write_text(one(blocks, "torch.onnx.export"))
    (work / "ds_config.json").write_text(one(blocks, '"train_batch_size"'))
    (work / "build").symlink_to(build)
    subprocess.run([sys.executable, "export.py"], cwd=work, check=True)
    subprocess.run(one(blocks, "--data tokens.bin"), cwd=work, shell=True, check=True, stdout=subprocess.DEVNULL)


def load(path):
    """The tensors of a .safetensors file of f32."""
    data = path.read_bytes()
    start = 8 + int.from_bytes(data[:8], "little")
    tensors = {}
    for name, entry in json.loads(data[8:start]).items():
        first, last = entry["data_offsets"]
        values = numpy.frombuffer(data[start + first : start + last], numpy.float32).reshape(entry["shape"])
        tensors[name] = torch.from_numpy(values.copy())
    return tensors


def train_in_torch(model, config, tokens, steps):
    """The same recipe in float64; the losses."""
    params = config["optimizer"]["params"]
    optimizer = torch.optim.AdamW(model.parameters(), lr=params["lr"], weight_decay=params["weight_decay"])
    count, losses = config["train_batch_size"] * LENGTH, []
    for step in range(steps):
        part = torch.from_numpy(tokens[step * count : step * count + count + 1].astype(numpy.int64))
        loss = model(part[:-1].view(-1, LENGTH), part[1:].view(-1, LENGTH))
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), config["gradient_clipping"])
        optimizer.step()
        losses.append(loss.item())
    return losses


def main(readme, build, work):
    work = pathlib.Path(work)
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    run_recipe(code_blocks(pathlib.Path(readme)), pathlib.Path(build).resolve(), work)
    scope = {}
    export = (work / "export.py").read_text()
    exec(export.split("torch.onnx.export")[0], scope)  # the model, with the same seed
    model, config = scope["model"].double(), json.loads((work / "ds_config.json").read_text())
    records = [json.loads(line) for line in (work / "run.jsonl").read_text().splitlines()]
    losses = train_in_torch(model, config, numpy.fromfile(work / "tokens.bin", numpy.uint16), len(records))
    worst = max(abs(record["loss"] - loss) / loss for record, loss in zip(records, losses))
    trained = load(work / "trained.safetensors")
    expected = {name: value for name, value in model.named_parameters()}
    if set(trained) != set(expected):
        sys.exit("saved must be %s, got %s" % (sorted(expected), sorted(trained)))
    moved = max(float((trained[name] - value).abs().max()) for name, value in expected.items())
    bound = 0.01 * config["optimizer"]["params"]["lr"] * len(records)
    print("%d steps, losses within %.1e, weights within %.1e of %.1e" % (len(records), worst, moved, bound))
    model.float().load_state_dict(trained, strict=False)
    return 0 if records and worst <= 1e-5 and moved <= bound else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
