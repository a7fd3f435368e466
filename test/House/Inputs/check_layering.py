#!/usr/bin/env python3
# SPDX-FileCopyrightText: The ds-mlir authors
# SPDX-License-Identifier: Apache-2.0
"""check_layering.py SOURCE_DIR: checks that each library includes only what it may use. Prints each fault, exit code 1
if there is one."""

import pathlib
import re
import sys

MLIR = {"mlir", "llvm", "lld"}
# Library -> the libraries of this project it may include (itself is always allowed), and whether it may include MLIR.
ALLOWED = {
    "Files": (set(), False),
    "Layout": (set(), False),
    "Config": ({"Files"}, False),
    "Plan": ({"Files", "Layout"}, False),
    "Runtime": ({"Files", "Plan", "Layout"}, False),
    "Passes/Solvers": ({"Plan", "Layout"}, False),
    "Dialect": ({"Layout"}, True),
    "Analysis": ({"Config", "Dialect", "Layout"}, True),
    "Import": ({"Files", "Dialect"}, True),
    "Interpreter": ({"Files", "Dialect", "Layout"}, True),
    "Passes": ({"Analysis", "Dialect", "Config", "Import", "Layout", "Passes/Solvers"}, True),
    "Codegen": ({"Files", "Analysis", "Dialect", "Plan", "Layout"}, True),
    "Driver": ({"Analysis", "Codegen", "Config", "Dialect", "Files", "Import", "Interpreter", "Layout", "Passes", "Plan", "Runtime"},
               True),
    "tools/ds-run": ({"Files", "Runtime", "Plan", "Config"}, False),
}
INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]', re.MULTILINE)


def library_of(path):
    """The library that a path below lib/ or include/ds/ belongs to."""
    return "Passes/Solvers" if path.startswith("Passes/Solvers/") else path.split("/")[0]


def sources(root):
    """Pairs of library and file, headers and tools included."""
    for folder in ("lib", "include/ds"):
        base = root / folder
        for path in sorted(base.rglob("*")):
            if path.suffix in (".h", ".cpp", ".c") and path.parent != base:
                yield library_of(str(path.relative_to(base))), path
    for path in sorted((root / "tools/ds-run").glob("*")):
        yield "tools/ds-run", path


def fault_of(library, include):
    """What is wrong with an include, or None."""
    ours, mayUseMlir = ALLOWED[library]
    if include.split("/")[0] in MLIR and not mayUseMlir:
        return "must not need MLIR or LLVM"
    if not include.startswith("ds/"):
        return None
    other = library_of(include[len("ds/"):])
    return None if other == library or other in ours else f"must not include {other}"


def main(root):
    faults, files = [], 0
    for library, path in sources(root):
        files += 1
        if library not in ALLOWED:
            faults.append(f"{path}: library {library} must be listed in {pathlib.Path(__file__).name}")
            continue
        for include in INCLUDE.findall(path.read_text()):
            fault = fault_of(library, include)
            if fault:
                faults.append(f"{path}: {library} {fault}, got {include}")
    print("\n".join(faults or [f"{files} files obey the layering"]))
    return 1 if faults or not files else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
