# SPDX-FileCopyrightText: The ds-mlir authors
# SPDX-License-Identifier: Apache-2.0
"""Predicted times of steps against measured ones. Each round measures the machine anew, right before the step."""
import array
import json
import random
import re
import statistics

import models
import setting

BAR = 0.07
SECONDS_PER_TURN = 2  # about; at least three steps
WARM_STEPS = 2
VOCABULARY = 8192     # of the model that has the smallest

COLUMNS = [("step", "name", "%s"), ("predicted s", "predicted_s", "%.4f"), ("measured s", "measured_s", "%.4f"),
           ("ratio", "ratio", "%.3f"), ("least", "least", "%.3f"), ("greatest", "greatest", "%.3f")]
CHART = {"title": "Step: predicted over measured time", "value": "ratio", "bar": 1.0}


def _write_tokens(path, samples, sequence):
    """A file of random tokens for one step."""
    source = random.Random(1)
    path.write_bytes(array.array("H", (source.randrange(VOCABULARY) for _ in range(samples * sequence + 1))).tobytes())


def _write_config(source, path, batch):
    config = json.loads((source / "ds_config.json").read_text())
    config["train_batch_size"] = batch
    path.write_text(json.dumps(config))


class _Step:
    """A model in one shape."""

    def __init__(self, model, batch, sequence):
        self.model, self.source = model, models.folder(model)
        self.sequence = sequence
        self.config, self.tokens, self.plan, self.machine = (
            self.source / ("predict." + name) for name in ("json", "bin", "dsplan", "machine.json"))
        _write_config(self.source, self.config, batch)
        _write_tokens(self.tokens, batch, sequence)

    def predict(self):
        setting.run([setting.TOOLS / "ds-run", "bench", "machine", "-q", "-o", self.machine])
        setting.run([setting.TOOLS / "ds-compile", self.source / "train.onnx", "--config", self.config, "--dim",
                     "sequence=%d" % self.sequence, "--machine", self.machine, "-o", self.plan])
        head = setting.run([setting.TOOLS / "ds-run", "inspect", self.plan])
        return float(re.search(r"([0-9.]+) ms predicted", head).group(1)) / 1e3

    def measure(self, steps):
        records, _ = models.train(self.model, self.plan, WARM_STEPS + steps, data=self.tokens)
        return statistics.median(record["seconds"] for record in records[WARM_STEPS:])


def _row(model, batch, sequence):
    step = _Step(model, batch, sequence)
    predicted, measured = [], []
    for _ in range(setting.ROUNDS):
        predicted.append(step.predict())
        measured.append(step.measure(max(3, round(SECONDS_PER_TURN / predicted[-1]))))
    ratios = [expected / found for expected, found in zip(predicted, measured)]
    return {"name": "%s, %d x %d" % (model, batch, sequence), "predicted_s": statistics.median(predicted),
            "measured_s": statistics.median(measured), "ratio": statistics.median(ratios), "least": min(ratios),
            "greatest": max(ratios), "rounds": {"predicted": predicted, "measured": measured}}


def _rows(shapes):
    return lambda: [_row(*shape) for shape in shapes]


PARTS = {"models": _rows([("gpt2-mid", 8, 256), ("llama-mid", 8, 256), ("bert-mid", 8, 256), ("gpt2-124m", 2, 512)]),
         "shapes": _rows([("gpt2-mid", 1, 64), ("gpt2-mid", 2, 128), ("gpt2-mid", 16, 128), ("llama-mid", 1, 256),
                          ("llama-mid", 4, 512), ("llama-mid", 2, 1024)])}


def finish(rows, _):
    """Rows need no limit of the machine."""


def notes(rows):
    missed = [row["name"] for row in rows if abs(row["ratio"] - 1) > BAR]
    return ["bar: the median of the ratios within %.0f %% of 1" % (100 * BAR), "beyond it: %s" % ("; ".join(missed) or "none")]
