# SPDX-FileCopyrightText: The ds-mlir authors
# SPDX-License-Identifier: Apache-2.0
"""The cases of small_models.py. A case to infer gives a model, its inputs and the outputs that are right; one to train
gives a model, its inputs and the losses of two steps of SGD."""

import itertools
import math

import onnx_model as onnx
from onnx_model import BOOL, DOUBLE, FLOAT, INT64, UINT8
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


def narrow_integers(dtype, held, bits, has_sign):
    """x + x, x - y and their greater half of types that a program holds wider: they wrap as their own type does."""

    def wrapped(number):
        number %= 1 << bits
        return number - (1 << bits) if has_sign and number >= 1 << (bits - 1) else number

    def case():
        low = -(1 << (bits - 1)) if has_sign else 0
        edges = [low, low + 1, low + 5, 0, 1, 7, low + (1 << bits) - 2, low + (1 << bits) - 1]
        x, y = Tensor((2, 4), edges, dtype), Tensor((2, 4), edges[::-1], dtype)
        total = [wrapped(a + a) for a in edges]
        rest = [wrapped(a - b) for a, b in zip(edges, edges[::-1])]
        outputs = {"sum": Tensor((2, 4), total, held), "most": Tensor((2, 4), map(max, total, rest), held),
                   "real": Tensor((2, 4), map(float, rest)), "folded": Tensor((2,), [wrapped(sum(edges[i : i + 4])) for i in (0, 4)], held)}
        nodes = [onnx.node("Add", ["x", "x"], ["sum"]), onnx.node("Sub", ["x", "y"], ["rest"]), onnx.node("Max", ["sum", "rest"], ["most"]),
                 onnx.node("Cast", ["rest"], ["real"], to=FLOAT), onnx.node("CumSum", ["x", "axis"], ["running"]),
                 onnx.node("Gather", ["running", "last"], ["folded"], axis=1)]
        weights = [onnx.initializer("axis", [], [1], INT64), onnx.initializer("last", [], [3], INT64)]
        inputs = {"x": x, "y": y}
        types = {"sum": onnx.TYPES[dtype], "most": onnx.TYPES[dtype], "real": FLOAT, "folded": onnx.TYPES[dtype]}
        values = [onnx.value(name, t.shape, types[name]) for name, t in outputs.items()]
        model = onnx.model(nodes, [value(*entry) for entry in inputs.items()], values, weights)
        return model, inputs, outputs

    return case


