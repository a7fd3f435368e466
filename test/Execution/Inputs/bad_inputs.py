# SPDX-FileCopyrightText: The ds-mlir authors
# SPDX-License-Identifier: Apache-2.0
"""Gives ds-run and ds-compile what they must refuse:

    bad_inputs.py WORK_FOLDER GROUP

GROUP is one of model, config, data, plan, flags, files. Each case starts from a small classifier with its recipe and data
that trains, and breaks one thing. It must end with its exit code and one line of text (`lines` of the case) that matches, and leave nothing
behind: no output, no temporary file, no shared memory.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "Inputs"))
import bad_input_cases as table
import onnx_model as onnx
import tensors

# What may follow the message.
HINT = re.compile(r"note: live there: .*|Run with --help for more information\.|.*Did you mean '--.*'\?$")

# What a run that fails later may have written before: the plan, whole, in its place or in the cache, kernels, and the log.
KEPT = re.compile(r"tmp|cache|cache/ds-mlir|cache/ds-mlir/[0-9a-f]{32}\.dsplan|cache/ds-mlir/kernels(/[0-9a-f-]+\.kernel)?|out\.dsplan|out\.jsonl")


def make_good_folder(folder):
    (folder / "data").mkdir(parents=True)
    onnx.write_classifier(folder / "model.onnx", table.SIZES)
    (folder / "ds_config.json").write_text(json.dumps(table.CONFIG))
    for name, tensor in onnx.classifier_data(tensors, table.STEPS, table.SAMPLES, table.SIZES).items():
        tensors.write_npy(folder / "data" / (name + ".npy"), tensor)


def files_in(folder):
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def shared_memory():
    return {name for name in os.listdir("/dev/shm") if "ds-" in name}


def run(command, folder, home):
    """With temporary files and the cache of plans under `home`."""
    (home / "tmp").mkdir(parents=True, exist_ok=True)
    environment = dict(os.environ, TMPDIR=str(home / "tmp"), HOME=str(home), XDG_CACHE_HOME=str(home / "cache"))
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)


def faults(case, folder, home):
    """What is wrong with the answer to a case, and the answer."""
    if case.change:
        case.change(folder)
    before, memory_before = files_in(folder), shared_memory()
    answer = run(case.command, folder, home)
    found = []
    if answer.returncode != case.code:
        found.append("exit code %d instead of %d" % (answer.returncode, case.code))
    lines = [line for line in answer.stderr.splitlines() if not HINT.match(line)]
    if len(lines) != case.lines:
        found.append("%d lines of text instead of %d" % (len(lines), case.lines))
    if sum(bool(re.search(case.message, line)) for line in lines) < case.lines:
        found.append("no line matches " + case.message)
    if answer.stdout:
        found.append("there is standard output: %r" % answer.stdout[:80])
    left = files_in(folder) - before | files_in(home) | shared_memory() - memory_before
    left = [name for name in left if not KEPT.fullmatch(name)]
    if left:
        found.append("left behind: " + ", ".join(sorted(left)))
    return found, "\n".join("    " + line[:300] for line in lines[:6])


def check_that_it_works(folder, home):
    """Without a change everything runs, else the cases would prove nothing. Leaves good.dsplan in the folder."""
    answer = run(table.TRAIN + table.QUIET + ["--plan-out", "good.dsplan"], folder, home)
    if answer.returncode != 0:
        sys.exit("the unchanged model must train, got exit code %d: %s" % (answer.returncode, answer.stderr))


def main(work, group):
    work = pathlib.Path(work)
    shutil.rmtree(work, ignore_errors=True)
    make_good_folder(work / "good")
    check_that_it_works(work / "good", work / "home")
    failures = 0
    cases = table.GROUPS[group]()
    for case in cases:
        folder = work / re.sub(r"\W+", "-", case.name)
        shutil.copytree(work / "good", folder)
        found, text = faults(case, folder, work / "homes" / folder.name)
        failures += bool(found)
        print("%s: %s\n%s" % (case.name, "FAILED: " + "; ".join(found) if found else "ok", text), flush=True)
    print("%d of %d cases are as they must be" % (len(cases) - failures, len(cases)))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
