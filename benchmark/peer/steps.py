# SPDX-FileCopyrightText: The ds-mlir authors
# SPDX-License-Identifier: Apache-2.0
"""Trains a model of the oracles with PyTorch: steps.py MODEL MODE THREADS. Runs in the peer's Python.

MODE: eager, compile or float64; with -sdpa behind it attention is PyTorch's scaled_dot_product_attention.

Reads numbers of steps, one per line, and answers each with a line of JSON: the loss and the seconds of each step, and the
peak resident bytes so far.
"""
import json
import resource
import sys
import time

import bench_torch
import fused_attention
import make
import torch


def build(name, mode):
    torch.manual_seed(7)
    mode, _, attention = mode.partition("-")
    if attention:
        fused_attention.use()
    model = make.WithLoss(bench_torch.MODELS[name][0]()).train()
    if mode == "float64":
        model = model.double()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, betas=(0.9, 0.95), weight_decay=0.1, fused=True)
    return model, (torch.compile(model) if mode == "compile" else model), optimizer


def one_step(model, forward, optimizer, batch):
    """Seconds and loss of one step: forward, backward, clipping, AdamW."""
    start = time.perf_counter()
    optimizer.zero_grad()
    loss = forward(*batch)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return time.perf_counter() - start, loss.item()


def main():
    name, mode, threads = sys.argv[1], sys.argv[2], int(sys.argv[3])
    torch.set_num_threads(threads)
    parts = build(name, mode)
    ids, labels = (torch.from_numpy(array) for array in bench_torch.batch_of(name))
    step = 0
    for line in sys.stdin:
        seconds, losses = [], []
        for _ in range(int(line)):
            took, loss = one_step(*parts, (ids[step % len(ids)], labels[step % len(ids)]))
            step += 1
            seconds.append(took)
            losses.append(loss)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        print(json.dumps({"seconds": seconds, "losses": losses, "peak_bytes": peak}), flush=True)


if __name__ == "__main__":
    main()
