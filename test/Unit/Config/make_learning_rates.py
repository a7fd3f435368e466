#!/usr/bin/env python3
# SPDX-FileCopyrightText: The ds-mlir authors
# SPDX-License-Identifier: Apache-2.0
"""Writes learning_rates.jsonl: what DeepSpeed's own schedulers give, step by step.

Usage: make_learning_rates.py DEEPSPEED/runtime/lr_schedules.py > learning_rates.jsonl
Needs PyTorch and one file of DeepSpeed's sources (made with 0.19.6).
"""
import importlib.util
import json
import logging
import sys
import types

import torch

WARMUP = {"warmup_min_lr": 1e-5, "warmup_max_lr": 3e-3, "warmup_num_steps": 7}
CYCLE = {"cycle_min_lr": 1e-4, "cycle_max_lr": 1e-2, "cycle_first_step_size": 6, "cycle_momentum": False}
CASES = [
    ("WarmupLR", {}),
    ("WarmupLR", WARMUP),
    ("WarmupLR", {**WARMUP, "warmup_type": "linear"}),
    ("WarmupLR", {"warmup_num_steps": 1}),
    ("WarmupDecayLR", {"total_num_steps": 20, **WARMUP}),
    ("WarmupDecayLR", {"total_num_steps": 20, "warmup_num_steps": 5, "warmup_type": "linear"}),
    ("WarmupDecayLR", {"total_num_steps": 4, "warmup_num_steps": 8}),
    ("WarmupCosineLR", {"total_num_steps": 20, "warmup_num_steps": 5}),
    ("WarmupCosineLR", {"total_num_steps": 20, "warmup_num_steps": 5, "warmup_min_ratio": 0.1,
                        "cos_min_ratio": 0.05, "warmup_type": "linear"}),
    ("WarmupCosineLR", {"total_num_steps": 4, "warmup_num_steps": 8}),
    ("OneCycle", CYCLE),
    ("OneCycle", {**CYCLE, "cycle_second_step_size": 9, "decay_step_size": 3, "decay_lr_rate": 0.5}),
    ("OneCycle", {**CYCLE, "cycle_second_step_size": 9, "cycle_first_stair_count": 3, "cycle_second_stair_count": 2}),
    ("OneCycle", {**CYCLE, "cycle_first_stair_count": 4}),
    ("LRRangeTest", {"lr_range_test_step_size": 5, "lr_range_test_step_rate": 2.0}),
    ("LRRangeTest", {"lr_range_test_step_size": 5, "lr_range_test_staircase": True}),
]


def load_schedules(path):
    """The module of DeepSpeed's schedulers, without the rest of DeepSpeed."""
    utils = types.ModuleType("deepspeed.utils")
    utils.logger = logging.getLogger("deepspeed")
    utils.logger.setLevel(logging.ERROR)
    sys.modules["deepspeed"] = types.ModuleType("deepspeed")
    sys.modules["deepspeed.utils"] = utils
    spec = importlib.util.spec_from_file_location("lr_schedules", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main():
    schedules = load_schedules(sys.argv[1])
    for kind, params in CASES:
        optimizer = torch.optim.AdamW([torch.zeros(1, requires_grad=True)], lr=2e-3)
        scheduler = getattr(schedules, kind)(optimizer, **params)
        rates = []
        for _ in range(32):
            rates.append(optimizer.param_groups[0]["lr"])
            optimizer.step()
            scheduler.step()  # after the update, as in DeepSpeed's engine
        config = {"optimizer": {"type": "AdamW", "params": {"lr": 2e-3}},
                  "scheduler": {"type": kind, "params": params}}
        print(json.dumps({"config": config, "rates": rates}))


if __name__ == "__main__":
    main()
