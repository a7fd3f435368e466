# SPDX-FileCopyrightText: The ds-mlir authors
# SPDX-License-Identifier: Apache-2.0
"""Trains small models for a step and compares loss and gradient norm with their definition in float64:

    gradients_at_edges.py FOLDER DS_RUN

A case has ONNX nodes, parameters and data, and the same function in Python, which is differentiated by central differences.
"""

import json
import math
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "Inputs"))
import onnx_model as onnx
import tensors

ROWS, COLUMNS = 4, 6
TOLERANCE = 2e-4
LEAST = -3.4028234663852886e38


def spread(count, scale=1.0, start=3):
    """Floats that f32 holds."""
    return list(memoryview(onnx.spread(count, scale, start)).cast("f"))


def rows_of(values, columns=COLUMNS):
    return [values[i:i + columns] for i in range(0, len(values), columns)]


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def scaled(x, w):
    """x * w, a weight per column."""
    return [[a * b for a, b in zip(row, w)] for row in rows_of(x)]


def flat(rows):
    return [v for row in rows for v in row]


class Case:
    """`loss(parameters, x)`; `parameters`: by name, (dims, values); `constants`: the same; `inputs`: beside x, by name, the
    dims behind the batch and the values."""

    def __init__(self, name, nodes, parameters, loss, x=None, constants=(), inputs=()):
        self.name, self.nodes, self.parameters, self.loss = name, nodes, parameters, loss
        self.x = x or spread(ROWS * COLUMNS, 2.0)
        self.constants = dict(constants)
        self.inputs = dict(inputs, x=([COLUMNS], self.x))

    def write(self, folder):
        (folder / "data").mkdir(parents=True)
        initializers = [onnx.initializer(n, *v) for n, v in list(self.parameters.items()) + list(self.constants.items())]
        inputs = [onnx.value(name, ["batch"] + dims) for name, (dims, _) in self.inputs.items()]
        outputs = [onnx.value("loss", [])]
        (folder / "model.onnx").write_bytes(onnx.model(self.nodes, inputs, outputs, initializers))
        config = {"train_batch_size": ROWS, "gradient_clipping": 0, "optimizer": {"type": "SGD", "params": {"lr": 0.1}}}
        (folder / "ds_config.json").write_text(json.dumps(config))
        for name, (dims, values) in self.inputs.items():
            tensors.write_npy(folder / "data" / (name + ".npy"), tensors.Tensor([1, ROWS] + dims, values))

    def expected(self):
        """Loss and gradient norm."""
        values = {name: list(v) for name, (_, v) in self.parameters.items()}
        square = 0.0
        for own in values.values():
            for i, start in enumerate(own):
                step = 1e-6 * max(1.0, abs(start))
                ends = []
                for sign in (1, -1):
                    own[i] = start + sign * step
                    ends.append(self.loss(values, self.x))
                own[i] = start
                square += ((ends[0] - ends[1]) / (2 * step)) ** 2
        return self.loss(values, self.x), math.sqrt(square)


def squares(source):
    """The mean square of `source`."""
    return [onnx.node("Mul", [source, source], ["sq"]), onnx.node("ReduceMean", ["sq"], ["loss"], keepdims=0)]


def weight(scale=1.0, start=11, name="layer.w", count=COLUMNS):
    return {name: ([count], spread(count, scale, start))}


def sigmoid(x):
    return 1 / (1 + math.exp(-x)) if x > -700 else 0.0


def softplus(x):
    return max(x, 0) + math.log1p(math.exp(-abs(x)))


def saturated_sigmoid():
    mask = [0.0, 0.0, -1e4, 0.0, -100.0, 1e4]
    nodes = [onnx.node("Mul", ["x", "layer.w"], ["p"]), onnx.node("Add", ["p", "mask"], ["m"]),
             onnx.node("Sigmoid", ["m"], ["s"]), onnx.node("Mul", ["s", "x"], ["y"])]

    def loss(p, x):
        gates = [[sigmoid(v + m) for v, m in zip(row, mask)] for row in scaled(x, p["layer.w"])]
        return mean((g * v) ** 2 for g, v in zip(flat(gates), x))

    return Case("saturated-sigmoid", nodes + squares("y"), weight(), loss,
                inputs={"mask": ([COLUMNS], mask * ROWS)})


def saturated_quick_gelu():
    nodes = [onnx.node("Mul", ["x", "layer.w"], ["p"]), onnx.node("Mul", ["p", "slope"], ["q"]),
             onnx.node("Sigmoid", ["q"], ["s"]), onnx.node("Mul", ["s", "p"], ["y"])]

    def loss(p, x):
        return mean((v * sigmoid(1.75 * v)) ** 2 for v in flat(scaled(x, p["layer.w"])))

    return Case("saturated-quick-gelu", nodes + squares("y"), weight(100.0), loss, constants={"slope": ([], [1.75])})


