#!/usr/bin/env python3
# SPDX-FileCopyrightText: The ds-mlir authors
# SPDX-License-Identifier: Apache-2.0
"""check_names.py names|tests|tree SOURCE_DIR: one check of the house style. Prints each fault, exit code 1 if there is one.

names  a pass has one name in its flag, record and file; an op in its record and mnemonic; no file is called Utils or the
       like; all sources carry the license lines
tests  each pass has a test of its name
tree   the folder tree in docs/overview.md is the one on disk
"""

import pathlib
import re
import sys

PASS = re.compile(r'^def (\w+)Pass : \w+<"([\w-]+)"', re.MULTILINE)
OP = re.compile(r'^def Ds_(\w+)Op : \w+<"(\w+)"', re.MULTILINE)
BANNED = re.compile(r"(^|[a-z_-])(utils?|helpers?|misc|common)[0-9]*\.", re.IGNORECASE)
LICENSE = "SPDX-License-Identifier: Apache-2.0"


def lower_words(camel, separator):
    return re.sub(r"(?<!^)(?=[A-Z])", separator, camel).lower()


def passes(root):
    """Pairs of the record's name without "Pass", and the flag."""
    for path in sorted((root / "include/ds").glob("*/*Passes.td")):
        yield from PASS.findall(path.read_text())


def pass_name_faults(root):
    for name, flag in passes(root):
        if flag != "ds-" + lower_words(name, "-"):
            yield f"pass {name}Pass must have the flag ds-{lower_words(name, '-')}, got {flag}"
        files = [path for folder in ("Passes", "Codegen") for path in (root / "lib" / folder).rglob(name + ".cpp")]
        if len(files) != 1:
            yield f"pass {flag} must be in one file {name}.cpp, got {len(files)}"
        elif f"GEN_PASS_DEF_{name.upper()}PASS" not in files[0].read_text():
            yield f"{files[0]}: must define {name}Pass"


def op_name_faults(root):
    for path in sorted((root / "include/ds/Dialect").glob("*.td")):
        for name, mnemonic in OP.findall(path.read_text()):
            if mnemonic != lower_words(name, "_"):
                yield f"{path}: op Ds_{name}Op must be called {lower_words(name, '_')}, got {mnemonic}"


def file_faults(root):
    for folder in ("include", "lib", "tools", "test", "cmake", "demo"):
        for path in sorted((root / folder).rglob("*")):
            if BANNED.search(path.name):
                yield f"{path}: the name must say what is in the file"
            if path.suffix in (".h", ".cpp", ".c", ".td", ".fbs") and LICENSE not in path.read_text()[:400]:
                yield f"{path}: must begin with the two license lines"


def name_faults(root):
    yield from pass_name_faults(root)
    yield from op_name_faults(root)
    yield from file_faults(root)


def test_faults(root):
    for name, flag in passes(root):
        expected = flag[len("ds-"):] + ".mlir"
        if not list((root / "test").rglob(expected)):
            yield f"pass {flag} has no test {expected}"


def tree_faults(root):
    """The tree lists folders as lines `  lib/Import/   what it is`; all of include/, lib/, tools/ two levels deep."""
    text = (root / "docs/overview.md").read_text()
    listed = set(re.findall(r"^ {4}([\w./-]+)/(?: |$)", text, re.MULTILINE))
    for folder in sorted(listed):
        if not (root / folder).is_dir():
            yield f"docs/overview.md: lists {folder}/, which does not exist"
    for parent in ("lib", "tools"):
        for path in sorted((root / parent).iterdir()):
            if path.is_dir() and f"{parent}/{path.name}" not in listed:
                yield f"docs/overview.md: must list {parent}/{path.name}/"


def main(check, root):
    faults = list({"names": name_faults, "tests": test_faults, "tree": tree_faults}[check](pathlib.Path(root)))
    print("\n".join(faults or [f"{check}: ok"]))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
