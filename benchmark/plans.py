# SPDX-FileCopyrightText: The ds-mlir authors
# SPDX-License-Identifier: Apache-2.0
"""Plans with the time of each instruction."""
import json
import math
import os

import setting


def compile_model(model, *options):
    """Compiles an ONNX file into a plan beside it."""
    plan = model.with_suffix(".dsplan")
    setting.run([setting.TOOLS / "ds-compile", model, *options, "-o", plan])
    return plan


def timed(plan, steps=5):
    """Name and seconds of each instruction, on all cores of the benchmark; threads wait as those of ds-run do."""
    return json.loads(setting.run([setting.TOOLS / "ds-bench-plan", plan, setting.CORES, steps],
                                  env={**os.environ, "OMP_WAIT_POLICY": "active"}))


class Inspected:
    """What is in a plan."""

    def __init__(self, plan):
        self.plan = json.loads(setting.run([setting.TOOLS / "ds-run", "inspect", plan, "--json"]))

    def extent(self, number):
        return math.prod(factor["size"] for factor in self.plan["extents"][number]["factors"])

    def operations(self, kind):
        """Order and operation of all instructions of a kind."""
        return {instruction["order"]: instruction["operation"] for queue in self.plan["queues"]
                for instruction in queue["instructions"] if instruction["operation_type"] == kind}

    def matmul_shape(self, matmul):
        """Batch, rows, columns and the length of the sums."""
        a, b, c = (set(matmul[name]) for name in ("a_dims", "b_dims", "c_dims"))
        groups = (a & b & c, (a & c) - b, (b & c) - a, (a & b) - c)
        return tuple(math.prod(self.extent(matmul["extents"][index]) for index in group) for group in groups)

    def state_buffers(self):
        """Buffers of the optimizer's states, and the bytes of one of its two moments."""
        states = [variable for variable in self.plan["variables"] if variable["role"] == "OptimizerState"]
        size = sum(self.plan["buffers"][state["buffer"]]["bytes"] for state in states)
        return {state["buffer"] for state in states}, size // 2
