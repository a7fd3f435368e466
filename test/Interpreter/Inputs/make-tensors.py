# SPDX-FileCopyrightText: The ds-mlir authors
# SPDX-License-Identifier: Apache-2.0

"""Writes the tensors of files.mlir into the folder given."""

import json
import pathlib
import struct
import sys


def npy(shape, numbers):
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': (%s), }" % ", ".join(map(str, shape))
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack("<%df" % len(numbers), *numbers)


folder = pathlib.Path(sys.argv[1])
folder.joinpath("x.npy").write_bytes(npy((2, 3), [0, 0, 0, 10, 20, 30]))
folder.joinpath("y.npy").write_bytes(npy((2, 3), [1, 2, 3, 11, 22, 33]))
folder.joinpath("w.bin").write_bytes(struct.pack("<4f", 0, 1, 2, 3))
header = json.dumps({"w": {"dtype": "F32", "shape": [3], "data_offsets": [0, 12]}}).encode()
folder.joinpath("w.safetensors").write_bytes(struct.pack("<Q", len(header)) + header + struct.pack("<3f", 7, 8, 9))
