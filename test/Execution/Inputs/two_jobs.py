# SPDX-FileCopyrightText: The ds-mlir authors
# SPDX-License-Identifier: Apache-2.0
"""Two jobs at a time never bind ranks to the same cores: two_jobs.py WORK_FOLDER. Needs a machine with two cores."""

import os
import pathlib
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import make_classifier

RANKS = 2
PATIENCE = 120  # seconds for other tests to give their cores back
COMMAND = ["ds-run", "train", "model.onnx", "--config", "ds_config.json", "--data", "data", "--ranks", str(RANKS), "--threads", "1"]


class Job:
    """A training that would take hours, once its ranks have begun."""

    def __init__(self, folder):
        self.process = subprocess.Popen(COMMAND + ["--steps", "1000000000"], cwd=folder, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)
        while not self.process.stdout.readline().startswith("step 1/"):
            if self.process.poll() is not None:
                raise RuntimeError("the job must run, got " + self.process.stderr.read())
        children = pathlib.Path("/proc/%d/task/%d/children" % (self.process.pid, self.process.pid)).read_text()
        self.cores = [os.sched_getaffinity(int(rank)) for rank in children.split()]

    def is_bound(self):
        return all(len(cores) == 1 for cores in self.cores)

    def end(self):
        """What it said."""
        self.process.terminate()
        return self.process.communicate(timeout=60)[1]


def bound_job(folder):
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        job = Job(folder)
        if job.is_bound():
            return job
        job.end()
        time.sleep(1)
    raise RuntimeError("found no free cores within %d s" % PATIENCE)


def main(folder):
    if len(os.sched_getaffinity(0)) < RANKS:
        print("skipped: needs %d cores" % RANKS)
        return
    make_classifier.make(folder, 6, [5, 7, 3])
    first = bound_job(folder)
    second = Job(folder)
    refused = subprocess.run(COMMAND + ["--bind", "cores"], cwd=folder, capture_output=True, text=True, timeout=60)
    said = second.end()
    first.end()
    taken = set.union(*first.cores)
    if len(taken) != RANKS or (second.is_bound() and taken & set.union(*second.cores)):
        raise RuntimeError("jobs must have cores of their own, got %s and %s" % (first.cores, second.cores))
    if not second.is_bound() and "ranks are not bound to cores: they need 2 cores, and of " not in said:
        raise RuntimeError("a job that is not bound must say so, got " + said)
    if refused.returncode not in (0, 2) or (refused.returncode == 2 and "other jobs of ds-run have bound" not in refused.stderr):
        raise RuntimeError("--bind cores must work or be refused, got %d and %s" % (refused.returncode, refused.stderr))
    if len(os.sched_getaffinity(0)) < 2 * RANKS and (second.is_bound() or refused.returncode != 2):
        raise RuntimeError("there are no cores for a second job that is bound")
    bound_job(folder).end()  # the cores are free again
    print("two jobs: ok")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
