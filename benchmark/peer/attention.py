# SPDX-FileCopyrightText: The ds-mlir authors
# SPDX-License-Identifier: Apache-2.0
"""Times causal scaled_dot_product_attention, forward and backward: attention.py THREADS HEADS WIDTH. Runs in the peer's
Python. Reads lengths of sequences, one per line, and answers each with seconds as JSON."""
import json
import statistics
import sys
import time

import torch


def measure(sequence, heads, width):
    shape = (1, heads, sequence, width)
    query, key, value = (torch.randn(shape, requires_grad=True) for _ in range(3))
    ahead, back = [], []
    for _ in range(4):
        start = time.perf_counter()
        out = torch.nn.functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        middle = time.perf_counter()
        out.backward(out.detach())
        ahead.append(middle - start)
        back.append(time.perf_counter() - middle)
    return {"forward": statistics.median(ahead[1:]), "backward": statistics.median(back[1:])}


def main():
    threads, heads, width = (int(argument) for argument in sys.argv[1:])
    torch.set_num_threads(threads)
    for line in sys.stdin:
        print(json.dumps(measure(int(line), heads, width)), flush=True)


if __name__ == "__main__":
    main()
