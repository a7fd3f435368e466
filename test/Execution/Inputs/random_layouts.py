# SPDX-FileCopyrightText: The ds-mlir authors
# SPDX-License-Identifier: Apache-2.0
"""Trains an oracle under random layouts of its parameters: random_layouts.py ORACLE FOLDER FIRST_SEED COUNT

Each case lays out some parameters at random on four ranks: dims cut into factors, axes on any factor, in any order, under any ZeRO stage.
Every layout that is legal must run, and give the losses of one device.
"""

import json
import os
import pathlib
import random
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "Inputs"))
import tensors

oracle, folder, first, count = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
STEPS = 2
TOLERANCE = 1e-5  # of a loss, as everywhere between parallel and one device


def losses_of(path):
    with open(path) as file:
        return [json.loads(line)["loss"] for line in file if "loss" in line]


def factors_of(size, chance):
    """Factors of `size`, major first."""
    factors = []
    while size > 1 and chance.random() < 0.5:
        major = chance.choice([n for n in range(1, size + 1) if size % n == 0])
        factors.append(major)
        size //= major
    return factors + [size]


def layout_of(shape, axes, chance):
    """The text of a random layout: each axis on some factor of some dim, or nowhere."""
    dims = [[[size, []] for size in factors_of(size, chance)] for size in shape]
    for axis in chance.sample(axes, len(axes)):
        if chance.random() < 0.8:
            chance.choice(chance.choice(dims))[1].append(axis)
    spell = lambda axes: "{" + ", ".join(axes) + "}"
    texts = [spell(dim[0][1]) if len(dim) == 1 else "".join("(%d%s)" % (n, spell(axes) if axes else "") for n, axes in dim)
             for dim in dims]
    return "[" + ", ".join(texts) + "]"


def command_of(seed):
    chance = random.Random(seed)
    mesh, axes = chance.choice([("dp=1,tp=2,xp=2", ["tp", "xp"]), ("dp=2,tp=2", ["tp"]), ("dp=1,tp=4", ["tp"]), ("dp=1,tp=3", ["tp"])])
    chosen = chance.sample(sorted(shapes), chance.randint(1, 4))
    layouts = ["--layout=%s=%s" % (name, layout_of(shapes[name], axes, chance)) for name in chosen]
    return ["--zero-stage=%d" % chance.choice([0, 1, 2, 3]), "--mesh=" + mesh] + layouts


def run(seed, log):
    ranks = 1
    flags = command_of(seed)
    for axis in flags[1].split("=", 1)[1].split(","):
        ranks *= int(axis.split("=")[1])
    command = ["ds-run", "train", oracle + "/train.onnx", "--config", oracle + "/ds_config.json", "--data", oracle, "--ranks", str(ranks),
               "--threads", "1", "--steps", str(STEPS), "-q", "--log", log, "--"] + flags
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120)
    return command, done


os.makedirs(folder, exist_ok=True)
shapes = {name: tensor.shape for name, tensor in tensors.read_safetensors(oracle + "/initial.safetensors").items() if tensor.shape and tensor.dtype == "f32"}
expected = tensors.read_npy(oracle + "/losses.npy").values[:STEPS]
failed = 0
for seed in range(first, first + count):
    log = folder + "/log.jsonl"
    if os.path.exists(log):
        os.remove(log)
    command, done = run(seed, log)
    losses = losses_of(log) if os.path.exists(log) else []
    if done.returncode or len(losses) != STEPS or any(not abs(a - b) <= TOLERANCE * abs(b) for a, b in zip(losses, expected)):
        failed += 1
        print("seed %d: exit %d, losses %s, expected %s\n  %s\n  %s" % (seed, done.returncode, losses, list(expected), " ".join("'%s'" % word for word in command),
                                                                    done.stdout.strip().replace("\n", "\n  ")), flush=True)
print("%d layouts, %d failed" % (count, failed))
sys.exit(failed > 0)
