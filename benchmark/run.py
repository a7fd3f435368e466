#!/usr/bin/env python3
# SPDX-FileCopyrightText: The ds-mlir authors
# SPDX-License-Identifier: Apache-2.0
"""Measures ds-mlir beside its peers and beside the limits of the machine, all in one run.

    benchmark/run.py [step|kernels|collectives|compile [NAME ...]]     all suites without an argument

Each suite prints its table, writes build/benchmark/SUITE.json, and, if it was run with all its names, brings its part of
docs/performance.md and docs/performance-SUITE.svg up to date.

DS_PEER_PYTHON  a Python that has torch, numpy, onnx and onnxruntime; peers are never a dependency
DS_ORACLES      the folder of the oracles, for the models (default: ../shared/oracles)
DS_BENCH_CACHE  where exported models are kept (default: ~/.cache/ds-mlir-bench)
DS_BENCH_ROUNDS turns of each side (default: 7)
"""
import importlib
import json
import sys

import limits
import page
import setting
import table

SUITES = {"step": "step", "kernels": "kernels", "collectives": "collectives", "compile": "compiling"}  # name: module


def run_suite(name, names):
    """Measures one suite between two measurements of the limits, and reports it."""
    suite = importlib.import_module(SUITES[name])
    result = setting.describe([name] + names)
    before = limits.measure()
    result["rows"] = suite.measure(names)
    result["limits"] = limits.join(before, limits.measure())
    result["notes"] = suite.finish(result["rows"], result["limits"])
    if not result["limits"]["is_steady"]:
        result["notes"].append("not steady: a limit of the machine moved by %.0f %% during the run"
                               % (100 * result["limits"]["drift"]))
    setting.RESULTS.mkdir(parents=True, exist_ok=True)
    (setting.RESULTS / (name + ".json")).write_text(json.dumps(result, indent=1) + "\n")
    print("\n" + table.text(suite.COLUMNS, result["rows"]))
    print("\n".join(result["notes"]) + "\n", flush=True)
    if not names:
        page.update(name, suite, result)


def main():
    arguments = sys.argv[1:]
    if arguments[:1] in (["-h"], ["--help"]):
        print(__doc__)
        return
    if arguments and arguments[0] not in SUITES:
        setting.fail("suite must be one of %s, got %s" % (", ".join(SUITES), arguments[0]))
    setting.pin()
    for name in arguments[:1] or SUITES:
        run_suite(name, arguments[1:])


if __name__ == "__main__":
    main()
