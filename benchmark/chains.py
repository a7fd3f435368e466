# SPDX-FileCopyrightText: The ds-mlir authors
# SPDX-License-Identifier: Apache-2.0
"""Small graphs that memory limits. Each function adds its nodes for a tensor of `rows` rows, and returns how many floats any
implementation must read and write."""
import onnx_writer
from onnx_writer import FLOAT, INT64

COLUMNS = 1024


def rows_of(mebibytes):
    """The rows of a tensor of that size."""
    return mebibytes * 2**20 // 4 // COLUMNS


def _input(graph, name, rows, columns=COLUMNS):
    return graph.input(name, FLOAT, [rows, columns])


def bias_gelu(graph, rows):
    value = graph.node("Add", [_input(graph, "x", rows), graph.weight("bias", [COLUMNS])])
    inner = graph.node("Erf", [graph.node("Div", [value, graph.number("root2", 2 ** 0.5)])])
    half = graph.node("Mul", [value, graph.node("Add", [inner, graph.number("one", 1.0)])])
    graph.output(graph.node("Mul", [half, graph.number("half", 0.5)]), [rows, COLUMNS])
    return 2 * rows * COLUMNS


def residual_norm(graph, rows):
    value = graph.node("Add", [_input(graph, "x", rows), _input(graph, "residual", rows)])
    graph.output(graph.node("LayerNormalization", [value, graph.ones("scale", [COLUMNS]), graph.weight("bias", [COLUMNS])],
                            axis=-1, epsilon=1e-5), [rows, COLUMNS])
    return 3 * rows * COLUMNS


def softmax(graph, rows):
    graph.output(graph.node("Softmax", [_input(graph, "x", rows)], axis=-1), [rows, COLUMNS])
    return 2 * rows * COLUMNS


def rotary(graph, rows):
    half, x = COLUMNS // 2, _input(graph, "x", rows)
    bounds = {name: graph.integers(name, [value]) for name, value in
              (("zero", 0), ("half", half), ("end", COLUMNS), ("axis", 1))}
    low = graph.node("Slice", [x, bounds["zero"], bounds["half"], bounds["axis"]])
    high = graph.node("Slice", [x, bounds["half"], bounds["end"], bounds["axis"]])
    turned = graph.node("Concat", [graph.node("Neg", [high]), low], axis=-1)
    products = [graph.node("Mul", [x, graph.weight("cosine", [1, COLUMNS])]),
                graph.node("Mul", [turned, graph.weight("sine", [1, COLUMNS])])]
    graph.output(graph.node("Add", products), [rows, COLUMNS])
    return 2 * rows * COLUMNS


def swiglu(graph, rows):
    gate = _input(graph, "gate", rows)
    value = graph.node("Mul", [gate, graph.node("Sigmoid", [gate])])
    graph.output(graph.node("Mul", [value, _input(graph, "up", rows)]), [rows, COLUMNS])
    return 3 * rows * COLUMNS


def cross_entropy(graph, rows):
    labels = graph.input("labels", INT64, [rows])
    graph.node("SoftmaxCrossEntropyLoss", [_input(graph, "logits", rows), labels], ["loss"])
    graph.output("loss", [])
    return rows * COLUMNS


def write_loss(path, mebibytes):
    """The cross entropy of logits that are parameters, so that training stores their gradient: reads the logits and writes as
    much."""
    graph = onnx_writer.Graph()
    rows = rows_of(mebibytes)
    logits, labels = graph.weight("logits", [rows, COLUMNS], 1.0), graph.input("labels", INT64, [rows])
    graph.node("SoftmaxCrossEntropyLoss", [logits, labels], ["loss"])
    graph.output("loss", [])
    graph.save(path)
    return 4 * 2 * rows * COLUMNS


def write_embedding(path, mebibytes):
    """The mean of squares of rows that are looked up, so that training has an embedding's gradient: it reads the rows' gradients and
    writes a table of as many rows."""
    graph = onnx_writer.Graph()
    rows = rows_of(mebibytes)
    found = graph.node("Gather", [graph.weight("table", [rows, COLUMNS]), graph.input("ids", INT64, [rows])])
    graph.node("ReduceMean", [graph.node("Mul", [found, found])], ["loss"], keepdims=0)
    graph.output("loss", [])
    graph.save(path)
    return 4 * 2 * rows * COLUMNS


ALL = {"bias + GELU": bias_gelu, "residual + norm": residual_norm, "softmax": softmax, "rotary": rotary,
       "SwiGLU": swiglu, "cross entropy": cross_entropy}


def write(path, name, mebibytes):
    """Writes a chain whose largest tensor has that size. Returns the bytes that must move."""
    graph = onnx_writer.Graph()
    floats = ALL[name](graph, rows_of(mebibytes))
    graph.save(path)
    return 4 * floats


def write_attention(path, sequence, heads=12, width=64):
    """Causal attention of parameters, so that a training step has its gradients, and a scalar as loss."""
    graph = onnx_writer.Graph()
    shape = [1, heads, sequence, width]
    factor = graph.input("factor", FLOAT, [1])
    query, key, value = (graph.weight(name, shape, 1.0) for name in ("query", "key", "value"))
    query = graph.node("Mul", [query, factor], ["scaled"])
    turned = graph.node("Transpose", [key], ["attention_key"], perm=(0, 1, 3, 2))
    scores = graph.node("MatMul", [query, turned], ["attention_scores"])
    scores = graph.node("Mul", [scores, graph.number("scale", width ** -0.5)], ["attention_scaled"])
    masked = graph.node("Where", [graph.causal_mask("mask", sequence), scores, graph.number("never", -1e30)],
                        ["attention_masked"])
    weights = graph.node("Softmax", [masked], ["attention_weights"], axis=-1)
    out = graph.node("MatMul", [weights, value], ["attention_out"])
    square = graph.node("Mul", [out, out], ["square"])
    graph.node("ReduceMean", [square], ["loss"], keepdims=0)
    graph.output("loss", [])
    graph.save(path)
