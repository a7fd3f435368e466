# SPDX-FileCopyrightText: The ds-mlir authors
# SPDX-License-Identifier: Apache-2.0
"""ds-run train --find-nan names where a NaN comes from: find_nan.py WORK_FOLDER."""

import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "Inputs"))
import make_classifier
import onnx_model as onnx
import tensors

SAMPLES, SIZES = 6, [5, 7, 3]


def train(folder, *more):
    command = ["ds-run", "train", "model.onnx", "--config", "ds_config.json", "--data", "data", "--threads", "1", "--quiet", *more]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)


def expect(answer, code, pattern):
    if answer.returncode != code or not re.search(pattern, answer.stderr):
        raise RuntimeError("must have exit code %d and %s, got %d and %r" % (code, pattern, answer.returncode, answer.stderr))


def rebuild(folder, added, weights=()):
    """A perceptron with more nodes between its first product and the bias; they read fc0.product and give `changed`."""
    nodes, inputs, outputs, own = onnx.classifier_parts(SIZES)
    nodes[1:2] = added + [onnx.node("Add", ["changed", "fc0.bias"], ["fc0.sum"], "bias0")]
    (folder / "model.onnx").write_bytes(onnx.model(nodes, inputs, outputs, own + list(weights)))


def store(folder, step, value):
    x = tensors.read_npy(folder / "data" / "x.npy")
    x.values[step * SAMPLES * SIZES[0] + 7] = value
    tensors.write_npy(folder / "data" / "x.npy", x)


def main(work):
    for ranks in ("1", "2", "3"):
        folder = work / ranks
        make_classifier.make(folder, SAMPLES, SIZES)
        expect(train(folder, "--ranks", ranks, "--find-nan"), 0, r"^$")

        # A NaN of the data is the data's, on whatever rank the sample is.
        store(folder, 2, float("nan"))
        expect(train(folder, "--ranks", ranks, "--find-nan"), 7,
               r"error: rank \d, step 2: loss nan, gradient norm nan; the first NaN is in input 'x' \(1 of \d+ elements\)\n$")

        # A logarithm of what is negative.
        make_classifier.make(folder, SAMPLES, SIZES)
        rebuild(folder, [onnx.node("Log", ["fc0.product"], ["changed"], "bad_log")])
        expect(train(folder, "--ranks", ranks, "--find-nan"), 7,
               r"error: rank \d, step 0: loss nan.*; the first NaN is in the result of op .*(bad_log|bias0|relu0).* \(\d+ of \d+ elements\)")

        # exp overflows, and infinity / infinity is NaN. A product stands between them, so that both are results.
        rebuild(folder,
                [onnx.node("Mul", ["fc0.product", "thousand"], ["big"], "scale"), onnx.node("Exp", ["big"], ["huge"], "bad_exp"),
                 onnx.node("MatMul", ["huge", "mixing"], ["mixed"], "mixing"), onnx.node("Div", ["mixed", "mixed"], ["changed"], "bad_div")],
                [onnx.initializer("mixing", [7, 7], onnx.spread(49, 1.0, 3)), onnx.initializer("thousand", [], [1000.0])])
        expect(train(folder, "--ranks", ranks, "--find-nan"), 7,
               r"error: rank \d, step 0: loss nan.*; the first NaN is in the result of op .*, after an infinity in the result of op .*bad_exp")
    print("find nan: ok")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