def logits_of_a_binary_cross_entropy():
    """log(s) and log(1 - s) as exporters spell the loss; logits up to 120."""
    nodes = [onnx.node("Mul", ["x", "layer.w"], ["p"]), onnx.node("Sigmoid", ["p"], ["s"]),
             onnx.node("Log", ["s"], ["log_s"]), onnx.node("Sub", ["one", "s"], ["rest"]),
             onnx.node("Log", ["rest"], ["log_rest"]), onnx.node("Sub", ["one", "target"], ["other"]),
             onnx.node("Mul", ["target", "log_s"], ["a"]), onnx.node("Mul", ["other", "log_rest"], ["b"]),
             onnx.node("Add", ["a", "b"], ["c"]), onnx.node("Neg", ["c"], ["d"]),
             onnx.node("ReduceMean", ["d"], ["loss"], keepdims=0)]
    target = [0.0, 1.0, 0.25, 1.0, 0.0, 0.75]

    def loss(p, x):
        rows = scaled(x, p["layer.w"])
        return mean(t * softplus(-v) + (1 - t) * softplus(v) for row in rows for v, t in zip(row, target))

    return Case("logits-of-a-binary-cross-entropy", nodes, weight(60.0), loss,
                constants={"one": ([], [1.0])}, inputs={"target": ([COLUMNS], target * ROWS)})


def powers_of_negative_numbers(exponent):
    nodes = [onnx.node("Mul", ["x", "layer.w"], ["p"]), onnx.node("Pow", ["p", "exponent"], ["y"]),
             onnx.node("ReduceMean", ["y"], ["loss"], keepdims=0)]

    def loss(p, x):
        return mean(v ** exponent for v in flat(scaled(x, p["layer.w"])))

    return Case("power-%d-of-negative-numbers" % exponent, nodes, weight(), loss,
                constants={"exponent": ([], [float(exponent)])})


def trained_exponent():
    """Generalized mean pooling; its exponent is a parameter of one element."""
    nodes = [onnx.node("Mul", ["x", "layer.w"], ["p"]), onnx.node("Clip", ["p", "least"], ["c"]),
             onnx.node("Pow", ["c", "pool.p"], ["q"]), onnx.node("ReduceMean", ["q"], ["m"], axes=[1]),
             onnx.node("Div", ["one", "pool.p"], ["r"]), onnx.node("Pow", ["m", "r"], ["y"])]
    least = 2.0 ** -20

    def loss(p, x):
        e = p["pool.p"][0]
        pooled = [mean(max(v, least) ** e for v in row) ** (1 / e) for row in scaled(x, p["layer.w"])]
        return mean(v * v for v in pooled)

    parameters = dict(weight(), **{"pool.p": ([1], [3.0])})
    return Case("trained-exponent", nodes + squares("y"), parameters, loss,
                constants={"least": ([], [least]), "one": ([], [1.0])})


def trained_bounds():
    nodes = [onnx.node("Mul", ["x", "layer.w"], ["p"]),
             onnx.node("Clip", ["p", "clip.low", "clip.high"], ["y"])]

    def loss(p, x):
        low, high = p["clip.low"][0], p["clip.high"][0]
        return mean(min(max(v, low), high) ** 2 for v in flat(scaled(x, p["layer.w"])))

    parameters = dict(weight(), **{"clip.low": ([], [-0.375]), "clip.high": ([], [0.625])})
    return Case("trained-bounds", nodes + squares("y"), parameters, loss)


def norms_of_zeros():
    """Rows of zeros, divided by their norms or by a small number."""
    nodes = [onnx.node("Mul", ["x", "layer.w"], ["p"]), onnx.node("ReduceL2", ["p"], ["n"], axes=[1]),
             onnx.node("Clip", ["n", "least"], ["c"]), onnx.node("Div", ["p", "c"], ["q"]),
             onnx.node("Mul", ["q", "q"], ["q2"]), onnx.node("Mul", ["q2", "q"], ["y"]),
             onnx.node("ReduceMean", ["y"], ["loss"], keepdims=0)]

    def loss(p, x):
        total = 0.0
        for row in scaled(x, p["layer.w"]):
            norm = max(math.sqrt(sum(v * v for v in row)), 1e-12)
            total += sum((v / norm) ** 3 for v in row)
        return total / len(x)

    x = spread(ROWS * COLUMNS, 2.0)
    x[COLUMNS:2 * COLUMNS] = [0.0] * COLUMNS
    return Case("norms-of-zeros", nodes, weight(), loss, x=x, constants={"least": ([], [1e-12])})


