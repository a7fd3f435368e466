# SPDX-FileCopyrightText: The ds-mlir authors
# SPDX-License-Identifier: Apache-2.0
"""The limits of the machine, measured before and after each suite."""
import json

import setting

DRIFT = 0.10  # a run in which a limit moved by more is not steady


def measure():
    """One measurement of all limits, in FLOP, bytes and parameters per second."""
    return json.loads(setting.run([setting.TOOLS / "ds-bench-limits"]))


def measure_one(name):
    """One figure, copy_8, copy_128 or adamw_parameters, to stand beside what is measured in turn with it."""
    return float(setting.run([setting.TOOLS / "ds-bench-limits", name]))


def join(before, after):
    """The better of two measurements of each limit, and how far the two differ at most."""
    best = {name: max(before[name], after[name]) for name in before}
    drift = max(abs(before[name] - after[name]) / best[name] for name in best)
    return {"best": best, "drift": drift, "is_steady": drift <= DRIFT}


def flops(limits):
    return limits["best"]["fma_flops_2"]


def copy_rate(limits, mebibytes):
    """The fastest copy of a tensor of that size: each byte read once and written once."""
    best = limits["best"]
    return max(best["copy_%d_streamed" % mebibytes], best["copy_%d_plain" % mebibytes])
