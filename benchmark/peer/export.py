# SPDX-FileCopyrightText: The ds-mlir authors
# SPDX-License-Identifier: Apache-2.0
"""Writes a model of the oracles as ONNX: export.py FOLDER MODEL. Runs in the peer's Python.

Beside the models of the oracles there are bert-mid, in the sizes of gpt2-mid, and gpt2-N-layers, narrow and N layers deep.
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


class Unmasked(torch.nn.Module):
    """A BERT that sees all tokens."""

    def __init__(self, bert):
        super().__init__()
        self.bert = bert

    def forward(self, input_ids):
        return self.bert(input_ids, torch.ones_like(input_ids))


bench_torch.MODELS["bert-mid"] = (
    lambda: Unmasked(make.Bert(vocab=8192, hidden=384, heads=6, layers=6, positions=256)), 8, 256, 8192)
if deep := re.fullmatch(r"gpt2-(\d+)-layers", sys.argv[2]):
    layers = int(deep.group(1))
    bench_torch.MODELS[deep.string] = (lambda: make.Gpt2(vocab=128, hidden=64, heads=4, layers=layers, positions=64), 2, 16, 128)
bench_torch.export(sys.argv[1], sys.argv[2])
