# SPDX-FileCopyrightText: The ds-mlir authors
# SPDX-License-Identifier: Apache-2.0
"""Writes model.onnx, ds_config.json and the data of a perceptron with layers of the given sizes:

    make_classifier.py FOLDER SAMPLES SIZE... [--external]      with the first weight in weights.bin
"""

import json
import pathlib
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "Inputs"))
import onnx_model as onnx
import tensors

STEPS = 4


def make(folder, samples, sizes):
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "data").mkdir(parents=True)
    onnx.write_classifier(folder / "model.onnx", sizes)
    recipe = {"train_batch_size": samples, "optimizer": {"type": "AdamW", "params": {"lr": 0.01}}}
    (folder / "ds_config.json").write_text(json.dumps(recipe))
    for name, tensor in onnx.classifier_data(tensors, STEPS, samples, sizes).items():
        tensors.write_npy(folder / "data" / (name + ".npy"), tensor)


def move_weight_out(folder, sizes):
    """The first weight of the model into a file beside it."""
    nodes, inputs, outputs, initializers = onnx.classifier_parts(sizes)
    (folder / "weights.bin").write_bytes(onnx.spread(sizes[0] * sizes[1], 0.5, 0))
    initializers[0] = onnx.external_initializer("fc0.weight", sizes[:2], "weights.bin")
    (folder / "model.onnx").write_bytes(onnx.model(nodes, inputs, outputs, initializers))


def main(arguments):
    is_external = arguments[-1] == "--external"
    folder, sizes = pathlib.Path(arguments[0]), [int(size) for size in arguments[2 : len(arguments) - is_external]]
    make(folder, int(arguments[1]), sizes)
    if is_external:
        move_weight_out(folder, sizes)


if __name__ == "__main__":
    main(sys.argv[1:])
