# SPDX-FileCopyrightText: The ds-mlir authors
# SPDX-License-Identifier: Apache-2.0
"""Rotary embeddings as exporters spell them, with tables of many shapes and halves that fill no vector:

    rotary.py make FOLDER     writes model.onnx and its data
    rotary.py check FOLDER    compares the outputs in FOLDER/out with the definition, in float64
"""

import array
import itertools
import math
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "Inputs"))
import onnx_model as onnx
import tensors

SHAPE = (2, 3, 5, 22)
WIDTH, HALF = SHAPE[-1], SHAPE[-1] // 2
# By output: the shape of the tables, which broadcast to that of x.
TABLES = {
    "rows_alike": (1, WIDTH),
    "positions": (SHAPE[2], WIDTH),
    "heads": (SHAPE[1], 1, WIDTH),
    "samples_and_positions": (SHAPE[0], 1, SHAPE[2], WIDTH),
    "each_row": SHAPE,
    "half_tables": (SHAPE[2], HALF),
}
# Two products of numbers up to 1 and their sum, each rounded to f32.
TOLERANCE = 4 * 2**-24


def spread(shape, start):
    return tensors.Tensor(shape, array.array("f", onnx.spread(math.prod(shape), 1.0, start)))


def inputs():
    return spread(SHAPE, 5)


def table(output, is_sine):
    return spread(TABLES[output], 7 * list(TABLES).index(output) + 3 * is_sine + 1)


def whole_nodes(output):
    """x cos + concat(-x2, x1) sin."""
    names = {name: output + "." + name for name in ("minus", "turned", "straight", "crossed")}
    return [
        onnx.node("Neg", ["x2"], [names["minus"]]),
        onnx.node("Concat", [names["minus"], "x1"], [names["turned"]], axis=-1),
        onnx.node("Mul", ["x", output + ".cosine"], [names["straight"]]),
        onnx.node("Mul", [names["turned"], output + ".sine"], [names["crossed"]]),
        onnx.node("Add", [names["straight"], names["crossed"]], [output]),
    ]


def half_nodes(output):
    """concat(x1 cos - x2 sin, x2 cos + x1 sin)."""
    names = {name: output + "." + name for name in ("a", "b", "c", "d", "y1", "y2")}
    products = (("x1", "cosine", "a"), ("x2", "sine", "b"), ("x2", "cosine", "c"), ("x1", "sine", "d"))
    nodes = [onnx.node("Mul", [x, output + "." + factor], [names[name]]) for x, factor, name in products]
    return nodes + [
        onnx.node("Sub", [names["a"], names["b"]], [names["y1"]]),
        onnx.node("Add", [names["c"], names["d"]], [names["y2"]]),
        onnx.node("Concat", [names["y1"], names["y2"]], [output], axis=-1),
    ]


def make(folder):
    nodes, weights = [onnx.node("Split", ["x"], ["x1", "x2"], axis=-1)], []
    for output, shape in TABLES.items():
        nodes += (half_nodes if shape[-1] == HALF else whole_nodes)(output)
        for is_sine, name in enumerate(("cosine", "sine")):
            values = table(output, is_sine).values.tobytes()
            weights.append(onnx.initializer(output + "." + name, shape, values))
    (folder / "data").mkdir(parents=True, exist_ok=True)
    outputs = [onnx.value(output, SHAPE) for output in TABLES]
    (folder / "model.onnx").write_bytes(onnx.model(nodes, [onnx.value("x", SHAPE)], outputs, weights))
    tensors.write_npy(folder / "data" / "x.npy", tensors.Tensor((1,) + SHAPE, inputs().values))


def entry(tensor, place):
    """That stands at `place` once the tensor is broadcast."""
    offset = 0
    for size, coordinate in zip(tensor.shape, place[len(place) - len(tensor.shape) :]):
        offset = offset * size + coordinate % size
    return tensor.values[offset]


def expected(output):
    x, cosine, sine = inputs(), table(output, False), table(output, True)
    for place in itertools.product(*map(range, SHAPE)):
        column = place[-1]
        other = place[:-1] + ((column + HALF) % WIDTH,)
        turned = entry(x, other) * (-1 if column < HALF else 1)
        yield entry(x, place) * entry(cosine, place) + turned * entry(sine, place)


def check(folder):
    for output in TABLES:
        got = tensors.read_npy(folder / "out" / (output + ".npy")).values
        difference = tensors.largest_difference(got, list(expected(output)))
        if difference > TOLERANCE:
            sys.exit("%s: must differ by at most %g, got %g" % (output, TOLERANCE, difference))


if __name__ == "__main__":
    {"make": make, "check": check}[sys.argv[1]](pathlib.Path(sys.argv[2]))
