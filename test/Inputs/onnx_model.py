# SPDX-FileCopyrightText: The ds-mlir authors
# SPDX-License-Identifier: Apache-2.0
"""Writes small ONNX files with Python's own library: nodes, tensors and the shapes of inputs, in protobuf's wire format."""

import array
import pathlib
import struct

# TensorProto.DataType, and by the names of tensors.py.
FLOAT, UINT8, INT8, UINT16, INT16, INT32, INT64, BOOL, DOUBLE, UINT32 = 1, 2, 3, 4, 5, 6, 7, 9, 11, 12
TYPES = {"f32": FLOAT, "f64": DOUBLE, "i64": INT64, "i32": INT32, "i16": INT16, "i8": INT8, "u8": UINT8, "u16": UINT16,
         "u32": UINT32, "bool": BOOL}


def _varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _number(field, value):
    return _varint(field << 3) + _varint(value)


def _bytes(field, value):
    value = value.encode() if isinstance(value, str) else value
    return _varint(field << 3 | 2) + _varint(len(value)) + value


def attribute(name, value):
    """Of kind INT, INTS, FLOAT, FLOATS or STRING, by the type of `value`."""
    if isinstance(value, float):
        return _bytes(1, name) + _varint(2 << 3 | 5) + struct.pack("<f", value) + _number(20, 1)
    if isinstance(value, str):
        return _bytes(1, name) + _bytes(4, value) + _number(20, 3)
    if isinstance(value, int):
        return _bytes(1, name) + _number(3, value) + _number(20, 2)
    if any(isinstance(item, float) for item in value):
        return _bytes(1, name) + b"".join(_varint(7 << 3 | 5) + struct.pack("<f", item) for item in value) + _number(20, 6)
    return _bytes(1, name) + b"".join(_number(8, item) for item in value) + _number(20, 7)


def node(op, inputs, outputs, name="", **attributes):
    parts = [_bytes(1, i) for i in inputs] + [_bytes(2, o) for o in outputs] + [_bytes(3, name), _bytes(4, op)]
    return b"".join(parts + [_bytes(5, attribute(key, value)) for key, value in attributes.items()])


def initializer(name, dims, values, data_type=FLOAT):
    """`values` are numbers, or the bytes themselves."""
    if not isinstance(values, bytes):
        values = array.array({FLOAT: "f", DOUBLE: "d"}.get(data_type, "q"), values).tobytes()
    return b"".join(_number(1, d) for d in dims) + _number(2, data_type) + _bytes(8, name) + _bytes(9, values)


def external_initializer(name, dims, location, *entries):
    """Whose numbers are in another file; `entries` are further pairs of key and value."""
    pairs = (("location", location),) + entries
    data = b"".join(_bytes(13, _bytes(1, key) + _bytes(2, text)) for key, text in pairs)
    return b"".join(_number(1, d) for d in dims) + _number(2, FLOAT) + _bytes(8, name) + data + _number(14, 1)


def value(name, dims, data_type=FLOAT):
    """An input or output of the graph; a dim is a number, the name of a symbolic one, or None: of neither."""
    parts = (b"" if d is None else _bytes(2, d) if isinstance(d, str) else _number(1, d) for d in dims)
    shape = b"".join(_bytes(1, part) for part in parts)
    return _bytes(1, name) + _bytes(2, _bytes(1, _number(1, data_type) + _bytes(2, shape)))


def model(nodes, inputs, outputs, initializers=(), opset=17, producer=""):
    graph = [_bytes(1, n) for n in nodes] + [_bytes(2, "g")] + [_bytes(5, i) for i in initializers]
    graph += [_bytes(11, i) for i in inputs] + [_bytes(12, o) for o in outputs]
    return _number(1, 8) + _bytes(2, producer) + _bytes(7, b"".join(graph)) + _bytes(8, _bytes(1, "") + _number(2, opset))


def spread(count, scale, start):
    """`count` floats in [-scale, scale] that look random, cheaply: a pattern of prime length, repeated."""
    pattern = array.array("f", (scale * ((start + 7919 * i * i) % 2039 / 1019.0 - 1) for i in range(2039)))
    return (pattern.tobytes() * (count // 2039 + 1))[: 4 * count]


def classifier_parts(sizes):
    """A perceptron with layers of the given sizes and a cross entropy: nodes, inputs, outputs, initializers."""
    nodes, initializers, x = [], [], "x"
    for layer, (rows, columns) in enumerate(zip(sizes, sizes[1:])):
        weight, bias, product, total = ("fc%d.%s" % (layer, part) for part in ("weight", "bias", "product", "sum"))
        initializers.append(initializer(weight, [rows, columns], spread(rows * columns, (3.0 / rows) ** 0.5, layer)))
        initializers.append(initializer(bias, [columns], bytes(4 * columns)))
        nodes.append(node("MatMul", [x, weight], [product], "fc%d" % layer))
        nodes.append(node("Add", [product, bias], [total], "bias%d" % layer))
        x = total
        if layer + 2 < len(sizes):
            x = "fc%d.relu" % layer
            nodes.append(node("Relu", [total], [x], "relu%d" % layer))
    nodes.append(node("SoftmaxCrossEntropyLoss", [x, "labels"], ["loss"], "loss", ignore_index=-100))
    inputs = [value("x", ["batch", sizes[0]]), value("labels", ["batch"], INT64)]
    return nodes, inputs, [value("loss", [])], initializers


def write_classifier(path, sizes):
    pathlib.Path(path).write_bytes(model(*classifier_parts(sizes)))


def classifier_data(tensors, steps, samples, sizes):
    """Inputs and labels for write_classifier: by name, [step, sample, ...]. `tensors` is the module of that name."""
    features = array.array("f", spread(steps * samples * sizes[0], 1.0, 5))
    labels = array.array("q", ((3 * i + i // 5) % sizes[-1] for i in range(steps * samples)))
    return {"x": tensors.Tensor((steps, samples, sizes[0]), features),
            "labels": tensors.Tensor((steps, samples), labels, "i64")}
