# SPDX-FileCopyrightText: The ds-mlir authors
# SPDX-License-Identifier: Apache-2.0
"""Reads and writes .npy and .safetensors files with Python's own library: a Tensor is a shape and a flat array."""

import array
import ast
import json
import operator
import pathlib
import struct

# By type name: the code of `array` (of the same size on every 64-bit Linux), of .npy and of .safetensors.
CODES = {
    "f32": ("f", "<f4", "F32"),
    "f64": ("d", "<f8", "F64"),
    "i8": ("b", "|i1", "I8"),
    "i16": ("h", "<i2", "I16"),
    "i32": ("i", "<i4", "I32"),
    "i64": ("q", "<i8", "I64"),
    "u8": ("B", "|u1", "U8"),
    "u16": ("H", "<u2", "U16"),
    "u32": ("I", "<u4", "U32"),
}


class Tensor:
    """`values` is an array.array of prod(shape) entries, row-major."""

    def __init__(self, shape, values, dtype="f32"):
        self.shape = tuple(shape)
        self.dtype = dtype
        self.values = values if isinstance(values, array.array) else array.array(CODES[dtype][0], values)
        count = 1
        for size in self.shape:
            count *= size
        if count != len(self.values):
            raise ValueError("shape %s must have %d entries, got %d" % (list(self.shape), count, len(self.values)))

    def first(self):
        """The first entry along dim 0."""
        count = len(self.values) // self.shape[0]
        return Tensor(self.shape[1:], self.values[:count], self.dtype)

    def largest(self):
        return max(map(abs, self.values), default=0)


def largest_difference(left, right):
    """Of two flat sequences; NaN and infinities count as infinitely far."""
    if len(left) != len(right):
        raise ValueError("must have the same number of entries, got %d and %d" % (len(left), len(right)))
    largest = 0.0
    for difference in map(abs, map(operator.sub, left, right)):
        if not difference <= largest:
            largest = difference if difference == difference else float("inf")
    return largest


def _dtype_of(code, column):
    for dtype, codes in CODES.items():
        if codes[column] == code:
            return dtype
    raise ValueError("has the unknown type " + code)


def read_npy(path):
    data = pathlib.Path(path).read_bytes()
    if data[:6] != b"\x93NUMPY":
        raise ValueError("%s: is not a .npy file" % path)
    form, start = ("<H", 10) if data[6] == 1 else ("<I", 12)
    end = start + struct.unpack_from(form, data, 8)[0]
    header = ast.literal_eval(data[start:end].decode("latin1"))
    if header["fortran_order"]:
        raise ValueError("%s: must be row-major" % path)
    dtype = _dtype_of(header["descr"], 1)
    return Tensor(header["shape"], array.array(CODES[dtype][0], data[end:]), dtype)


def write_npy(path, tensor):
    shape = "".join("%d, " % size for size in tensor.shape)
    header = "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }" % (CODES[tensor.dtype][1], shape)
    header += " " * (-(len(header) + 11) % 64) + "\n"
    start = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode()
    pathlib.Path(path).write_bytes(start + tensor.values.tobytes())


def read_safetensors(path):
    """By name."""
    data = pathlib.Path(path).read_bytes()
    start = 8 + struct.unpack_from("<Q", data)[0]
    tensors = {}
    for name, entry in json.loads(data[8:start]).items():
        if name == "__metadata__":
            continue
        dtype = _dtype_of(entry["dtype"], 2)
        begin, end = entry["data_offsets"]
        tensors[name] = Tensor(entry["shape"], array.array(CODES[dtype][0], data[start + begin : start + end]), dtype)
    return tensors


def write_safetensors(path, tensors):
    header, chunks, at = {}, [], 0
    for name, tensor in tensors.items():
        chunks.append(tensor.values.tobytes())
        offsets = [at, at + len(chunks[-1])]
        header[name] = {"dtype": CODES[tensor.dtype][2], "shape": list(tensor.shape), "data_offsets": offsets}
        at += len(chunks[-1])
    text = json.dumps(header).encode()
    pathlib.Path(path).write_bytes(struct.pack("<Q", len(text)) + text + b"".join(chunks))