def bytes_of_pixels():
    """Bytes that become floats, and the reverse."""
    x = Tensor((2, 3), [0, 1, 127, 128, 200, 255], "u8")
    outputs = {"y": Tensor((2, 3), [v / 4 for v in x.values]), "z": Tensor((2, 3), [v // 4 for v in x.values], "i32")}
    nodes = [onnx.node("Cast", ["x"], ["f"], to=FLOAT), onnx.node("Mul", ["f", "quarter"], ["y"]), onnx.node("Cast", ["y"], ["z"], to=UINT8)]
    values = [value("y", outputs["y"]), onnx.value("z", (2, 3), UINT8)]
    model = onnx.model(nodes, [value("x", x)], values, [onnx.initializer("quarter", [], [0.25])])
    return model, {"x": x}, outputs


def taps(kernel):
    return list(places(kernel))


def convolution(spatial, kernel, dtype="f32"):
    """Of two channels, with stride 1 and no padding."""

    def case():
        x, w = tensor((2, 2) + spatial, wave, dtype), tensor((3, 2) + kernel, wave, dtype)
        out = tuple(size - k + 1 for size, k in zip(spatial, kernel))

        def entry(n, m, *place):
            return sum(wave(n, c, *(p + t for p, t in zip(place, tap))) * wave(m, c, *tap) for c in range(2) for tap in taps(kernel))

        outputs = {"y": tensor((2, 3) + out, entry, dtype)}
        inputs = {"x": x, "w": w}
        return single(onnx.node("Conv", ["x", "w"], ["y"]), inputs, outputs), inputs, outputs

    return case


def max_pool(spatial, kernel, dtype="f32"):
    def case():
        x = tensor((1, 2) + spatial, wave, dtype)
        out = tuple(size - k + 1 for size, k in zip(spatial, kernel))

        def entry(n, c, *place):
            return max(wave(n, c, *(p + t for p, t in zip(place, tap))) for tap in taps(kernel))

        outputs = {"y": tensor((1, 2) + out, entry, dtype)}
        return single(onnx.node("MaxPool", ["x"], ["y"], kernel_shape=kernel), {"x": x}, outputs), {"x": x}, outputs

    return case


def weighted_loss(op, reduction, ignored):
    """Class weights count in the sum and in what it is divided by; a label that is ignored in neither. The outputs called
    "loss" may be one number per sample."""

    def case():
        x, labels, weights = tensor((4, 3), wave), [0, 2, 1, 2], [0.5, 2.0, 1.25]
        kept = [0.0 if label == ignored else weights[label] for label in labels]

        def loss(i):
            row = [wave(i, j) for j in range(3)]
            score = row[labels[i]] if op == "NegativeLogLikelihoodLoss" else row[labels[i]] - math.log(sum(map(math.exp, row)))
            return -score * kept[i]

        losses = [loss(i) for i in range(4)]
        result = {"none": Tensor((4,), losses), "sum": Tensor((), [sum(losses)]), "mean": Tensor((), [sum(losses) / sum(kept)])}
        inputs = {"x": x, "labels": Tensor((4,), labels, "i64")}
        outputs = {"loss": result[reduction]}
        node = onnx.node(op, ["x", "labels", "weights"], ["loss"], reduction=reduction, ignore_index=ignored)
        return single(node, inputs, outputs, [onnx.initializer("weights", [3], weights)]), inputs, outputs

    return case


def nothing():
    """Tensors without elements, by kernels, products, reductions, joins and look-ups."""
    x, y = tensor((2, 0), wave), tensor((2, 3), wave)
    nodes = [onnx.node("Neg", ["x"], ["n"]), onnx.node("Transpose", ["x"], ["t"]), onnx.node("MatMul", ["n", "w"], ["product"]),
             onnx.node("ReduceSum", ["n", "axis"], ["folded"], keepdims=0), onnx.node("Concat", ["n", "y"], ["joined"], axis=1),
             onnx.node("Softmax", ["x"], ["soft"]), onnx.node("Gather", ["y", "ids"], ["picked"])]
    weights = [onnx.initializer("w", [0, 3], b""), onnx.initializer("axis", [1], [1], INT64), onnx.initializer("ids", [0], b"", INT64)]
    outputs = {"n": x, "t": tensor((0, 2), wave), "product": Tensor((2, 3), [0.0] * 6), "folded": Tensor((2,), [0.0] * 2),
               "joined": y, "soft": x, "picked": tensor((0, 3), wave)}
    return single(nodes, {"x": x, "y": y}, outputs, weights), {"x": x, "y": y}, outputs


def padded():
    """By a number other than zero, one that is computed, and cropped on one side."""
    x = Tensor((2, 3), range(1, 7), "i64")
    nodes = [onnx.node("Pad", ["x", "pads", "minus"], ["y"]), onnx.node("ReduceMax", ["x"], ["most"], keepdims=0), onnx.node("Pad", ["x", "crop", "most"], ["z"])]
    weights = [onnx.initializer("pads", [4], [1, 0, 0, 2], INT64), onnx.initializer("crop", [4], [0, -1, 0, 1], INT64),
               onnx.initializer("minus", [], [-100], INT64)]
    outputs = {"y": Tensor((3, 5), [-100] * 5 + [1, 2, 3, -100, -100, 4, 5, 6, -100, -100], "i64"), "z": Tensor((2, 3), [2, 3, 6, 5, 6, 6], "i64")}
    return single(nodes, {"x": x}, outputs, weights), {"x": x}, outputs


def largest_integers():
    x = Tensor((2, 4), [3, -1, 3, 2, 5, 9, 0, 9], "i32")
    nodes = [onnx.node("TopK", ["x", "k"], ["v", "i"]), onnx.node("ArgMax", ["x"], ["a"], axis=1, keepdims=0)]
    outputs = {"v": Tensor((2, 2), [3, 3, 9, 9], "i32"), "i": Tensor((2, 2), [0, 2, 1, 3], "i64"), "a": Tensor((2,), [0, 1], "i64")}
    return single(nodes, {"x": x}, outputs, [onnx.initializer("k", [1], [2], INT64)]), {"x": x}, outputs


def clipped_by_what_is_computed():
    x = tensor((2, 3), wave)
    least = min(x.values)
    nodes = [onnx.node("ReduceMin", ["x"], ["least"], keepdims=0), onnx.node("Neg", ["least"], ["most"]), onnx.node("Clip", ["twice", "least", "most"], ["y"]),
             onnx.node("Add", ["x", "x"], ["twice"])]
    outputs = {"y": tensor((2, 3), lambda i, j: min(max(2 * wave(i, j), least), -least))}
    return single(nodes, {"x": x}, outputs), {"x": x}, outputs


def folders_in_names():
    x = tensor((2, 3), wave)
    outputs = {"net/y": tensor((2, 3), lambda i, j: -wave(i, j))}
    return single(onnx.node("Neg", ["net/x"], ["net/y"]), {"net/x": x}, outputs), {"net/x": x}, outputs


def dims_without_names():
    x = tensor((2, 3), wave)
    outputs = {"y": tensor((2, 3), lambda i, j: -wave(i, j))}
    model = onnx.model([onnx.node("Neg", ["x"], ["y"])], [onnx.value("x", [None, None])], [onnx.value("y", [None, None])])
    return model, {"x": x}, outputs


def batch_norm_of_old_opsets():
    """Five outputs train: the batch is normalized. momentum 0.75 of the running statistics, which begin at 0 and 1, stays."""
    x = tensor((4, 2), wave)
    columns = [[wave(i, j) for i in range(4)] for j in range(2)]
    mean = [sum(column) / 4 for column in columns]
    variance = [sum((v - m) ** 2 for v in column) / 4 for column, m in zip(columns, mean)]
    scale, bias = [1.5, -0.5], [0.25, 1.0]
    outputs = {"y": tensor((4, 2), lambda i, j: (wave(i, j) - mean[j]) / math.sqrt(variance[j] + 1e-5) * scale[j] + bias[j]),
               "m": Tensor((2,), [0.25 * v for v in mean]), "v": Tensor((2,), [0.75 + 0.25 * v for v in variance]),
               "batch_m": Tensor((2,), mean), "batch_v": Tensor((2,), variance)}
    node = onnx.node("BatchNormalization", ["x", "scale", "bias", "m0", "v0"], list(outputs), momentum=0.75)
    weights = [onnx.initializer(name, [2], v) for name, v in (("scale", scale), ("bias", bias), ("m0", [0.0, 0.0]), ("v0", [1.0, 1.0]))]
    return single(node, {"x": x}, outputs, weights, opset=13), {"x": x}, outputs


def operators_of_new_opsets():
    """What opsets 18 to 23 changed or brought: axes and pads by inputs, parts of a split by number, GELU, and RMS normalization."""
    x, scale = tensor((2, 5), wave), [0.5, 1.0, 2.0, -1.0, 0.25]
    rows = [[wave(i, j) for j in range(5)] for i in range(2)]
    norms = [math.sqrt(sum(v * v for v in row) / 5 + 0.5) for row in rows]
    erf = lambda v: 0.5 * v * (1 + math.erf(v / math.sqrt(2)))
    tanh = lambda v: 0.5 * v * (1 + math.tanh(math.sqrt(2 / math.pi) * (v + 0.044715 * v**3)))
    outputs = {"mean": Tensor((2, 1), [sum(row) / 5 for row in rows]),
               "same": x,
               "left": tensor((2, 3), wave),
               "right": tensor((2, 2), lambda i, j: rows[i][j + 3]),
               "padded": tensor((2, 7), lambda i, j: 7.0 if j in (0, 6) else rows[i][j - 1]),
               "gelu": tensor((2, 5), lambda i, j: erf(rows[i][j])),
               "gelu_tanh": tensor((2, 5), lambda i, j: tanh(rows[i][j])),
               "norm": tensor((2, 5), lambda i, j: rows[i][j] / norms[i] * scale[j])}
    nodes = [onnx.node("ReduceMean", ["x", "last"], ["mean"]),
             onnx.node("ReduceMax", ["x", "no_axes"], ["same"], noop_with_empty_axes=1),
             onnx.node("Split", ["x"], ["left", "right"], axis=1, num_outputs=2),
             onnx.node("Pad", ["x", "pads", "seven", "last"], ["padded"]),
             onnx.node("Gelu", ["x"], ["gelu"]),
             onnx.node("Gelu", ["x"], ["gelu_tanh"], approximate="tanh"),
             onnx.node("RMSNormalization", ["x", "scale"], ["norm"], epsilon=0.5)]
    initializers = [onnx.initializer("last", [1], [-1], INT64), onnx.initializer("no_axes", [0], [], INT64),
                    onnx.initializer("pads", [2], [1, 1], INT64), onnx.initializer("seven", [], [7.0]),
                    onnx.initializer("scale", [5], scale)]
    return single(nodes, {"x": x}, outputs, initializers, opset=23), {"x": x}, outputs


def operators_of_old_opsets():
    """What opsets 7 to 12 spelt by attributes, and a softmax over all dims from its axis on."""
    x = tensor((2, 3, 2), wave)
    at = lambda i: wave(i // 6, i // 2 % 3, i % 2)
    sums = [sum(math.exp(at(6 * i + k)) for k in range(6)) for i in range(2)]
    outputs = {"softmax": Tensor((2, 3, 2), [math.exp(at(i)) / sums[i // 6] for i in range(12)]),
               "sum": tensor((3, 2), lambda j, k: wave(0, j, k) + wave(1, j, k)),
               "mean": tensor((2, 3, 1), lambda i, j, k: (wave(i, j, 0) + wave(i, j, 1)) / 2),
               "squeezed": tensor((2, 3), lambda i, j: (wave(i, j, 0) + wave(i, j, 1)) / 2),
               "unsqueezed": tensor((1, 2, 3, 2), lambda _, i, j, k: wave(i, j, k)),
               "first": tensor((2, 1, 2), wave),
               "rest": tensor((2, 2, 2), lambda i, j, k: wave(i, j + 1, k)),
               "clipped": tensor((2, 3, 2), lambda i, j, k: min(max(wave(i, j, k), -0.25), 0.5)),
               "bounded": tensor((2, 3, 2), lambda i, j, k: max(wave(i, j, k), -0.25)),
               "padded": tensor((2, 3, 3), lambda i, j, k: 0.5 if k == 0 else wave(i, j, k - 1)),
               "slice": tensor((2, 2, 2), lambda i, j, k: wave(i, j + 1, k)),
               "kept": x}
    nodes = [onnx.node("Softmax", ["x"], ["softmax"], axis=1),
             onnx.node("ReduceSum", ["x"], ["sum"], axes=[0], keepdims=0),
             onnx.node("ReduceMean", ["x"], ["mean"], axes=[2]),
             onnx.node("Squeeze", ["mean"], ["squeezed"], axes=[2]),
             onnx.node("Unsqueeze", ["x"], ["unsqueezed"], axes=[0]),
             onnx.node("Split", ["x"], ["first", "rest"], axis=1, split=[1, 2]),
             onnx.node("Clip", ["x"], ["clipped"], min=-0.25, max=0.5),
             onnx.node("Clip", ["x"], ["bounded"], min=-0.25),
             onnx.node("Pad", ["x"], ["padded"], pads=[0, 0, 1, 0, 0, 0], value=0.5),
             onnx.node("Slice", ["x"], ["slice"], axes=[1], starts=[1], ends=[3]),
             onnx.node("Dropout", ["x"], ["kept"], ratio=0.5)]
    return single(nodes, {"x": x}, outputs, opset=7), {"x": x}, outputs


INFER = {
    "operators-of-old-opsets": operators_of_old_opsets,
    "operators-of-new-opsets": operators_of_new_opsets,
    "softmax-between-other-dims": softmax_between("Softmax", lambda x, log_sum: math.exp(x - log_sum)),
    "log-softmax-between-other-dims": softmax_between("LogSoftmax", lambda x, log_sum: x - log_sum),
    "running-sum-times-input": running_sum_times_input,
    "int8": narrow_integers("i8", "i32", 8, True),
    "int16": narrow_integers("i16", "i32", 16, True),
    "uint8": narrow_integers("u8", "i32", 8, False),
    "uint16": narrow_integers("u16", "i32", 16, False),
    "uint32": narrow_integers("u32", "i64", 32, False),
    "bytes-of-pixels": bytes_of_pixels,
    "convolution-1d": convolution((7,), (3,)),
    "convolution-3d": convolution((4, 3, 5), (2, 3, 2)),
    "convolution-of-doubles": convolution((4, 5), (2, 3), "f64"),
    "max-pool-1d": max_pool((6,), (2,)),
    "max-pool-3d": max_pool((3, 4, 5), (2, 2, 3)),
    "max-pool-of-doubles": max_pool((4, 5), (2, 2), "f64"),
    "weighted-loss": weighted_loss("SoftmaxCrossEntropyLoss", "mean", -100),
    "weighted-loss-that-ignores": weighted_loss("SoftmaxCrossEntropyLoss", "mean", 2),
    "weighted-losses-of-samples": weighted_loss("SoftmaxCrossEntropyLoss", "none", 2),
    "weighted-likelihood": weighted_loss("NegativeLogLikelihoodLoss", "mean", 2),
    "nothing": nothing,
    "padded": padded,
    "largest-integers": largest_integers,
    "clipped-by-what-is-computed": clipped_by_what_is_computed,
    "folders-in-names": folders_in_names,
    "dims-without-names": dims_without_names,
    "batch-norm-of-old-opsets": batch_norm_of_old_opsets,
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


def doubles():
    """The mean of the squares of x w: its gradient is 2 w mean(x^2)."""
    x = tensor((4, 3), wave, "f64")
    w = [0.7, -1.1, 0.3]
    nodes = [onnx.node("Mul", ["x", "p.w"], ["xw"])]
    model = onnx.model(mean_of_squares(nodes, "xw"), [onnx.value("x", ["batch", 3], DOUBLE)], [onnx.value("loss", [], DOUBLE)],
                       [onnx.initializer("p.w", [3], w, DOUBLE)])
    squares = [sum(wave(i, j) ** 2 for i in range(4)) for j in range(3)]

    def loss(weights):
        return sum(s * p * p for s, p in zip(squares, weights)) / 12

    return model, {"x": x}, [loss(w), loss(stepped(w, [2 * s * p / 12 for s, p in zip(squares, w)]))]


def empty_parameter():
    """A parameter without elements beside one that has some, joined to x."""
    x = tensor((4, 3), wave)
    w = [wave(1, j) for j in range(3)]
    nodes = [onnx.node("MatMul", ["x", "p.none"], ["e"]), onnx.node("Mul", ["x", "p.w"], ["xw"]), onnx.node("Concat", ["xw", "e"], ["joined"], axis=1)]
    model = trained(mean_of_squares(nodes, "joined"), {"x": x}, [onnx.initializer("p.none", [3, 0], b""), onnx.initializer("p.w", [3], w)])
    squares = [sum(wave(i, j) ** 2 for i in range(4)) for j in range(3)]

    def loss(weights):
        return sum(s * p * p for s, p in zip(squares, weights)) / 12

    return model, {"x": x}, [loss(w), loss(stepped(w, [2 * s * p / 12 for s, p in zip(squares, w)]))]


TRAIN = {
    "input-used-for-its-shape": input_used_for_its_shape,
    "narrow-ids": narrow_ids,
    "gradient-that-is-a-parameter": gradient_that_is_a_parameter,
    "gradient-that-is-an-input": gradient_that_is_an_input,
    "doubles": doubles,
    "empty-parameter": empty_parameter,
}
