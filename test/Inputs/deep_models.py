# SPDX-FileCopyrightText: The ds-mlir authors
# SPDX-License-Identifier: Apache-2.0
"""Writes ONNX files that are large in nodes and small in weights.

    deep_models.py transformer FILE LAYERS     a language model of that many layers: input_ids, labels -> loss
    deep_models.py chain FILE NODES            elementwise nodes one after the other: x -> y
"""

import pathlib
import sys

import onnx_model
from onnx_model import INT64, initializer, node, value

WIDTH, HEADS, VOCABULARY = 16, 2, 32


class Graph:
    """Nodes and initializers in the order in which they are added."""

    def __init__(self):
        self.nodes, self.initializers = [], []

    def add(self, op, inputs, **attributes):
        """A node with one output, which is named after it."""
        name = "%s_%d" % (op, len(self.nodes))
        self.nodes.append(onnx_model.node(op, inputs, [name], name, **attributes))
        return name

    def weight(self, name, *dims):
        count = 1
        for dim in dims:
            count *= dim
        self.initializers.append(initializer(name, dims, onnx_model.spread(count, 0.1, len(self.initializers))))
        return name

    def constant(self, name, dims, values, data_type=onnx_model.FLOAT):
        self.initializers.append(initializer(name, dims, values, data_type))
        return name

    def linear(self, x, name, rows, columns):
        product = self.add("MatMul", [x, self.weight(name + ".weight", rows, columns)])
        return self.add("Add", [product, self.weight(name + ".bias", columns)])

    def norm(self, x, name):
        weights = [self.weight(name + part, WIDTH) for part in (".weight", ".bias")]
        return self.add("LayerNormalization", [x] + weights, axis=-1, epsilon=1e-5)


def _attention(graph, x, name):
    def heads(part, permutation):
        columns = graph.linear(x, "%s.%s" % (name, part), WIDTH, WIDTH)
        return graph.add("Transpose", [graph.add("Reshape", [columns, "by_head"])], perm=permutation)

    query, key, values = heads("q", (0, 2, 1, 3)), heads("k", (0, 2, 3, 1)), heads("v", (0, 2, 1, 3))
    scores = graph.add("Mul", [graph.add("MatMul", [query, key]), "scale"])
    mixed = graph.add("MatMul", [graph.add("Softmax", [scores], axis=-1), values])
    joined = graph.add("Reshape", [graph.add("Transpose", [mixed], perm=(0, 2, 1, 3)), "joined"])
    return graph.linear(joined, name + ".out", WIDTH, WIDTH)


def _block(graph, x, name):
    x = graph.add("Add", [x, _attention(graph, graph.norm(x, name + ".ln_1"), name + ".attn")])
    wide = graph.linear(graph.norm(x, name + ".ln_2"), name + ".up", WIDTH, 4 * WIDTH)
    return graph.add("Add", [x, graph.linear(graph.add("Relu", [wide]), name + ".down", 4 * WIDTH, WIDTH)])


def write_transformer(path, layers):
    graph = Graph()
    graph.constant("scale", [], [(HEADS / WIDTH) ** 0.5])
    graph.constant("by_head", [4], [0, 0, HEADS, WIDTH // HEADS], INT64)
    graph.constant("joined", [3], [0, 0, WIDTH], INT64)
    graph.constant("flat", [2], [-1, VOCABULARY], INT64)
    graph.constant("flat_labels", [1], [-1], INT64)
    x = graph.add("Gather", [graph.weight("embedding.weight", VOCABULARY, WIDTH), "input_ids"])
    for layer in range(layers):
        x = _block(graph, x, "h.%d" % layer)
    logits = graph.add("Reshape", [graph.linear(graph.norm(x, "ln_f"), "head", WIDTH, VOCABULARY), "flat"])
    labels = graph.add("Reshape", ["labels", "flat_labels"])
    graph.nodes.append(node("SoftmaxCrossEntropyLoss", [logits, labels], ["loss"], "loss"))
    tokens = [value(name, ["batch", "sequence"], INT64) for name in ("input_ids", "labels")]
    pathlib.Path(path).write_bytes(onnx_model.model(graph.nodes, tokens, [value("loss", [])], graph.initializers))


def write_chain(path, length):
    """A product with a weight of its own after each nine elementwise nodes, so that there are many variables too."""
    graph, x = Graph(), "x"
    for number in range(length - 1):
        x = graph.add("Tanh", [x]) if number % 10 else graph.add("Mul", [x, graph.weight("w%d" % number, WIDTH)])
    graph.nodes.append(node("Neg", [x], ["y"], "last"))
    ports = [value(name, ["batch", WIDTH]) for name in ("x", "y")]
    pathlib.Path(path).write_bytes(onnx_model.model(graph.nodes, ports[:1], ports[1:], graph.initializers))


if __name__ == "__main__":
    {"transformer": write_transformer, "chain": write_chain}[sys.argv[1]](sys.argv[2], int(sys.argv[3]))
