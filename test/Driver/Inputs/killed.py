# SPDX-FileCopyrightText: The ds-mlir authors
# SPDX-License-Identifier: Apache-2.0
"""killed.py WORK_FOLDER: kills ds-compile after more and more time, until it ends by itself, and looks for what is left."""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "Inputs"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "Execution/Inputs"))
import make_classifier

WHOLE = re.compile(r"plans|kernels|plans/[0-9a-f]{32}\.dsplan|kernels/[0-9a-f]+-[0-9a-f]+\.kernel")


def children_of(process):
    try:
        return [int(word) for word in pathlib.Path("/proc/%d/task/%d/children" % (process, process)).read_text().split()]
    except OSError:
        return []


def is_alive(process):
    try:
        return pathlib.Path("/proc/%d/stat" % process).read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def is_plan(path):
    """A compiler that was killed at its very end has written its whole plan."""
    return subprocess.run(["ds-run", "inspect", path], stdout=subprocess.DEVNULL).returncode == 0


def main(work):
    work = pathlib.Path(work)
    make_classifier.make(work, 6, [5, 7, 6, 3])
    delay, ended = 0.01, False
    while not ended:
        home = work / "home"
        shutil.rmtree(home, ignore_errors=True)
        for name in ("tmp", "out", "cache"):
            (home / name).mkdir(parents=True)
        command = ["ds-compile", "model.onnx", "--config", "ds_config.json", "--quiet", "-o", str(home / "out/plan"),
                   "--plan-cache=" + str(home / "cache/plans"), "--kernel-cache=" + str(home / "cache/kernels")]
        process = subprocess.Popen(command, cwd=work, env=dict(os.environ, TMPDIR=str(home / "tmp")))
        try:
            ended = process.wait(timeout=delay) == 0
        except subprocess.TimeoutExpired:
            workers = children_of(process.pid)
            process.send_signal(signal.SIGKILL)
            process.wait()
            for _ in range(500):
                if not any(map(is_alive, workers)):
                    break
                time.sleep(0.01)
            else:
                sys.exit("after %.2f s: a process is left" % delay)
        left = [str(path.relative_to(home)) for name in ("tmp", "out") for path in (home / name).iterdir()]
        left += [str(path.relative_to(home / "cache")) for path in (home / "cache").rglob("*")]
        left = [name for name in left if not WHOLE.fullmatch(name) and not (name == "out/plan" and is_plan(home / name))]
        if left:
            sys.exit("after %.2f s: left behind: %s" % (delay, ", ".join(left)))
        delay *= 1.4
    print("killed at many times, the last after %.2f s" % (delay / 1.4))


if __name__ == "__main__":
    main(sys.argv[1])
