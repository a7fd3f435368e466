# SPDX-FileCopyrightText: The ds-mlir authors
# SPDX-License-Identifier: Apache-2.0
"""Writes a model of the oracles as ONNX: export.py FOLDER MODEL. Runs in the peer's Python."""
import functools
import sys

import bench_torch
import torch

# The models follow control flow by tracing, which current PyTorch calls the legacy exporter.
if int(torch.__version__.split(".")[0]) >= 2:
    torch.onnx.export = functools.partial(torch.onnx.export, dynamo=False)
bench_torch.export(sys.argv[1], sys.argv[2])
