# SPDX-FileCopyrightText: The ds-mlir authors
# SPDX-License-Identifier: Apache-2.0
"""Ends a running job from outside:

    lost_ranks.py WORK_FOLDER HOW

HOW is one of
    killed       one rank gets SIGKILL: exit code 4, with rank and step in the message
    stopped      one rank gets SIGSTOP: exit code 5 after the timeout, with rank and step
    interrupted  Ctrl-C: exit code 130 after the step, and nothing is saved
    impatient    Ctrl-C twice: exit code 130 at once
    orphaned     the launcher gets SIGKILL: its ranks end by themselves
Afterwards there must be no process of the job, no output but the log, no temporary file and no shared memory.
"""

import os
import pathlib
import re
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import make_classifier

RANKS = 3
TIMEOUT = 3  # seconds until the job must notice that a rank does not get on
GRACE = 60  # seconds for anything to happen on a machine that has other work


def wait_until(what, condition):
    end = time.monotonic() + GRACE
    while not condition():
        if time.monotonic() > end:
            raise RuntimeError("waited %d s for %s" % (GRACE, what))
        time.sleep(0.02)


def is_alive(process):
    """Zombies do not count: whoever has to reap them is another one."""
    try:
        return pathlib.Path("/proc/%d/stat" % process).read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


class Job:
    """A training that would take hours."""

    def __init__(self, folder):
        self.folder = folder
        make_classifier.make(folder, 6, [5, 7, 3])
        (folder / "tmp").mkdir()
        self.memory_before = set(os.listdir("/dev/shm"))
        command = ["ds-run", "train", "model.onnx", "--config", "ds_config.json", "--data", "data", "--ranks", str(RANKS)]
        command += ["--steps", "1000000000", "--threads", "1", "--timeout", str(TIMEOUT), "-q", "--plan-out", "plan"]
        command += ["--log", "log", "--save-model", "saved"]
        self.launcher = subprocess.Popen(command, cwd=folder, env=dict(os.environ, TMPDIR=str(folder / "tmp")), text=True,
                                         stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.files_before = {"model.onnx", "ds_config.json", "data", "tmp", "plan", "log"}
        wait_until("the first steps", lambda: self.steps() > 3 or self.launcher.poll() is not None)
        children = pathlib.Path("/proc/%d/task/%d/children" % (self.launcher.pid, self.launcher.pid))
        self.ranks = [int(process) for process in children.read_text().split()]

    def steps(self):
        log = self.folder / "log"
        return log.read_text().count("\n") if log.exists() else 0

    def end(self):
        """Exit code and text; what is left behind is a fault."""
        out, text = self.launcher.communicate(timeout=GRACE)
        wait_until("the ranks to end", lambda: not any(map(is_alive, self.ranks)))
        left = {path.name for path in self.folder.iterdir()} - self.files_before
        left |= set(os.listdir(self.folder / "tmp"))
        left |= {name for name in set(os.listdir("/dev/shm")) - self.memory_before if "ds-" in name}
        if left or out:
            raise RuntimeError("left behind: %s, printed: %r" % (", ".join(sorted(left)), out))
        return self.launcher.returncode, text.strip()


def expect(answer, code, pattern):
    if answer[0] != code or not re.fullmatch(pattern, answer[1]):
        raise RuntimeError("must end with exit code %d and %s, got %d and %r" % (code, pattern, answer[0], answer[1]))
    return answer[1]


def killed(job):
    os.kill(job.ranks[1], signal.SIGKILL)
    return expect(job.end(), 4, r"ds-run: error: rank 1 was lost in step \d+.*: killed by signal 9 \(Killed\)")


def stopped(job):
    os.kill(job.ranks[2], signal.SIGSTOP)
    return expect(job.end(), 5, r"ds-run: error: rank \d.*\bstep \d+.*")


def interrupted(job):
    os.kill(job.launcher.pid, signal.SIGINT)
    answer = expect(job.end(), 130, r"(?s)ds-run: stopping after the current step.*ds-run: interrupted after \d+ steps; nothing was saved")
    steps = int(re.search(r"after (\d+) steps", answer).group(1))
    if steps != job.steps():
        raise RuntimeError("the log must have %d steps, got %d" % (steps, job.steps()))
    return answer


def impatient(job):
    os.kill(job.ranks[0], signal.SIGSTOP)  # so that the current step does not end
    os.kill(job.launcher.pid, signal.SIGINT)
    time.sleep(0.5)
    os.kill(job.launcher.pid, signal.SIGINT)
    return expect(job.end(), 130, r"(?s)ds-run: stopping after the current step.*")


def orphaned(job):
    job.launcher.kill()
    job.files_before |= {path.name for path in job.folder.iterdir() if path.name.startswith("saved")}  # nobody is left to remove it
    return expect(job.end(), -9, "")


HOW = {"killed": killed, "stopped": stopped, "interrupted": interrupted, "impatient": impatient, "orphaned": orphaned}


def main(work, how):
    job = Job(pathlib.Path(work))
    try:
        print("%s: ok: %s" % (how, HOW[how](job)))
    finally:
        for process in [job.launcher.pid] + job.ranks if job.launcher.returncode is None else []:
            if is_alive(process):
                os.kill(process, signal.SIGKILL)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