def sines_of_large_numbers(scale):
    x = [v * scale for v in spread(ROWS * COLUMNS)]
    x = list(memoryview(tensors.array.array("f", x).tobytes()).cast("f"))
    nodes = [onnx.node("Sin", ["x"], ["s"]), onnx.node("Cos", ["x"], ["c"]), onnx.node("Mul", ["s", "layer.w"], ["p"]),
             onnx.node("Mul", ["c", "layer.v"], ["q"]), onnx.node("Add", ["p", "q"], ["y"])]

    def loss(p, data):
        waves = [[a * math.sin(v) + b * math.cos(v) for v, a, b in zip(row, p["layer.w"], p["layer.v"])]
                 for row in rows_of(data)]
        return mean(v * v for v in flat(waves))

    return Case("sines-of-%g" % scale, nodes + squares("y"), dict(weight(), **weight(start=5, name="layer.v")), loss, x=x)


def maximum_of_what_is_computed_again():
    """The norm's result is cheap to compute again behind the product; equal to the maximum it must be there too."""
    nodes = [onnx.node("Mul", ["x", "x"], ["xx"]), onnx.node("ReduceMean", ["xx"], ["v"], axes=[1]),
             onnx.node("Add", ["v", "tenth"], ["ve"]), onnx.node("Sqrt", ["ve"], ["d"]),
             onnx.node("Reciprocal", ["d"], ["r"]), onnx.node("Mul", ["x", "r"], ["n"]),
             onnx.node("Mul", ["n", "layer.w"], ["m"]), onnx.node("Add", ["m", "x"], ["h"]),
             onnx.node("ReduceMax", ["h"], ["top"], axes=[0], keepdims=0), onnx.node("Mul", ["top", "top"], ["t2"]),
             onnx.node("ReduceMean", ["t2"], ["first"], keepdims=0), onnx.node("MatMul", ["m", "out.w"], ["o"]),
             onnx.node("Mul", ["o", "o"], ["o2"]), onnx.node("ReduceMean", ["o2"], ["second"], keepdims=0),
             onnx.node("Add", ["first", "second"], ["loss"])]

    def loss(p, x):
        rows, tops, squared = [], [], []
        for row in rows_of(x):
            d = math.sqrt(mean(v * v for v in row) + 0.125)
            rows.append([v / d * w for v, w in zip(row, p["layer.w"])])
        for j in range(COLUMNS):
            tops.append(max(m[j] + v[j] for m, v in zip(rows, rows_of(x))))
        for m in rows:
            for out in range(2):
                squared.append(sum(m[j] * p["out.w"][2 * j + out] for j in range(COLUMNS)) ** 2)
        return mean(t * t for t in tops) + mean(squared)

    parameters = {"layer.w": ([COLUMNS], [1 + 0.5 * v for v in spread(COLUMNS, 1.0, 11)]),
                  "out.w": ([COLUMNS, 2], spread(2 * COLUMNS, 0.5, 17))}
    return Case("maximum-of-what-is-computed-again", nodes, parameters, loss, constants={"tenth": ([], [0.125])})


def attention(masks):
    """Nodes of an attention of two heads, the rows of the batch as positions; `masks` make `s2` of the scores `s1`."""
    nodes = [onnx.node("MatMul", ["x", "q.w"], ["q"]), onnx.node("MatMul", ["x", "k.w"], ["k"]),
             onnx.node("MatMul", ["x", "v.w"], ["v"])]
    for name in "qkv":
        nodes += [onnx.node("Reshape", [name, "split"], [name + "s"]),
                  onnx.node("Transpose", [name + "s"], [name + "h"], perm=[0, 2, 1, 3])]
    return nodes + [onnx.node("Reshape", ["hidden", "keys"], ["mask"]), onnx.node("Transpose", ["kh"], ["kt"], perm=[0, 1, 3, 2]),
                    onnx.node("MatMul", ["qh", "kt"], ["s0"]), onnx.node("Mul", ["s0", "half"], ["s1"])] + masks + [
                        onnx.node("Softmax", ["s2"], ["p"], axis=-1), onnx.node("MatMul", ["p", "vh"], ["y"])]


def products(p, x, name):
    w = rows_of(p[name], 4)
    return [[sum(row[i] * w[i][j] for i in range(COLUMNS)) for j in range(4)] for row in rows_of(x)]


