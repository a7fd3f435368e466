# SPDX-FileCopyrightText: The ds-mlir authors
# SPDX-License-Identifier: Apache-2.0
"""A constant that doubles 22 times and is then negated 80 times, more than is computed at import, and added to an input:

    many_constants.py make FOLDER
    many_constants.py check FOLDER
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "Inputs"))
import onnx_model as onnx
import tensors

DOUBLINGS, NEGATIONS = 22, 80


def make(folder):
    names = ["c%d" % i for i in range(1 + DOUBLINGS + NEGATIONS)]
    nodes = [onnx.node("Constant", [], names[:1], value_floats=[1.0, 2.0])]
    for i, (source, target) in enumerate(zip(names, names[1:])):
        nodes.append(onnx.node("Concat", [source] * 2, [target], axis=0) if i < DOUBLINGS else onnx.node("Neg", [source], [target]))
    nodes += [onnx.node("ReduceMax", names[-1:], ["most"], keepdims=0), onnx.node("Add", ["x", "most"], ["y"])]
    model = onnx.model(nodes, [onnx.value("x", [2])], [onnx.value("y", [2])])
    (folder / "model.onnx").write_bytes(model)
    tensors.write_npy(folder / "data" / "x.npy", tensors.Tensor((1, 2), [0.5, -3.0]))


def check(folder):
    got = list(tensors.read_npy(folder / "out" / "y.npy").values)
    if got != [2.5, -1.0]:
        sys.exit("must be [2.5, -1.0], got %s" % got)


if __name__ == "__main__":
    {"make": make, "check": check}[sys.argv[1]](pathlib.Path(sys.argv[2]))
