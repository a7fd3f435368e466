# SPDX-FileCopyrightText: The ds-mlir authors
# SPDX-License-Identifier: Apache-2.0
"""Graphs that are built node by node: no package needed, and a million nodes take seconds."""
import math
import pathlib
import random
import struct
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "test" / "Inputs"))
import onnx_model
from onnx_model import FLOAT, INT64

BOOL = 9  # TensorProto.DataType


class Graph:
    """A graph that grows node by node."""

    def __init__(self):
        self.nodes, self.initializers, self.inputs, self.outputs = [], [], [], []
        self.random = random.Random(5)

    def node(self, kind, inputs, outputs=None, **attributes):
        """Adds a node and returns its first output."""
        outputs = outputs or ["%s_%d" % (kind.lower(), len(self.nodes))]
        self.nodes.append(onnx_model.node(kind, inputs, outputs, outputs[0], **attributes))
        return outputs[0]

    def _initializer(self, name, shape, kind, values):
        self.initializers.append(onnx_model.initializer(name, shape, values, kind))
        return name

    def weight(self, name, shape, scale=0.02):
        """A float tensor of values of which only a few differ: what is in it does not matter for time."""
        count = math.prod(shape)
        some = struct.pack("<64f", *(self.random.gauss(0, scale) for _ in range(64)))
        return self._initializer(name, shape, FLOAT, (some * (count // 64 + 1))[:4 * count])

    def ones(self, name, shape):
        return self._initializer(name, shape, FLOAT, [1.0] * shape[0])

    def integers(self, name, values):
        return self._initializer(name, [len(values)], INT64, values)

    def number(self, name, value):
        return self._initializer(name, [], FLOAT, [value])

    def causal_mask(self, name, size):
        """Whether row i sees column j."""
        rows = (b"\1" * (row + 1) + b"\0" * (size - row - 1) for row in range(size))
        return self._initializer(name, [1, 1, size, size], BOOL, b"".join(rows))

    def input(self, name, kind, shape):
        self.inputs.append(onnx_model.value(name, shape, kind))
        return name

    def output(self, name, shape):
        self.outputs.append(onnx_model.value(name, shape))

    def save(self, path):
        pathlib.Path(path).write_bytes(onnx_model.model(self.nodes, self.inputs, self.outputs, self.initializers))


def write_chain(path, nodes):
    """Elementwise nodes, each on the one before and on one some way back."""
    graph = Graph()
    names = [graph.input("x", FLOAT, [4, 16]), graph.weight("w", [4, 16])]
    kinds = ("Add", "Mul", "Tanh", "Sub")
    for index in range(nodes):
        kind = kinds[index % len(kinds)]
        operands = names[-1:] if kind == "Tanh" else [names[-1], names[-1 - index % 17 % len(names)]]
        names.append(graph.node(kind, operands))
    graph.output(names[-1], [4, 16])
    graph.save(path)


def write_transformer(path, layers, hidden=64, heads=4, batch=2, sequence=32, vocabulary=256):
    """A decoder with layer norms, attention and an MLP in each layer, and its loss."""
    graph = Graph()
    ids = graph.input("input_ids", INT64, [batch, sequence])
    labels = graph.input("labels", INT64, [batch, sequence])
    x = graph.node("Gather", [graph.weight("wte.weight", [vocabulary, hidden]), ids])
    split = graph.integers("split", [batch, sequence, heads, hidden // heads])
    joined = graph.integers("joined", [batch, sequence, hidden])

    def linear(name, value, columns_in, columns_out):
        product = graph.node("MatMul", [value, graph.weight(name + ".weight", [columns_in, columns_out])])
        return graph.node("Add", [product, graph.weight(name + ".bias", [columns_out])])

    def norm(name, value):
        weights = [graph.ones(name + ".weight", [hidden]), graph.weight(name + ".bias", [hidden])]
        return graph.node("LayerNormalization", [value] + weights, axis=-1, epsilon=1e-5)

    def attention(name, value):
        query, key, content = (graph.node("Transpose", [graph.node("Reshape", [
            linear("%s.%s" % (name, part), value, hidden, hidden), split])], perm=order)
            for part, order in (("q", (0, 2, 1, 3)), ("k", (0, 2, 3, 1)), ("v", (0, 2, 1, 3))))
        weights = graph.node("Softmax", [graph.node("MatMul", [query, key])], axis=-1)
        heads_out = graph.node("Transpose", [graph.node("MatMul", [weights, content])], perm=(0, 2, 1, 3))
        return linear(name + ".o", graph.node("Reshape", [heads_out, joined]), hidden, hidden)

    for layer in range(layers):
        name = "h.%d" % layer
        x = graph.node("Add", [x, attention(name + ".attn", norm(name + ".ln_1", x))])
        inner = graph.node("Tanh", [linear(name + ".fc", norm(name + ".ln_2", x), hidden, 4 * hidden)])
        x = graph.node("Add", [x, linear(name + ".proj", inner, 4 * hidden, hidden)])
    logits = linear("head", norm("ln_f", x), hidden, vocabulary)
    flat = graph.node("Reshape", [logits, graph.integers("rows", [batch * sequence, vocabulary])])
    flat_labels = graph.node("Reshape", [labels, graph.integers("row", [batch * sequence])])
    graph.node("SoftmaxCrossEntropyLoss", [flat, flat_labels], ["loss"])
    graph.output("loss", [])
    graph.save(path)
