# SPDX-FileCopyrightText: The ds-mlir authors
# SPDX-License-Identifier: Apache-2.0
"""Damages all files of a folder: flips a byte in one, cuts the next, empties the one after it."""

import pathlib
import sys

for number, path in enumerate(sorted(pathlib.Path(sys.argv[1]).iterdir())):
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes((data, data[: len(data) // 2], b"")[number % 3])
