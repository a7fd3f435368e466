# SPDX-FileCopyrightText: The ds-mlir authors
# SPDX-License-Identifier: Apache-2.0
"""Writes model.onnx, ds_config.json and the data of a perceptron with layers of the given sizes:

    make_classifier.py FOLDER SAMPLES SIZE...
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


if __name__ == "__main__":
    make(pathlib.Path(sys.argv[1]), int(sys.argv[2]), [int(size) for size in sys.argv[3:]])
