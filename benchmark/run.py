#!/usr/bin/env python3
# SPDX-FileCopyrightText: The ds-mlir authors
# SPDX-License-Identifier: Apache-2.0
"""Measures ds-mlir beside its peers and beside the limits of the machine, all in one run.

    benchmark/run.py [step|kernels|collectives|compile|save|predict [NAME ...]]     all suites without an argument

NAME is a part of a suite (docs/performance.md lists them). Each part prints its table and replaces what build-release/benchmark/SUITE.json
had of it; then docs/performance.md and docs/performance-SUITE.svg are brought up to date.

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

SUITES = {"step": "step", "kernels": "kernels", "collectives": "collectives", "compile": "compiling", "save": "save",
          "predict": "predict"}  # name: module


def run_part(suite, command, part):
    """Measures a part of a suite between two measurements of the limits."""
    print("%s: %s" % (command, part), flush=True)
    result = setting.describe(command, part)
    before = limits.measure()
    result["rows"] = suite.PARTS[part]()
    result["limits"] = limits.join(before, limits.measure())
    suite.finish(result["rows"], result["limits"])
    return result


def run_suite(name, parts):
    """Runs parts of a suite and reports it with the last results of the others."""
    suite = importlib.import_module(SUITES[name])
    for part in parts:
        if part not in suite.PARTS:
            setting.fail("part of %s must be one of %s, got %s" % (name, ", ".join(suite.PARTS), part))
    path = setting.RESULTS / (name + ".json")
    results = json.loads(path.read_text()) if path.exists() else {}
    setting.RESULTS.mkdir(parents=True, exist_ok=True)
    for part in parts or suite.PARTS:
        results[part] = run_part(suite, name, part)
        path.write_text(json.dumps(results, indent=1) + "\n")
        print("\n" + table.text(suite.COLUMNS, results[part]["rows"]) + "\n", flush=True)
    page.update(name, suite, results)


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
