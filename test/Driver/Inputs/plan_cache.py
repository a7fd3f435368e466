# SPDX-FileCopyrightText: The ds-mlir authors
# SPDX-License-Identifier: Apache-2.0
"""plan_cache.py WORK_FOLDER: compiles a classifier with its weights in a file of their own, again and again, and checks
when ds-compile takes the plan from its cache."""

import json
import os
import pathlib
import shutil
import stat
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "Inputs"))
import onnx_model as onnx

SIZES, SAMPLES = [5, 7, 3], 6
MACHINE = {"name": "mine", "cores": 2, "matmul_flops_per_core": 2e11, "attention_flops_per_core": 1e11, "element_operations_per_core": 1e10,
           "memory_bytes_per_second": 5e10, "call_seconds": 1e-6, "link_seconds": 1e-6, "link_bytes_per_second": 1e10}


def write_json(path, content):
    path.write_text(json.dumps(content))


class Workshop:
    def __init__(self, folder):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        self.folder, self.cache, self.flags = folder, folder / "cache", []
        nodes, inputs, outputs, weights = onnx.classifier_parts(SIZES)
        weights[0] = onnx.external_initializer("fc0.weight", SIZES[:2], "weights.bin")
        (folder / "model.onnx").write_bytes(onnx.model(nodes, inputs, outputs, weights))
        (folder / "weights.bin").write_bytes(onnx.spread(SIZES[0] * SIZES[1], 1.0, 3))
        write_json(folder / "c.json", {"train_batch_size": SAMPLES, "optimizer": {"type": "SGD", "params": {"lr": 0.1}}})
        write_json(folder / "machine.json", MACHINE)

    def compile(self, cache=None, code=0, environment=()):
        """Whether the plan came from the cache, and what was said."""
        command = ["ds-compile", "model.onnx", "--config", "c.json", "--machine", "machine.json", "-o", "plan",
                   "--kernel-cache=" + str(self.folder / "kernels"), "--plan-cache=" + str(cache or self.cache)]
        answer = subprocess.run(command + self.flags, cwd=self.folder, capture_output=True, text=True,
                                env=dict(os.environ, **dict(environment)))
        if answer.returncode != code:
            sys.exit("%s: exit code %d: %s" % (self.flags, answer.returncode, answer.stderr))
        return "compiled:" not in answer.stderr, answer.stderr

    def expect(self, what, isKept, **options):
        wasKept, text = self.compile(**options)
        if wasKept != isKept:
            sys.exit("%s: must be %s: %s" % (what, "from the cache" if isKept else "compiled", text))
        print("%s: %s" % (what, "kept" if isKept else "compiled"))
        return text

    def plan(self):
        answer = subprocess.run(["ds-run", "inspect", "--json", "plan"], cwd=self.folder, capture_output=True, check=True)
        return json.loads(answer.stdout)

    def entries(self):
        return sorted(self.cache.iterdir(), key=lambda path: path.stat().st_mtime)


def check_what_makes_a_plan(shop):
    seen = set()

    def expect_new(what):
        shop.expect(what, False)
        shop.expect(what + ", again", True)
        plan = shop.plan()
        if plan["fingerprint"] in seen or plan["key"] in seen:
            sys.exit(what + ": must have a fingerprint and a key of its own")
        seen.update((plan["fingerprint"], plan["key"]))

    expect_new("first")
    write_json(shop.folder / "machine.json", dict(MACHINE, matmul_flops_per_core=2e9))
    expect_new("another machine in the file")
    (shop.folder / "weights.bin").write_bytes(onnx.spread(SIZES[0] * SIZES[1], 1.0, 4))
    expect_new("other external weights")
    model = (shop.folder / "model.onnx").read_bytes()
    (shop.folder / "model.onnx").write_bytes(model.replace(b"relu0", b"relu9"))
    expect_new("another model")
    config = json.loads((shop.folder / "c.json").read_text())
    write_json(shop.folder / "c.json", dict(config, gradient_clipping=0.5))
    expect_new("another recipe")
    for flags in (["--ranks=2"], ["--ranks=2", "--zero-stage=1"], ["--mesh=dp=2,tp=1"], ["--memory-budget=1G"],
                  ["--layout=fc0.weight=[{},{}]"], ["--dim=batch=6"], ["--input-shape=x=6x5"],
                  ["--cpu=x86-64-v3"]):
        shop.flags = flags
        expect_new(" ".join(flags))
    shop.flags = ["--memory-budget=1024MiB"]
    shop.expect("the same budget in other words", True)
    shop.flags = []


def check_notes(shop):
    path = shop.folder / "model.onnx"
    good = path.read_bytes()
    path.write_bytes(good.replace(b"fc0.weight", b"fc0_values"))  # no name of a parameter for sure
    for isKept in (False, True):
        text = shop.expect("a doubtful tensor", isKept)
        if "does not tell for sure" not in text or "fc0_values" not in text:
            sys.exit("must say what was assumed: " + text)
    if not any("fc0_values" in note for note in shop.plan()["notes"]):
        sys.exit("the plan must keep what was assumed")
    path.write_bytes(good)


def check_what_is_trusted(shop):
    shop.expect("kept", True)
    newest = shop.entries()[-1]
    good = newest.read_bytes()
    newest.write_bytes(good[:-1])
    shop.expect("cut off", False)
    newest.write_bytes(shop.entries()[0].read_bytes())
    shop.expect("the plan of another key", False)
    newest.chmod(0o666)
    shop.expect("others may have written it", False)
    if stat.S_IMODE(newest.stat().st_mode) & 0o022 or newest.read_bytes() != good:
        sys.exit("an entry that is not to be trusted must be replaced")
    if os.geteuid() == 0:
        os.chown(newest, 12345, -1)
        shop.expect("of another user", False)
    shop.expect("replaced", True)
    newest.unlink()
    os.mkfifo(newest)
    text = shop.expect("a named pipe", False)
    if "plans are not kept" not in text:
        sys.exit("must say that the plan is not kept: " + text)
    newest.unlink()
    shop.cache.chmod(0o777)
    for _ in range(2):
        text = shop.expect("a folder that others may write to", False)
    if "may be written to by other users" not in text:
        sys.exit("must say why nothing is kept: " + text)
    shop.cache.chmod(0o755)
    shop.expect("kept again", False)
    shop.expect("and found", True)


def check_where_nothing_can_be_kept(shop):
    text = shop.expect("no folder possible", False, cache="/proc/ds-mlir/plans")
    if "warning: plans are not kept" not in text:
        sys.exit("must say that plans are not kept: " + text)


def check_that_the_cache_stays_small(shop):
    for number in range(40):
        (shop.cache / ("%032x.dsplan" % number)).write_bytes(b"old")
        os.utime(shop.cache / ("%032x.dsplan" % number), (number, number))
    shop.flags = ["--ranks=3"]
    shop.expect("one more", False)
    if len(shop.entries()) != 32:
        sys.exit("32 plans must be kept, got %d" % len(shop.entries()))
    shop.expect("the newest is among them", True)


def main(folder):
    shop = Workshop(pathlib.Path(folder))
    check_what_makes_a_plan(shop)
    check_notes(shop)
    check_what_is_trusted(shop)
    check_where_nothing_can_be_kept(shop)
    check_that_the_cache_stays_small(shop)


if __name__ == "__main__":
    main(sys.argv[1])
