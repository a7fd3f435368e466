"""Reads a one-dimensional .npy file of f32 or f64."""

import ast
import struct


def read(path):
    with open(path, "rb") as file:
        data = file.read()
    start = 10 + struct.unpack("<H", data[8:10])[0]
    header = ast.literal_eval(data[10:start].decode())
    count, = header["shape"]
    return list(struct.unpack("<%d%s" % (count, {"<f4": "f", "<f8": "d"}[header["descr"]]), data[start:]))
