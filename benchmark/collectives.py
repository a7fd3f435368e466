# SPDX-FileCopyrightText: The ds-mlir authors
# SPDX-License-Identifier: Apache-2.0
"""Collectives between processes against loops over shared memory and gloo, and ZeRO-3 on two ranks against one rank."""
import json
import statistics
import subprocess

import models
import setting

KINDS = ("AllGather", "ReduceScatter", "AllReduce", "AllToAll")
SIZES = tuple(1 << power for power in (10, 14, 18, 20, 24, 28))  # bytes of the whole tensor
RANKS = (2, 4)
ZERO_MODEL = "gpt2-mid"
ZERO_STEPS, WARM_STEPS = 4, 2

COLUMNS = [("collective", "name", "%s"), ("ds-mlir us", "ours_us", "%.1f"), ("bound us", "bound_us", "%.1f"),
           ("of bound", "of_bound", "%.2f"), ("gloo us", "gloo_us", "%.1f"), ("over gloo", "over_gloo", "%.1fx")]
CHART = {"title": "Collectives: share of what loops over shared memory reach", "value": "of_bound", "bar": 0.7}


class Server:
    """A program that answers a line with a line of JSON."""

    def __init__(self, command, **options):
        self.process = subprocess.Popen([str(part) for part in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, **options)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            setting.fail("%s ended early; its message is above" % self.process.args[0])
        return json.loads(answer)


def _servers(ranks):
    gloo = [setting.peer_python(), setting.ROOT / "benchmark" / "peer" / "gloo.py", ranks]
    return Server([setting.TOOLS / "ds-bench-collectives", ranks]), Server(gloo, env=setting.peer_environment())


def _size_name(size):
    return "%d KiB" % (size >> 10) if size < 1 << 20 else "%d MiB" % (size >> 20)


def _row(name, size, rounds):
    median = {key: statistics.median(turn[key] for turn in rounds) for key in ("ours", "bound", "gloo")}
    return {"name": name, "bytes": size, "ours_us": 1e6 * median["ours"], "bound_us": 1e6 * median["bound"],
            "gloo_us": 1e6 * median["gloo"],
            "of_bound": statistics.median(turn["bound"] / turn["ours"] for turn in rounds),
            "over_gloo": statistics.median(turn["gloo"] / turn["ours"] for turn in rounds), "rounds": rounds}


def _measure_ranks(ranks):
    """The rounds go through all sizes, so that a slow minute of the machine does not fall on one of them."""
    rounds = {}
    ours, gloo = _servers(ranks)
    with ours, gloo:
        for number in range(setting.ROUNDS):
            print("collectives, %d ranks, round %d" % (ranks, number + 1), flush=True)
            for kind in KINDS:
                for size in SIZES:
                    line = "%s %d" % (kind, size)
                    turn = ours.ask(line)
                    turn["bound"] = min(turn["plain"], turn["streamed"])
                    turn["gloo"] = gloo.ask(line)["seconds"]
                    rounds.setdefault((kind, size), []).append(turn)
    return [_row("%s, %d ranks, %s" % (kind, ranks, _size_name(size)), size, turns)
            for (kind, size), turns in rounds.items()]


def _seconds(plan, threads):
    records, _ = models.train(ZERO_MODEL, plan, WARM_STEPS + ZERO_STEPS, threads)
    return statistics.median(record["seconds"] for record in records[WARM_STEPS:])


def _measure_zero():
    """ZeRO-3 on two ranks with a thread each, beside one rank with two threads: the same batch on the same cores."""
    one, two = (models.compile_plan(ZERO_MODEL, ranks)[0] for ranks in (1, 2))
    rounds = []
    for number in range(setting.ROUNDS):
        rounds.append({"one": _seconds(one, 2), "two": _seconds(two, 1)})
        print("ZeRO-3, round %d: one rank %.3f s, two ranks %.3f s" % (number + 1, rounds[-1]["one"],
                                                                      rounds[-1]["two"]), flush=True)
    return {"name": "step of %s, ZeRO-3, 2 ranks" % ZERO_MODEL, "rounds": rounds,
            "ours_us": 1e6 * statistics.median(turn["two"] for turn in rounds),
            "bound_us": 1e6 * statistics.median(turn["one"] for turn in rounds),
            "of_bound": statistics.median(turn["one"] / turn["two"] for turn in rounds)}


PARTS = {"2": lambda: _measure_ranks(2), "4": lambda: _measure_ranks(4), "zero": lambda: [_measure_zero()]}


def finish(rows, _):
    """Rows have their own bound."""


def _gloo_bar(size):
    return 10 if size >= 1 << 20 else 50 if size <= 1 << 14 else 0


def notes(rows):
    short = [row["name"] for row in rows if row["of_bound"] < (0.7 if "gloo_us" in row else 1 / 1.1)]
    near = [row["name"] for row in rows if "gloo_us" in row and row["over_gloo"] < _gloo_bar(row["bytes"])]
    return ["bars: 0.7 of the bound; 10x gloo from 1 MiB, 50x below 16 KiB; two ranks at most 1.10 of one rank's time",
            "below their bar of the bound: %s" % ("; ".join(short) or "none"),
            "below their bar over gloo: %s" % ("; ".join(near) or "none")]
