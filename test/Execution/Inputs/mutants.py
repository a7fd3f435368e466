# SPDX-FileCopyrightText: The ds-mlir authors
# SPDX-License-Identifier: Apache-2.0
"""Changes files at random, in ways that fit their formats. Each function takes bytes and a random.Random and returns other
bytes."""

import copy
import json
import struct
import zlib

NUMBERS = [0, 1, 2, 3, 127, 128, 255, 1 << 16, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1 << 40, (1 << 63) - 1, 1 << 63, (1 << 64) - 1]


# ---------------------------------------------------------------------------------------------------------- bytes


def of_bytes(data, random):
    """A few bytes overwritten, removed, put in or doubled, or the file cut off."""
    for _ in range(random.choice([1, 1, 1, 2, 5])):
        # Most of a large file are numbers, of which any will do; what they mean stands before them.
        end = min(len(data), 1 << 15) if random.random() < 0.7 else len(data)
        at, size = random.randrange(end + 1), random.choice([1, 1, 2, 4, 8, 64])
        kind = random.randrange(6)
        if kind == 0:
            data = data[:at] + random.randbytes(size) + data[at + size :]
        elif kind == 1:
            data = data[:at] + data[at + size :]
        elif kind == 2:
            data = data[:at] + random.randbytes(size) + data[at:]
        elif kind == 3:
            data = data[: at + size] + data[at:]
        elif kind == 4:
            data = data[:at] + bytes([0, 255][random.randrange(2)] for _ in range(size)) + data[at + size :]
        elif random.random() < 0.3:
            data = data[:at]
    return data


# ------------------------------------------------------------------------------------------------------- protobuf


def varint(value):
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out + bytes([value]))


def read_varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at
        if shift > 63:
            raise ValueError


def parse(data, depth=0):
    """The fields of a message as [number, wire type, value], a value being a number, bytes, or a list of fields where the
    bytes may be a message. Raises where they are none."""
    fields, at = [], 0
    while at < len(data):
        tag, at = read_varint(data, at)
        number, kind = tag >> 3, tag & 7
        if number == 0 or number > 1000 or kind not in (0, 1, 2, 5):
            raise ValueError
        if kind == 0:
            value, at = read_varint(data, at)
        else:
            size, at = read_varint(data, at) if kind == 2 else ({1: 8, 5: 4}[kind], at)
            value, at = data[at : at + size], at + size
            if at > len(data):
                raise ValueError
        if kind == 2 and 0 < len(value) < 1 << 16 and depth < 8:
            try:
                value = parse(value, depth + 1)
            except (ValueError, IndexError):
                pass
        fields.append([number, kind, value])
    return fields


def encode(fields):
    out = []
    for number, kind, value in fields:
        value = encode(value) if isinstance(value, list) else value
        out.append(varint(number << 3 | kind))
        out.append(varint(value) if kind == 0 else varint(len(value)) + value if kind == 2 else value)
    return b"".join(out)


def messages_of(fields):
    yield fields
    for field in fields:
        if isinstance(field[2], list):
            yield from messages_of(field[2])


def change_field(fields, random, others):
    at = random.randrange(len(fields))
    number, kind, value = fields[at]
    how = random.randrange(7)
    if how == 0:
        del fields[at]
    elif how == 1:
        fields.insert(random.randrange(len(fields) + 1), copy.deepcopy(fields[at]))
    elif how == 2:
        fields[at][0] = random.choice([1, 2, 3, 4, 5, 8, 9, 13, 14, number + 1])
    elif how == 3:
        other = random.choice(random.choice(others))
        fields[at] = [number, other[1], copy.deepcopy(other[2])]  # which may be a message that this one is in
    elif how == 4:
        random.shuffle(fields)
    elif kind == 0:
        fields[at][2] = random.choice(NUMBERS + [value ^ 1, (value + 1) & (1 << 64) - 1])
    elif isinstance(value, bytes):
        fields[at][2] = of_bytes(value, random) if kind == 2 else random.randbytes(len(value))


def of_protobuf(data, random):
    """Fields of messages at any depth removed, doubled, renumbered, exchanged or changed; all lengths fit."""
    tree = parse(data)
    messages = [message for message in messages_of(tree) if message]
    for _ in range(random.choice([1, 1, 2, 4])):
        message = random.choice(messages)
        if message:
            change_field(message, random, [other for other in messages if other])
    return encode(tree)


# ----------------------------------------------------------------------------------------------------------- JSON


def odd_value(random):
    return random.choice([None, True, False, 0, -1, 1, 1e39, -1e39, 1e-300, 1 << 63, -(1 << 63), 1.5, "", "auto", "x" * 300, "\0\x1b[31m",
                          [], {}, [[[[]]]], {"a": {"a": {}}}, ["("], float("nan"), float("inf")])


def containers_of(value):
    if isinstance(value, (dict, list)):
        yield value
        for item in value.values() if isinstance(value, dict) else value:
            yield from containers_of(item)


def change_json(document, random):
    container = random.choice(list(containers_of(document)) or [{}])
    keys = list(container) if isinstance(container, dict) else list(range(len(container)))
    how = random.randrange(4)
    if not keys or how == 0:
        if isinstance(container, dict):
            container[random.choice(["", "model", "lr", "\u00e9", "train_batch_size", "x" * 100])] = odd_value(random)
        else:
            container.append(odd_value(random))
        return
    key = random.choice(keys)
    if how == 1:
        del container[key]
    elif how == 2 and isinstance(container, dict):
        container[of_bytes(key.encode(), random).decode(errors="replace")] = container.pop(key)
    else:
        container[key] = odd_value(random)


def of_json(data, random):
    """Keys and values of all kinds, or the bytes of the text."""
    if random.random() < 0.3:
        return of_bytes(data, random)
    document = json.loads(data)
    for _ in range(random.choice([1, 1, 2, 3])):
        change_json(document, random)
    text = json.dumps(document)
    return (text.replace("{", "[" * 1000 + "{", 1) if random.random() < 0.02 else text).encode()


# ----------------------------------------------------------------------------------------------------------- plans


def of_plan(data, random):
    """Numbers of a plan anywhere, with a checksum that fits: what is behind it must hold alone."""
    content = bytearray(data[:-8])
    for _ in range(random.choice([1, 1, 2, 4])):
        width = random.choice([1, 2, 4, 8])
        at = random.randrange(8, len(content) - 8) // width * width
        old = int.from_bytes(content[at : at + width], "little")
        new = random.choice(NUMBERS + [old + 1, old - 1, old * 2, old ^ 1 << random.randrange(8 * width)])
        content[at : at + width] = (new & (1 << 8 * width) - 1).to_bytes(width, "little")
    return bytes(content) + b"DSCK" + struct.pack("<I", zlib.crc32(content))
