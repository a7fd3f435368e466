# SPDX-FileCopyrightText: The ds-mlir authors
# SPDX-License-Identifier: Apache-2.0
"""Writes a model of the oracles as ONNX: export.py FOLDER MODEL. Runs in the peer's Python.

Beside the models of the oracles there is gpt2-N-layers, narrow and N layers deep.
"""
import functools
import re
import sys

import bench_torch
import make
import torch

# The models follow control flow by tracing, which current PyTorch calls the legacy exporter.
if int(torch.__version__.split(".")[0]) >= 2:
    torch.onnx.export = functools.partial(torch.onnx.export, dynamo=False)

if deep := re.fullmatch(r"gpt2-(\d+)-layers", sys.argv[2]):
    layers = int(deep.group(1))
    bench_torch.MODELS[deep.string] = (lambda: make.Gpt2(vocab=128, hidden=64, heads=4, layers=layers, positions=64), 2, 16, 128)
bench_torch.export(sys.argv[1], sys.argv[2])
