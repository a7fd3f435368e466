# SPDX-FileCopyrightText: The ds-mlir authors
# SPDX-License-Identifier: Apache-2.0
"""What a step is made of: matmuls, memory-bound chains, the optimizer and attention, each beside what can be reached."""
import json
import statistics

import chains
import limits
import models
import plans
import setting
from collectives import Server

CHAIN_MEBIBYTES = (8, 128)
CHAIN_STEPS = 31  # the first dozen bring into the last cache what it can hold, as in the copy beside
SEQUENCES = (512, 2048, 8192)
HEADS, WIDTH = 12, 64

COLUMNS = [("kernel", "name", "%s"), ("us", "microseconds", "%.0f"), ("rate", "rate", "%.1f"), ("unit", "unit", "%s"),
           ("best", "best", "%.1f"), ("of best", "of_best", "%.2f"), ("bar", "bar", "%.2f"), ("reached", "reached", "%.2f")]
CHART = {"title": "Kernels: share of their bar", "value": "reached", "bar": 1.0}


def _row(name, seconds, rate, best, bar, unit):
    """A row; `rate` and `best` are in `unit`."""
    return {"name": name, "microseconds": 1e6 * seconds, "rate": rate, "best": best, "bar": bar, "unit": unit}


def _times_by_shape(inspected, times):
    """Seconds of the matmuls of each shape."""
    shapes = {}
    for order, matmul in inspected.operations("Matmul").items():
        shapes.setdefault(inspected.matmul_shape(matmul), []).append(times[order])
    return shapes


def _matmul_rows(model):
    """Each shape in the plan of a model: the median of its matmuls in rounds of steps, in turn with oneDNN."""
    plan, _ = models.compile_plan(model)
    inspected = plans.Inspected(plan)
    rounds = {}
    for _ in range(setting.ROUNDS):
        times = {item["order"]: item["seconds"] for item in plans.timed(plan, steps=1)}
        for shape, seconds in _times_by_shape(inspected, times).items():
            packed = float(setting.run([setting.TOOLS / "ds-bench-matmul", *shape]))
            rounds.setdefault(shape, []).append((statistics.median(seconds), packed))
    rows = []
    for shape, turns in sorted(rounds.items()):
        ours, packed = (statistics.median(turn[side] for turn in turns) for side in (0, 1))
        billions = 2e-9 * shape[0] * shape[1] * shape[2] * shape[3]
        rows.append(_row("%s matmul %dx %dx%dx%d" % (model, *shape), ours, billions / ours, billions / packed, 0.95,
                         "GFLOP/s"))
    return rows


def _limited_row(name, measure, limit, work, bar, unit):
    """What `measure` returns the seconds of, in turn with a limit of the machine; both do `work` billions of a unit."""
    turns = [(measure(), limits.measure_one(limit) / 1e9) for _ in range(setting.ROUNDS)]
    seconds, best = (statistics.median(turn[side] for turn in turns) for side in (0, 1))
    return _row(name, seconds, work / seconds, best, bar, unit)


def _chain_row(name, mebibytes, plan, moved, counts=lambda instruction: True):
    """The instructions of which `counts` says so, by their names."""
    return _limited_row("%s, %d MiB" % (name, mebibytes), lambda: sum(
        item["seconds"] for item in plans.timed(plan, CHAIN_STEPS) if counts(item["name"])), "copy_%d" % mebibytes, moved / 1e9,
        0.75, "GB/s")


def _training_config(samples):
    config = setting.CACHE / "training.json"
    config.write_text(json.dumps({"train_batch_size": samples, "optimizer": {"type": "AdamW", "params": {"lr": 1e-3}}}))
    return config


def _training_row(name, mebibytes, write, counts):
    """A chain of which training has the gradient."""
    model = setting.CACHE / "chain.onnx"
    moved = write(model, mebibytes)
    plan = plans.compile_model(model, "--config", _training_config(chains.rows_of(mebibytes)))
    return _chain_row(name, mebibytes, plan, moved, counts)


def _chains():
    rows = []
    for mebibytes in CHAIN_MEBIBYTES:
        for name in chains.ALL:
            model = setting.CACHE / "chain.onnx"
            moved = chains.write(model, name, mebibytes)
            rows.append(_chain_row(name, mebibytes, plans.compile_model(model, "--infer"), moved))
        rows.append(_training_row("cross entropy and gradient", mebibytes, chains.write_loss,
                                  lambda instruction: "logits" not in instruction))  # not the update of the logits
        rows.append(_training_row("embedding gradient", mebibytes, chains.write_embedding,
                                  lambda instruction: "scatter_add" in instruction))
    return rows


def _optimizer():
    """All kernels of a step that update states of the optimizer: 28 bytes per parameter."""
    rows = []
    for model in models.SHAPES:
        plan, _ = models.compile_plan(model)
        inspected = plans.Inspected(plan)
        states, size = inspected.state_buffers()
        orders = {order for order, call in inspected.operations("KernelCall").items() if states & set(call["buffers"])}
        rows.append(_limited_row("AdamW of %s" % model, lambda: sum(
            item["seconds"] for item in plans.timed(plan, steps=1) if item["order"] in orders), "adamw_parameters", size / 4e9,
            0.85, "G parameters/s"))
    return rows


def _attention_seconds(plan):
    """Seconds of the instructions of the forward pass, and of the backward pass."""
    ahead = back = 0
    for item in plans.timed(plan, steps=2):
        if "attention" in item["name"]:
            if "_grad" in item["name"]:
                back += item["seconds"]
            else:
                ahead += item["seconds"]
    return ahead, back


def _attention():
    peer = [setting.peer_python(), setting.ROOT / "benchmark" / "peer" / "attention.py", setting.CORES, HEADS, WIDTH]
    rows = []
    with Server(peer, env=setting.peer_environment()) as torch:
        for sequence in SEQUENCES:
            model = setting.CACHE / "attention.onnx"
            chains.write_attention(model, sequence, HEADS, WIDTH)
            plan = plans.compile_model(model, "--config", _training_config(1))
            turns = [(_attention_seconds(plan), torch.ask(str(sequence))) for _ in range(setting.ROUNDS)]
            pair_flops = HEADS * WIDTH * sequence * sequence  # causal: half of the pairs, 2 operations, twice
            for side, (label, key, work) in enumerate((("forward", "forward", 2), ("backward", "backward", 5))):
                ours = statistics.median(turn[0][side] for turn in turns)
                theirs = statistics.median(turn[1][key] for turn in turns)
                rate = 1e-9 * work * pair_flops
                rows.append(_row("attention %s, %d" % (label, sequence), ours, rate / ours, rate / theirs, 1.5, "GFLOP/s"))
    return rows


PARTS = {"matmuls-" + model: lambda model=model: _matmul_rows(model) for model in models.SHAPES}
PARTS.update({"chains": _chains, "optimizer": _optimizer, "attention": _attention})


def finish(rows, _):
    for row in rows:
        row["of_best"] = row["rate"] / row["best"]
        row["reached"] = row["of_best"] / row["bar"]


def notes(rows):
    missed = [row["name"] for row in rows if row["reached"] < 1]
    return ["below their bar: %s" % ("; ".join(missed) or "none")]
