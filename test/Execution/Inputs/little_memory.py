# SPDX-FileCopyrightText: The ds-mlir authors
# SPDX-License-Identifier: Apache-2.0
"""Trains with less and less address space: little_memory.py WORK_FOLDER. It works, or ends with exit code 2 and a message
about memory; never with a bare signal."""

import pathlib
import resource
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import make_classifier

COMMAND = ["ds-run", "train", "p.dsplan", "--model-folder", ".", "--data", "data", "--quiet", "--threads", "2"]
NOT_LOADED = 127  # by the dynamic loader, before main
MEGABYTE = 1 << 20


def run(folder, limit):
    def restrict():
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

    return subprocess.run(COMMAND, cwd=folder, preexec_fn=restrict, capture_output=True, text=True, timeout=120)


def main(folder):
    make_classifier.make(folder, 64, [256, 512, 64])
    compiled = ["ds-compile", "model.onnx", "--config", "ds_config.json", "--ranks", "2", "-o", "p.dsplan", "--quiet"]
    subprocess.run(compiled, cwd=folder, check=True)
    if run(folder, 1024 * MEGABYTE).returncode != 0:
        print("skipped: these programs need more address space (sanitizers do)")
        return
    refusals = 0
    for megabytes in range(200, 20, -6):
        answer = run(folder, megabytes * MEGABYTE)
        if answer.returncode in (0, NOT_LOADED):
            continue
        if answer.returncode != 2 or "memory" not in answer.stderr:
            raise RuntimeError("with %d MB: must speak of memory, got exit code %d and %r" % (megabytes, answer.returncode, answer.stderr))
        refusals += 1
    if refusals < 3:
        raise RuntimeError("some of the limits must be too tight, got %d refusals" % refusals)
    print("%d refusals: ok" % refusals)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
