#!/usr/bin/env python3
# SPDX-FileCopyrightText: The ds-mlir authors
# SPDX-License-Identifier: Apache-2.0
"""check_example.py PAGE SOURCE_DIR: the commands on a page still work, and print the lines that stand below them.

A command is a line of an indented block that begins with "$ "; the lines up to the next command or the block's end are an
excerpt of what it prints, in this order. "..." stands for anything. Numbers of values, buffers and kernels and predicted
times are not compared, as they change with every pass. The commands run in one shell, in a folder with a copy of demo/.
Prints each line that is missing, exit code 1 if there is one.
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

VOLATILE = [
    (r"%[\w.]+(:\d+)?(#\d+)?", "%"),  # values
    (r"#\d+", "#"),  # buffers
    (r"\b(waits|signals|id) [\d, ]+", r"\1 # "),
    (r"^\d+ +\d+\.\d+ ms", "# ms"),  # order and time of an instruction
    (r"ds_kernel_[0-9a-f]+", "ds_kernel_#"),
    (r"\s+", " "),
]
END_OF_OUTPUT = "-- end of output --"


def stable(line):
    line = line.strip()
    for pattern, replacement in VOLATILE:
        line = re.sub(pattern, replacement, line)
    return line.strip()


def examples(text):
    """Pairs of a command and the lines below it."""
    found = []
    for line in text.splitlines():
        if not line.startswith("    "):
            is_open = False
        elif line.startswith("    $ "):
            found.append((line[6:], []))
            is_open = True
        elif is_open:
            found[-1][1].append(line)
    return found


def outputs(commands, source):
    script = "".join(f"{command}\necho '{END_OF_OUTPUT}'\n" for command in commands)
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(source / "demo", pathlib.Path(folder) / "demo")
        (pathlib.Path(folder) / "build").mkdir()
        run = subprocess.run(["bash", "-e", "-c", script], cwd=folder, capture_output=True, text=True, errors="replace")
    if run.returncode != 0:
        sys.exit(f"a command failed with exit code {run.returncode}: {run.stderr}")
    return run.stdout.split(END_OF_OUTPUT + "\n")


def missing_lines(expected, output):
    """The lines of `expected` that `output` lacks, each searched behind the one before it."""
    rest = [stable(line) for line in output.splitlines()]
    for line in expected:
        # "..." may stand for text that holds a whole number or name, so it is set aside before these are replaced.
        parts = [re.escape(part) for part in stable(line.replace("...", "\0")).split("\0")]
        pattern = re.compile(r" ?.*".join(part.rstrip("\\ ") if i + 1 < len(parts) else part for i, part in enumerate(parts)))
        place = next((i for i, candidate in enumerate(rest) if pattern.fullmatch(candidate)), None)
        if place is None:
            yield line.strip()
        else:
            rest = rest[place + 1:]


def main(page, source):
    found = examples(pathlib.Path(page).read_text())
    if not found:
        sys.exit(f"{page}: has no command")
    faults = []
    for (command, expected), output in zip(found, outputs([command for command, _ in found], pathlib.Path(source))):
        faults += [f"{page}: `{command}` must print: {line}" for line in missing_lines(expected, output)]
    print("\n".join(faults or [f"{len(found)} commands: ok"]))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
