#!/usr/bin/env python3
# SPDX-FileCopyrightText: The ds-mlir authors
# SPDX-License-Identifier: Apache-2.0
"""compare_losses.py LOG.jsonl LOSSES.npy: the losses of a run beside those of PyTorch. Exit code 1 if they differ by
more than 1e-5 of the loss in some step, or if the run has fewer steps."""

import ast
import json
import struct
import sys

BOUND = 1e-5


def read_float64(path):
    """The numbers of a one-dimensional .npy file of little-endian float64."""
    with open(path, "rb") as file:
        data = file.read()
    (length,) = struct.unpack_from("<H", data, 8)
    header = ast.literal_eval(data[10 : 10 + length].decode())
    (count,) = header["shape"]
    if header["descr"] != "<f8":
        raise SystemExit(f"{path}: must hold float64, got {header['descr']}")
    return struct.unpack_from(f"<{count}d", data, 10 + length)


def main(log, losses):
    expected = read_float64(losses)
    with open(log) as file:
        found = [json.loads(line)["loss"] for line in file]
    print(f"{'step':>6} {'ds-mlir':>12} {'PyTorch':>12} {'difference':>12}")
    for step, (ours, theirs) in enumerate(zip(found, expected)):
        print(f"{step:>6} {ours:>12.6f} {theirs:>12.6f} {abs(ours - theirs) / theirs:>12.1e}")
    worst = max(abs(ours - theirs) / theirs for ours, theirs in zip(found, expected))
    is_same = len(found) == len(expected) and worst <= BOUND
    print(f"\n{len(found)} of {len(expected)} steps, largest relative difference {worst:.1e}, allowed {BOUND:.0e}:",
          "same losses" if is_same else "DIFFERENT")
    return 0 if is_same else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
