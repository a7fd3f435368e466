# SPDX-FileCopyrightText: The ds-mlir authors
# SPDX-License-Identifier: Apache-2.0
"""The cases of small_models.py. A case to infer gives a model, its inputs and the outputs that are right; one to train
gives a model, its inputs and the losses of two steps of SGD."""

import itertools
import math

import onnx_model as onnx
from onnx_model import FLOAT, INT32, INT64
from tensors import Tensor

RATE = 0.125


def places(shape):
    return itertools.product(*map(range, shape))


def tensor(shape, function, dtype="f32"):
    """Whose entry at (i, j, ..) is function(i, j, ..)."""
    return Tensor(shape, [function(*place) for place in places(shape)], dtype)


def wave(*place):
    """Numbers in [-1, 1] that are exact in f32 and look random."""
    return ((37 * sum((k + 2) ** 3 * (i + 1) for k, i in enumerate(place)) + 11) % 101 - 50) / 64


def counting(*place):
    return (7 * sum((k + 1) * (i + 1) for k, i in enumerate(place))) % 5


def value(name, tensor, data_type=None):
    return onnx.value(name, tensor.shape, data_type or onnx.TYPES[tensor.dtype])


def single(node, inputs, outputs, initializers=(), opset=17):
    """A model of one node or of several."""
    nodes = node if isinstance(node, list) else [node]
    return onnx.model(nodes, [value(*entry) for entry in inputs.items()], [value(*entry) for entry in outputs.items()],
                      initializers, opset)


#===-----------------------------------------------------------------------===#
# To infer
#===-----------------------------------------------------------------------===#


def softmax_between(op, finish):
    """Along a dim that is neither the first nor the last."""

    def case():
        x = tensor((2, 3, 4, 2), wave)

        def entry(a, b, c, d):
            row = [wave(a, b, k, d) for k in range(4)]
            return finish(row[c] , math.log(sum(map(math.exp, row))))

        outputs = {"y": tensor(x.shape, entry)}
        return single(onnx.node(op, ["x"], ["y"], axis=2), {"x": x}, outputs), {"x": x}, outputs

    return case


def running_sum_times_input():
    """As RoBERTa, OPT and BLOOM number their tokens: x is a row and a column of one kernel."""
    x = tensor((2, 8), counting, "i64")
    outputs = {"y": tensor(x.shape, lambda i, j: sum(counting(i, k) for k in range(j + 1)) * counting(i, j), "i64")}
    nodes = [onnx.node("CumSum", ["x", "axis"], ["c"]), onnx.node("Mul", ["c", "x"], ["y"])]
    return single(nodes, {"x": x}, outputs, [onnx.initializer("axis", [], [1], INT64)]), {"x": x}, outputs


INFER = {
    "softmax-between-other-dims": softmax_between("Softmax", lambda x, log_sum: math.exp(x - log_sum)),
    "log-softmax-between-other-dims": softmax_between("LogSoftmax", lambda x, log_sum: x - log_sum),
    "running-sum-times-input": running_sum_times_input,
}

#===-----------------------------------------------------------------------===#
# To train
#===-----------------------------------------------------------------------===#


def mean_of_squares(nodes, output):
    """Nodes that make the loss of `output`."""
    return nodes + [onnx.node("Mul", [output, output], ["squares"]), onnx.node("ReduceMean", ["squares"], ["loss"], keepdims=0)]


def trained(nodes, inputs, weights, data_types=()):
    values = [onnx.value(name, ["batch"] + list(t.shape[1:]), onnx.TYPES[t.dtype]) for name, t in inputs.items()]
    return onnx.model(nodes, values, [onnx.value("loss", [])], weights)


def input_used_for_its_shape():
    """Rows of a table by the positions of x, which is read no further: each row r gets the gradient 2 r / (rows width)."""
    x = tensor((4, 5, 3), wave)
    table = tensor((5, 3), wave)
    nodes = [onnx.node("Shape", ["x"], ["shape"]), onnx.node("Gather", ["shape", "one"], ["length"]),
             onnx.node("Range", ["zero", "length", "one"], ["positions"]),
             onnx.node("Gather", ["pos.weight", "positions"], ["rows"])]
    weights = [onnx.initializer("zero", [], [0], INT64), onnx.initializer("one", [], [1], INT64),
               onnx.initializer("pos.weight", table.shape, table.values.tobytes())]
    first = sum(w * w for w in table.values) / 15
    losses = [first, first * (1 - RATE * 2 / 15) ** 2]
    return trained(mean_of_squares(nodes, "rows"), {"x": x}, weights), {"x": x}, losses


def narrow_ids():
    """Rows of a table by ids of i32."""
    ids = tensor((4, 6), counting, "i32")
    table = tensor((5, 3), wave)
    nodes = [onnx.node("Gather", ["e.weight", "ids"], ["rows"])]
    model = trained(mean_of_squares(nodes, "rows"), {"ids": ids}, [onnx.initializer("e.weight", table.shape, table.values.tobytes())])
    count = [list(ids.values).count(row) for row in range(5)]

    def loss(rows):
        return sum(count[i] * rows[i][j] ** 2 for i, j in places((5, 3))) / 72

    before = [[wave(i, j) for j in range(3)] for i in range(5)]
    after = [[before[i][j] * (1 - RATE * 2 * count[i] / 72) for j in range(3)] for i in range(5)]
    return model, {"ids": ids}, [loss(before), loss(after)]


def dot(a, b):
    return sum(p * q for p, q in zip(a, b))


def stepped(values, gradient):
    return [p - RATE * g for p, g in zip(values, gradient)]


def gradient_that_is_a_parameter():
    """The sum of u times v, whose gradients are v and u, and the mean of x."""
    x = tensor((4, 3), wave)
    u, v = [[wave(k, i) for i in range(4)] for k in range(2)]
    nodes = [onnx.node("Mul", ["p.u", "p.v"], ["uv"]), onnx.node("ReduceSum", ["uv"], ["a"], keepdims=0),
             onnx.node("ReduceMean", ["x"], ["b"], keepdims=0), onnx.node("Add", ["a", "b"], ["loss"])]
    model = trained(nodes, {"x": x}, [onnx.initializer("p.u", [4], u), onnx.initializer("p.v", [4], v)])
    mean = sum(x.values) / 12
    return model, {"x": x}, [dot(u, v) + mean, dot(stepped(u, v), stepped(v, u)) + mean]


def gradient_that_is_an_input():
    x = tensor((1, 4), wave)
    w = [wave(1, i) for i in range(4)]
    nodes = [onnx.node("Mul", ["x", "p.w"], ["xw"]), onnx.node("ReduceSum", ["xw"], ["loss"], keepdims=0)]
    model = trained(nodes, {"x": x}, [onnx.initializer("p.w", [4], w)])
    return model, {"x": x}, [dot(x.values, w), dot(x.values, stepped(w, x.values))]


TRAIN = {
    "input-used-for-its-shape": input_used_for_its_shape,
    "narrow-ids": narrow_ids,
    "gradient-that-is-a-parameter": gradient_that_is_a_parameter,
    "gradient-that-is-an-input": gradient_that_is_an_input,
}
