"""Interprets a model after each stage of the compiler on 1, 2, 3, 4 and 8 virtual ranks: interpret_stages.py MODEL_DIR ZERO_STAGE PREFIX

Two steps each, so that the second one sees the updates of the first; losses and gradient norms must be those of PyTorch in float64.
Constants of the model file are f32: hence 1e-6. The first stages know no ranks: they run on one.
"""

import subprocess
import sys

folder, zero, prefix = sys.argv[1:4]
values = ["--compare", "loss=%s/losses.npy[*]" % folder, "--compare", "grad_norm=%s/grad_norms.npy[*]" % folder]
inputs = ["--input", "input_ids=%s/input_ids.npy[*]" % folder, "--input", "labels=%s/labels.npy[*]" % folder]


def check(stage, ranks):
    program = "%s.%s.%d.mlir" % (prefix, stage, ranks)
    subprocess.run(["ds-compile", folder + "/train.onnx", "--config", folder + "/ds_config.json", "--dim", "sequence=32",
                    "--ranks", str(ranks), "--zero-stage=" + zero, "--emit=" + stage, "-o", program], check=True)
    command = ["ds-interpret", program, "--model-dir", folder, "--quiet", "--tolerance", "1e-6"] + inputs
    command += values[:2] if stage == "import" else values + ["--input", "ds.learning_rate=1e-3", "--steps", "2"]
    print(stage, "on", ranks, "ranks", flush=True)
    subprocess.run(command, check=True)


for stage in ("import", "program"):
    check(stage, 1)
for ranks in (1, 2, 3, 4, 8):
    for stage in ("placement", "kernels", "schedule"):
        check(stage, ranks)
