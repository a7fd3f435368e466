# SPDX-FileCopyrightText: The ds-mlir authors
# SPDX-License-Identifier: Apache-2.0
"""Where things are, on which cores they run, and what they are: shared by all suites."""
import datetime
import os
import pathlib
import platform
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build-release"
TOOLS = BUILD / "bin"
RESULTS = BUILD / "benchmark"
ORACLES = pathlib.Path(os.environ.get("DS_ORACLES", ROOT.parent / "shared" / "oracles"))
CACHE = pathlib.Path(os.environ.get("DS_BENCH_CACHE", pathlib.Path.home() / ".cache" / "ds-mlir-bench"))
ROUNDS = int(os.environ.get("DS_BENCH_ROUNDS", "7"))
CORES = 2

# Without these glibc gives each large tensor fresh pages of 4 KiB, which the kernel has to clear.
PEER_MALLOC = ("glibc.malloc.hugetlb=1:glibc.malloc.mmap_max=0:glibc.malloc.trim_threshold=34359738368:"
               "glibc.malloc.top_pad=1073741824")


def fail(text):
    sys.exit("benchmark: " + text)


def peer_python():
    """The Python of the peers; an error where none is named."""
    python = os.environ.get("DS_PEER_PYTHON")
    if not python:
        fail("DS_PEER_PYTHON must name a Python with torch, numpy, onnx and onnxruntime "
             "(python3 -m venv V; V/bin/pip install torch numpy onnx onnxruntime)")
    return python


def pin():
    """Binds this process, and so all that it starts, to the first cores that it may use."""
    cores = sorted(os.sched_getaffinity(0))[:CORES]
    if len(cores) < CORES:
        fail("must have %d cores, got %d" % (CORES, len(cores)))
    os.sched_setaffinity(0, cores)
    return cores


def peer_environment(is_best=True):
    """The peer's environment: no preset core type of its BLAS and, if is_best, memory on huge pages that stays."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("OPENBLAS_")}
    environment["OMP_NUM_THREADS"] = str(CORES)
    environment["TORCHINDUCTOR_CACHE_DIR"] = str(CACHE / "inductor")
    environment["PYTHONPATH"] = str(ORACLES)
    if is_best:
        environment["GLIBC_TUNABLES"] = PEER_MALLOC
    return environment


def run(command, **options):
    """Runs a command to its end and returns what it printed; any failure ends the benchmark."""
    command = [str(part) for part in command]
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)
    if result.returncode:
        fail("%s\n%s" % (" ".join(command), result.stdout + result.stderr))
    return result.stdout


def _first_value(path, key):
    for line in pathlib.Path(path).read_text().splitlines():
        name, _, value = line.partition(":")
        if name.strip() == key:
            return value.strip()
    return "unknown"


def _machine():
    kibibytes = int(_first_value("/proc/meminfo", "MemTotal").split()[0])
    return {"processor": _first_value("/proc/cpuinfo", "model name"), "cores": CORES,
            "memory_gib": round(kibibytes / 2**20, 1), "kernel": platform.release()}


def _versions():
    script = ("import importlib.metadata as m\n"
              "print(*['%s %s' % (p, m.version(p)) for p in ('torch', 'onnxruntime', 'numpy')], sep='\\n')")
    versions = dict(line.split() for line in run([peer_python(), "-c", script]).splitlines())
    versions["ds-mlir"] = run(["git", "-C", ROOT, "describe", "--always", "--dirty"]).strip()
    return versions


def describe(suite, part):
    """What a reader must know to repeat the run."""
    return {"date": datetime.date.today().isoformat(), "machine": _machine(), "versions": _versions(),
            "command": "./dev bench %s %s" % (suite, part)}
