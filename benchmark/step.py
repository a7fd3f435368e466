# SPDX-FileCopyrightText: The ds-mlir authors
# SPDX-License-Identifier: Apache-2.0
"""Whole training steps against PyTorch, eager and compiled, in turns."""
import contextlib
import json
import math
import statistics
import subprocess

import limits
import models
import setting

MODES = ("eager", "compile", "eager-sdpa", "compile-sdpa")
WARM_STEPS = 1       # of each run of ours, which begins anew
LOSS_STEPS = 10
SECONDS_PER_TURN = 2  # about; at least one step

COLUMNS = [("model", "name", "%s"), ("ds-mlir s", "ours_s", "%.3f"), ("eager s", "eager_s", "%.3f"),
           ("compile s", "compile_s", "%.3f"), ("eager, SDPA s", "eager-sdpa_s", "%.3f"),
           ("compile, SDPA s", "compile-sdpa_s", "%.3f"), ("speedup", "speedup", "%.2fx"), ("worst round", "worst", "%.2fx"),
           ("of FMA peak", "of_peak", "%.0f %%"), ("peak MiB", "ours_mib", "%.0f"), ("of eager's", "memory", "%.2f"),
           ("loss differs", "loss_difference", "%.1e"), ("eager's differs", "eager_difference", "%.1e")]
CHART = {"title": "Training step: speedup over the fastest form of PyTorch", "value": "speedup",
         "bar": 1.0}


class Peer:
    """A PyTorch process that trains when asked to, and waits in between."""

    def __init__(self, model, mode, is_best=True):
        script = setting.ROOT / "benchmark" / "peer" / "steps.py"
        self.process = subprocess.Popen([setting.peer_python(), str(script), model, mode, str(setting.CORES)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env=setting.peer_environment(is_best))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()

    def train(self, steps):
        self.process.stdin.write("%d\n" % steps)
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            setting.fail("PyTorch ended early; its message is above")
        return json.loads(line)


def _reference(model, mode):
    """Losses and memory of PyTorch, as it comes: tuned for speed it keeps more memory than it needs."""
    with Peer(model, mode, is_best=False) as peer:
        return peer.train(LOSS_STEPS)


def _ours(model, plan, steps):
    records, report = models.train(model, plan, WARM_STEPS + steps)
    return statistics.median(record["seconds"] for record in records[WARM_STEPS:]), report


def _turns(model, plan):
    """Seconds per step of each side, one entry per round."""
    times = {side: [] for side in ("ours",) + MODES}
    with contextlib.ExitStack() as stack:
        peers = {mode: stack.enter_context(Peer(model, mode)) for mode in MODES}
        warm = max(statistics.median(peer.train(3)["seconds"]) for peer in peers.values())
        steps = max(1, round(SECONDS_PER_TURN / warm))
        for number in range(setting.ROUNDS):
            times["ours"].append(_ours(model, plan, steps)[0])
            for mode, peer in peers.items():
                times[mode].append(statistics.median(peer.train(steps)["seconds"]))
            print("%s, round %d: %s" % (model, number + 1, ", ".join(
                "%s %.3f s" % (side, values[-1]) for side, values in times.items())), flush=True)
    return times


def _largest_difference(losses, exact):
    return max(abs(loss - right) / abs(right) for loss, right in zip(losses, exact))


def _row(model):
    plan, _ = models.compile_plan(model)
    eager, exact = _reference(model, "eager"), _reference(model, "float64")["losses"]
    records, report = models.train(model, plan, LOSS_STEPS)
    times = _turns(model, plan)
    median = {side: statistics.median(values) for side, values in times.items()}
    ratios = [min(times[mode][i] for mode in MODES) / ours for i, ours in enumerate(times["ours"])]
    ours_bytes = max(rank["resident_peak"] for rank in report["ranks"])
    return {"name": model, **{side + "_s": seconds for side, seconds in median.items()},
            "speedup": min(median[mode] for mode in MODES) / median["ours"], "worst": min(ratios),
            "flops": models.step_flops(model), "ours_mib": ours_bytes / 2**20,
            "memory": ours_bytes / eager["peak_bytes"],
            "loss_difference": _largest_difference([record["loss"] for record in records], exact),
            "eager_difference": _largest_difference(eager["losses"], exact), "rounds": times}


PARTS = {model: lambda model=model: [_row(model)] for model in models.SHAPES}


def finish(rows, best):
    for row in rows:
        row["of_peak"] = 100 * row["flops"] / row["ours_s"] / limits.flops(best)


def notes(rows):
    mean = math.exp(statistics.fmean(math.log(row["speedup"]) for row in rows))
    return ["geometric mean of the speedups: %.2fx (bar: 1.3x; each above 1x)" % mean]
