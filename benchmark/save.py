# SPDX-FileCopyrightText: The ds-mlir authors
# SPDX-License-Identifier: Apache-2.0
"""Saving a model against what the disk takes by direct writes, in the folder of the results."""
import json
import statistics

import setting

MEBIBYTES = 1024
BAR = 0.85

COLUMNS = [("file", "name", "%s"), ("save GB/s", "save", "%.2f"), ("disk GB/s", "disk", "%.2f"), ("of disk", "of_disk", "%.2f")]
CHART = {"title": "Saving: share of the disk's bandwidth by direct writes", "value": "of_disk", "bar": BAR}


def _measure():
    command = [setting.TOOLS / "ds-bench-save", setting.RESULTS, str(MEBIBYTES), str(setting.ROUNDS)]
    found = json.loads(setting.run(command))
    rate = {key: found["bytes"] / statistics.median(found[key]) / 1e9 for key in ("save", "direct")}
    share = statistics.median(direct / save for direct, save in zip(found["direct"], found["save"]))
    return [{"name": "weights of %d MiB, 1 rank" % MEBIBYTES, "save": rate["save"], "disk": rate["direct"], "of_disk": share,
             "rounds": found}]


PARTS = {"weights": _measure}


def finish(rows, _):
    """Rows have their own bound."""


def notes(rows):
    short = [row["name"] for row in rows if row["of_disk"] < BAR]
    return ["bar: %.2f of the disk's bandwidth, the best of 2, 4 and 8 threads with blocks of 4 MiB in the same round; both are flushed" % BAR,
            "below the bar: %s" % ("; ".join(short) or "none")]