def scores_of(p, x, head):
    q, k = products(p, x, "q.w"), products(p, x, "k.w")
    return [[sum(a[2 * head + i] * b[2 * head + i] for i in (0, 1)) / 2 for b in k] for a in q]


def uniform_weights(changes):
    """Of a row whose scores are rounded away beside the mask: every key has the same probability. Its slope is that of
    the softmax: of what the scores differ from those at the start, the first order counts."""
    return [(1 + c - mean(changes)) / len(changes) for c in changes]


def softmax(row):
    total = sum(map(math.exp, row))
    return [math.exp(v) / total for v in row]


def attention_case(name, masks, weights_of, hidden, constants=()):
    """`weights_of(r, now, before)`: the probabilities of row r by its scores, and by those at the start."""
    parameters = {name: ([COLUMNS, 4], spread(4 * COLUMNS, 0.5, start)) for name, start in
                  (("q.w", 3), ("k.w", 5), ("v.w", 7))}

    def loss(p, x):
        start = {name: values for name, (_, values) in parameters.items()}
        v, total = products(p, x, "v.w"), 0.0
        for head in (0, 1):
            for r, rows in enumerate(zip(scores_of(p, x, head), scores_of(start, x, head))):
                weights = weights_of(r, *rows)
                for column in (2 * head, 2 * head + 1):
                    total += sum(weight * row[column] for weight, row in zip(weights, v)) ** 2
        return total / (4 * ROWS)

    known = {"half": ([], [0.5]), "split": ([4], [1, ROWS, 2, 2], onnx.INT64), "keys": ([4], [1, 1, 1, ROWS], onnx.INT64)}
    return Case(name, attention(masks) + squares("y"), parameters, loss, constants=dict(known, **dict(constants)),
                inputs={"hidden": ([], hidden)})


def a_wholly_masked_sequence():
    """All keys are masked by the least number."""

    def weights(_, now, before):
        return uniform_weights([a - b for a, b in zip(now, before)])

    return attention_case("a-wholly-masked-sequence", [onnx.node("Add", ["s1", "mask"], ["s2"])], weights, [LEAST] * ROWS)


def padding_on_the_left(op):
    """The first key is masked by the least number, and by the same one what comes later. So the first row sees all keys
    alike. By Where, the scores of later ones are not even read."""
    later = [[column > row for column in range(ROWS)] for row in range(ROWS)]

    def weights(r, now, before):
        if r == 0:
            return uniform_weights([a - b if op == "Add" or t == 0 else 0.0 for t, (a, b) in enumerate(zip(now, before))])
        return [0.0] + softmax(now[1:r + 1]) + [0.0] * (ROWS - 1 - r)

    causal = {"Add": [onnx.node("Where", ["later", "least", "zero"], ["future"]), onnx.node("Add", ["s1", "future"], ["s3"])],
              "Where": [onnx.node("Where", ["later", "least", "s1"], ["s3"])]}
    masks = causal[op] + [onnx.node("Add", ["s3", "mask"], ["s2"])]
    constants = {"later": ([1, 1, ROWS, ROWS], bytes(flat(later)), onnx.BOOL), "least": ([], [LEAST]), "zero": ([], [0.0])}
    return attention_case("padding-on-the-left-by-" + op.lower(), masks, weights, [LEAST] + [0.0] * (ROWS - 1), constants)


CASES = [saturated_sigmoid(), saturated_quick_gelu(), logits_of_a_binary_cross_entropy(),
         powers_of_negative_numbers(4), powers_of_negative_numbers(5), trained_exponent(), trained_bounds(),
         norms_of_zeros(), sines_of_large_numbers(1e3), sines_of_large_numbers(1e9), sines_of_large_numbers(1e-6),
         maximum_of_what_is_computed_again(), a_wholly_masked_sequence(), padding_on_the_left("Add"),
         padding_on_the_left("Where")]


def run(case, folder, ds_run):
    case.write(folder)
    log = folder / "log.jsonl"
    subprocess.run([ds_run, "train", folder / "model.onnx", "--config", folder / "ds_config.json", "--data",
                    folder / "data", "--ranks", "1", "--threads", "1", "--steps", "1", "-q", "--log", log], check=True)
    record = json.loads(log.read_text().splitlines()[0])
    return record["loss"], record["grad_norm"]


def main(folder, ds_run):
    failures = 0
    for case in CASES:
        got, expected = run(case, folder / case.name, ds_run), case.expected()
        for what, a, b in zip(("loss", "gradient norm"), got, expected):
            if a is None or not abs(a - b) <= TOLERANCE * abs(b) + 1e-7:
                print("%s: %s must be %.8g, got %s" % (case.name, what, b, a))
                failures += 1
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]), sys.argv[2]))
