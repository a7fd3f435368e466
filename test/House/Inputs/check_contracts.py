#!/usr/bin/env python3
# SPDX-FileCopyrightText: The ds-mlir authors
# SPDX-License-Identifier: Apache-2.0
"""check_contracts.py labels|examples SOURCE_DIR: what the records of ops and passes promise. Prints each fault, exit code 1 if
there is one.

labels    the constraints C1, C2, ... in the description of an op are those of the cases in test/Dialect/<op>-invalid.mlir, each of
          which stands below a comment with its label
examples  each op and each pass has an example
"""

import pathlib
import re
import sys

RECORD = re.compile(r'^def (?:Ds_)?\w+(?:Op|Pass) : \w+<"([\w-]+)".*?^}', re.MULTILINE | re.DOTALL)
LABEL = re.compile(r"^ *- (C\d+): ", re.MULTILINE)
CASE_LABEL = re.compile(r"^ *// (C\d+)$", re.MULTILINE)


def records(root, pattern):
    for path in sorted((root / "include/ds").glob(pattern)):
        for record in RECORD.finditer(path.read_text()):
            yield path, record[1], record[0]


def example_faults(root):
    for pattern in ("Dialect/Ds*Ops.td", "*/*Passes.td"):
        for path, name, record in records(root, pattern):
            if "```mlir" not in record:
                yield f"{path}: {name} must have an example"


def case_faults(path):
    """Each case of the file, up to the next error that is expected, has one label."""
    text = path.read_text()
    errors, labels = text.count("expected-error"), len(CASE_LABEL.findall(text))
    if errors != labels:
        yield f"{path}: must have a label for each of its {errors} errors, got {labels}"


def label_faults(root):
    ops = set()
    for path, name, record in records(root, "Dialect/Ds*Ops.td"):
        ops.add(name)
        test = root / f"test/Dialect/{name}-invalid.mlir"
        labels = LABEL.findall(record)
        if labels != [f"C{number}" for number in range(1, len(labels) + 1)]:
            yield f"{path}: {name} must number its constraints from C1, got {', '.join(labels)}"
        tested = set(CASE_LABEL.findall(test.read_text())) if test.exists() else set()
        for label in sorted(set(labels) ^ tested):
            where = f"{test} has no case" if label in labels else f"{path} has no constraint"
            yield f"{name}: {where} for {label}"
    for name in sorted(ops):
        test = root / f"test/Dialect/{name}-invalid.mlir"
        if test.exists():
            yield from case_faults(test)


def main(check, root):
    faults = list({"labels": label_faults, "examples": example_faults}[check](pathlib.Path(root)))
    print("\n".join(faults or [f"{check}: ok"]))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
