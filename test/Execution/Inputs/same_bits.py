# SPDX-FileCopyrightText: The ds-mlir authors
# SPDX-License-Identifier: Apache-2.0
"""Compiles and trains an oracle several times, and compares bits:

    same_bits.py ORACLE WORK_FOLDER STAGE:RANKS...

Two compilations must give the same plan. Two runs with one thread per rank, and two runs with two, must give the same
losses and gradient norms in all steps and the same saved model.
"""

import json
import pathlib
import shutil
import subprocess
import sys

STEPS = 4

# oneDNN adds up the weight gradient of a convolution by threads: there the bits depend on the number of threads.
HAVE_CONVOLUTIONS = {"resnet-tiny", "vit-tiny"}


def records(log):
    """All of the log but the times; floats are written so that they read back exactly."""
    lines = log.read_text().splitlines()
    return [{key: value for key, value in json.loads(line).items() if key != "seconds"} for line in lines]


def call(*arguments):
    subprocess.run([str(argument) for argument in arguments], check=True, timeout=600)


def compile_plan(oracle, plan, stage, ranks):
    call("ds-run", "train", oracle / "train.onnx", "--config", oracle / "ds_config.json", "--data", oracle, "--ranks", ranks,
         "--steps", 1, "--threads", 1, "-q", "--plan-out", plan, "--", "--zero-stage=%d" % stage)
    return plan.read_bytes()


def train(oracle, plan, work, threads):
    call("ds-run", "train", plan, "--model-folder", oracle, "--data", oracle, "--threads", threads, "--steps", STEPS, "-q", "--log", work / "log",
         "--save-model", work / "saved")
    return records(work / "log"), (work / "saved").read_bytes()


def check(oracle, work, stage, ranks):
    plan = work / "plan"
    same_plan = compile_plan(oracle, work / "plan-again", stage, ranks) == compile_plan(oracle, plan, stage, ranks)
    runs = {threads: [train(oracle, plan, work, threads) for _ in range(2)] for threads in (1, 2)}
    results = {"two plans": same_plan}
    for threads, (first, second) in runs.items():
        results["two runs with %d threads" % threads] = first == second and len(first[0]) == STEPS
    if oracle.name not in HAVE_CONVOLUTIONS:
        results["one thread and two threads"] = runs[1][0] == runs[2][0]
    wrong = [name for name, is_same in results.items() if not is_same]
    print("%s, stage %d, %d ranks: %s" % (oracle.name, stage, ranks, "FAILED: bits differ: " + ", ".join(wrong) if wrong else "ok"),
          flush=True)
    return not wrong


def main(oracle, work, runs):
    work = pathlib.Path(work)
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    results = [check(pathlib.Path(oracle), work, *map(int, run.split(":"))) for run in runs]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
