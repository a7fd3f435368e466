# SPDX-FileCopyrightText: The ds-mlir authors
# SPDX-License-Identifier: Apache-2.0
"""Times gloo's collectives: gloo.py RANKS. Runs in the peer's Python.

Reads lines "KIND BYTES" as ds-bench-collectives does, and answers each with the seconds of the slowest rank.
"""
import json
import os
import statistics
import sys
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as multiprocessing


def call_of(kind, count, ranks):
    """A function that runs the collective over a tensor of `count` elements in all."""
    whole, part = torch.ones(count), torch.ones(count // ranks)
    pieces = list(whole.chunk(ranks))
    out = torch.empty(count)
    return {"AllGather": lambda: dist.all_gather_into_tensor(out, part),
            "ReduceScatter": lambda: dist.reduce_scatter_tensor(part, whole),
            "AllReduce": lambda: dist.all_reduce(whole),
            "AllToAll": lambda: dist.all_to_all(list(out.chunk(ranks)), pieces)}[kind]


def measure(kind, size, ranks):
    runs = max(1, min(50, (24 << 20) // size))
    call = call_of(kind, size // 4, ranks)
    seconds = []
    for _ in range(runs + 1):
        dist.barrier()
        start = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - start)
    slowest = torch.tensor([statistics.median(seconds[1:])], dtype=torch.float64)
    dist.all_reduce(slowest, op=dist.ReduceOp.MAX)
    return slowest.item()


def serve(rank, ranks, commands):
    torch.set_num_threads(1)
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(29600 + ranks))
    dist.init_process_group("gloo", rank=rank, world_size=ranks)
    while (command := commands[rank].get()) is not None:
        kind, size = command
        seconds = measure(kind, int(size), ranks)
        if rank == 0:
            print(json.dumps({"seconds": seconds}), flush=True)
    dist.destroy_process_group()


def main():
    ranks = int(sys.argv[1])
    commands = [multiprocessing.get_context("spawn").SimpleQueue() for _ in range(ranks)]
    processes = multiprocessing.spawn(serve, args=(ranks, commands), nprocs=ranks, join=False)
    for line in sys.stdin:
        for queue in commands:
            queue.put(line.split())
    for queue in commands:
        queue.put(None)
    while not processes.join():
        pass


if __name__ == "__main__":
    main()
