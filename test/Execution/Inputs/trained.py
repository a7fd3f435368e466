# SPDX-FileCopyrightText: The ds-mlir authors
# SPDX-License-Identifier: Apache-2.0
"""What ds-run trains and what it calls by which name, on small models:

    trained.py CHECK WORK_FOLDER

CHECK is one of
    tensors  of a PyTorch-like file one step moves parameters alone: numbers too, but neither buffers nor what the loss does not see
    equal    layers that begin equal are trained apart, unless "model.tied" says that they are one
    folded   the folded transpose of an embedding is the embedding, unless "model.tied" says that they are two
    names    a model whose tensors and inputs are called like the compiler's own trains as one with other names
    means    the loss over parts of unequal numbers of labels: a mean of means, or one mean over all labels
    whole    inputs without samples, and a batch dim of another name, under accumulation
Prints what is wrong; exit code 1 if anything is.
"""

import json
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "Inputs"))
import onnx_model as onnx
import tensors

WIDTH, SAMPLES = 16, 4


class Job:
    """A folder with a model and its data."""

    def __init__(self, folder, model, data):
        self.folder = folder
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "data").mkdir(parents=True)
        (folder / "model.onnx").write_bytes(model)
        for name, tensor in data.items():
            tensors.write_npy(folder / "data" / (name + ".npy"), tensor)

    def train(self, ranks=1, stage=0, samples=SAMPLES, parts=1, rate=0.125, model=None, optimizer="AdamW", more=(), flags=()):
        """The records of the log."""
        config = {"train_batch_size": samples, "gradient_accumulation_steps": parts, "gradient_clipping": 0.0, "model": model or {},
                  "optimizer": {"type": optimizer, "params": {"lr": rate, "weight_decay": 0.5}}, "zero_optimization": {"stage": stage}}
        (self.folder / "ds_config.json").write_text(json.dumps(config))
        command = ["ds-run", "train", "model.onnx", "--config", "ds_config.json", "--data", "data", "--ranks", str(ranks), "--threads", "1",
                   "--quiet", "--log", "log.jsonl", "--save-model", "saved.safetensors"] + list(more) + ["--"] + list(flags)
        subprocess.run(command, cwd=self.folder, check=True, timeout=300)
        return [json.loads(line) for line in (self.folder / "log.jsonl").read_text().splitlines()]

    def saved(self, name="saved.safetensors"):
        return {key: list(tensor.values) for key, tensor in tensors.read_safetensors(self.folder / name).items()}


def features(steps, samples, width=WIDTH):
    return tensors.Tensor((steps, samples, width), [((7 * i + i // 5) % 19 - 9) / 16 for i in range(steps * samples * width)])


def weight(name, dims, values=None):
    count = 1
    for size in dims:
        count *= size
    return onnx.initializer(name, dims, values if values is not None else onnx.spread(count, 0.25, len(name)))


def mean_square(value):
    """Nodes from `value` to the loss."""
    return [onnx.node("Mul", [value, value], ["square"]), onnx.node("ReduceMean", ["square"], ["loss"], keepdims=0)]


def identity(size):
    return [float(i // size == i % size) for i in range(size * size)]


# ------------------------------------------------------------------------------------------------------------- checks


def check_tensors(work):
    nodes = [onnx.node("Add", ["x", "pe"], ["a"]), onnx.node("MatMul", ["a", "fc.weight"], ["b"]),
             onnx.node("Mul", ["b", "logit_scale"], ["c"]), onnx.node("Cast", ["mask.weight"], ["i"], to=onnx.INT64),
             onnx.node("Cast", ["i"], ["f"], to=onnx.FLOAT), onnx.node("Add", ["c", "f"], ["d"])] + mean_square("d")
    initial = [weight("pe", [WIDTH]), weight("fc.weight", [WIDTH, WIDTH]), weight("logit_scale", [], [0.75]),
               weight("mask.weight", [WIDTH], [2.0] * WIDTH), weight("unused.weight", [WIDTH])]
    model = onnx.model(nodes, [onnx.value("x", ["batch", WIDTH])], [onnx.value("loss", [])], initial, producer="pytorch")
    job = Job(work / "job", model, {"x": features(2, SAMPLES)})
    job.train(rate=0)
    before = job.saved()
    for stage, ranks in ((0, 1), (3, 2)):
        job.train(stage=stage, ranks=ranks)
        after = job.saved()
        moved = {name for name in before if before[name] != after[name]}
        if moved != {"fc.weight", "logit_scale"}:
            yield "stage %d: must move fc.weight and logit_scale, got %s of %s" % (stage, sorted(moved), sorted(before))


def two_layers(second):
    """x through two products; `second` names the weight of the second, an initializer or an Identity of the first."""
    nodes = [onnx.node("MatMul", ["x", "a.weight"], ["h"]), onnx.node("Relu", ["h"], ["r"]), onnx.node("MatMul", ["r", second], ["y"])]
    return nodes + mean_square("y"), [onnx.value("x", ["batch", WIDTH])], [onnx.value("loss", [])]


def check_equal(work):
    copy = weight("a.weight", [WIDTH, WIDTH])
    models = {
        "the identity": onnx.model(*two_layers("b.weight"), [weight(name, [WIDTH, WIDTH], identity(WIDTH)) for name in ("a.weight", "b.weight")]),
        "a copy": onnx.model(*two_layers("b.weight"), [copy, onnx.initializer("b.weight", [WIDTH, WIDTH], onnx.spread(WIDTH * WIDTH, 0.25, 8))]),
    }
    nodes, inputs, outputs = two_layers("b.weight")
    models["a copy that the exporter merged"] = onnx.model([onnx.node("Identity", ["a.weight"], ["b.weight"])] + nodes, inputs, outputs, [copy])
    for name, model in models.items():
        job = Job(work / name.replace(" ", "-"), model, {"x": features(2, SAMPLES)})
        job.train(optimizer="SGD")
        if len(job.saved()) != 2 or job.saved()["a.weight"] == job.saved()["b.weight"]:
            yield name + ": the weights must be trained apart"
        job.train(optimizer="SGD", model={"tied": [["[ab].weight"]]})
        if list(job.saved()) != ["a.weight"]:
            yield "%s: must be one weight when tied, got %s" % (name, list(job.saved()))


def check_folded(work):
    table = onnx.spread(32 * WIDTH, 0.25, 3)
    values = list(memoryview(table).cast("f"))
    transposed = [values[row * WIDTH + column] for column in range(WIDTH) for row in range(32)]
    nodes = [onnx.node("Gather", ["wte.weight", "ids"], ["x"]), onnx.node("MatMul", ["x", "onnx::MatMul_9"], ["y"])] + mean_square("y")
    model = onnx.model(nodes, [onnx.value("ids", ["batch", 5], onnx.INT64)], [onnx.value("loss", [])],
                       [weight("wte.weight", [32, WIDTH], table), weight("onnx::MatMul_9", [WIDTH, 32], transposed)], producer="pytorch")
    job = Job(work / "job", model, {"ids": tensors.Tensor((1, SAMPLES, 5), [3 * i % 32 for i in range(SAMPLES * 5)], "i64")})
    job.train()
    if list(job.saved()) != ["wte.weight"]:
        yield "must be one parameter, got %s" % list(job.saved())
    job.train(model={"tied": []})
    if sorted(job.saved()) != ["onnx::MatMul_9", "wte.weight"]:
        yield "must be two parameters, got %s" % sorted(job.saved())


OURS = {"w0": "step", "w1": "forward", "w2": "mesh", "w3": "ds.step", "w4": "step.exp_avg", "w5": "ds.model.step", "w6": "constant.3"}


def chain(names, x):
    """x through one product after the other."""
    nodes, value = [], x
    for number, name in enumerate(names):
        nodes.append(onnx.node("MatMul", [value, name], ["y%d" % number]))
        value = "y%d" % number
    initial = [weight(name, [WIDTH, WIDTH], onnx.spread(WIDTH * WIDTH, 0.5, number)) for number, name in enumerate(names)]
    return onnx.model(nodes + mean_square(value), [onnx.value(x, ["batch", WIDTH])], [onnx.value("loss", [])], initial)


def check_names(work):
    dump = ["--dump-variables", "optimizer_state=state.safetensors"]
    plain, odd = Job(work / "plain", chain(OURS.keys(), "x"), {"x": features(3, SAMPLES)}), \
        Job(work / "odd", chain(OURS.values(), "learning_rate"), {"learning_rate": features(3, SAMPLES)})
    for ranks, stage in ((1, 0), (2, 3)):
        expected, got = plain.train(ranks, stage, more=dump), odd.train(ranks, stage, more=dump, flags=["--layout=step=[{}, {}]"])
        if [record["loss"] for record in expected] != [record["loss"] for record in got]:
            yield "must have losses %s, got %s" % (expected, got)
        for file, suffix in (("saved.safetensors", ""), ("state.safetensors", ".exp_avg")):
            before, after = plain.saved(file), odd.saved(file)
            if any(before[name + suffix] != after.get(other + suffix) for name, other in OURS.items()):
                yield "%s must have the same tensors under the other names, got %s" % (file, sorted(after))
    odd.train(more=["--load-model", "saved.safetensors"], model={"frozen": ["step", "ds\\.step"]})


def classifier(kind):
    """Logits alone, or with the loss in the graph."""
    nodes = [onnx.node("MatMul", ["x", "fc.weight"], ["logits"])]
    inputs = [onnx.value("x", ["batch", WIDTH])]
    if kind == "logits":
        return onnx.model(nodes, inputs, [onnx.value("logits", ["batch", 3])], [weight("fc.weight", [WIDTH, 3])])
    nodes.append(onnx.node("SoftmaxCrossEntropyLoss", ["logits", "labels"], ["loss"], ignore_index=-100))
    inputs.append(onnx.value("labels", ["batch"], onnx.INT64))
    return onnx.model(nodes, inputs, [onnx.value("loss", [])], [weight("fc.weight", [WIDTH, 3])])


def is_near(value, expected):
    return value is not None and abs(value - expected) <= 1e-5 * abs(expected)


def check_means(work):
    for kind in ("logits", "loss"):
        key = {"logits": "logits"} if kind == "logits" else {"output": "loss"}
        for labels in ([0, 1, 2, -100, 2, -100, -100, -100], [0, 1, 2, 2] + [-100] * 4):
            data = features(1, 8)
            job = Job(work / "job", classifier(kind), {"x": data, "labels": tensors.Tensor((1, 8), labels, "i64")})
            halves = Job(work / "halves", classifier(kind),
                         {"x": tensors.Tensor((2, 4, WIDTH), data.values), "labels": tensors.Tensor((2, 4), labels, "i64")})
            first, second = (record["loss"] for record in halves.train(rate=0, model={"loss": key}))
            counts = [sum(label >= 0 for label in half) for half in (labels[:4], labels[4:])]
            whole = (counts[0] * first + counts[1] * second) / sum(counts)
            for ranks in (1, 2):
                run = lambda parts, mean: job.train(ranks, samples=8, parts=parts, rate=0, model={"loss": dict(key, mean=mean)})[0]
                for parts in (1, 2, 4):
                    record = run(parts, "labels")
                    if not is_near(record["loss"], whole) or record["grad_norm"] is None:
                        yield "%s: one mean over labels in %d parts must be %s, got %s" % (kind, parts, whole, record)
                norms = [run(parts, "labels")["grad_norm"] for parts in (1, 4)]
                if not is_near(norms[1], norms[0]):
                    yield "%s: the norm must not depend on the parts, got %s" % (kind, norms)
                record = run(2, "parts")
                if not is_near(record["loss"], (first + second) / 2) or record["grad_norm"] is None:
                    yield "%s: the mean of two means must be %s, got %s" % (kind, (first + second) / 2, record)


def check_whole(work):
    """A table [features] that is the same for all samples, with as many rows as a part has; the batch is called N."""
    nodes = [onnx.node("Add", ["x", "table"], ["a"]), onnx.node("MatMul", ["a", "fc.weight"], ["b"])] + mean_square("b")
    inputs = [onnx.value("table", [WIDTH]), onnx.value("x", ["N", WIDTH])]
    model = onnx.model(nodes, inputs, [onnx.value("loss", [])], [weight("fc.weight", [WIDTH, WIDTH])])
    table = tensors.Tensor((2, WIDTH), [i / 8 for i in range(2 * WIDTH)])
    job = Job(work / "job", model, {"x": features(2, 8), "table": table})
    expected = [(record["loss"], record["grad_norm"], record["samples"]) for record in job.train(samples=8, optimizer="SGD")]
    for ranks, parts, stage in ((1, 2, 0), (2, 1, 1), (2, 4, 3)):
        got = [(record["loss"], record["grad_norm"], record["samples"])
               for record in job.train(ranks, stage, samples=8, parts=parts, optimizer="SGD")]
        if not all(is_near(a, b) for one, other in zip(got, expected) for a, b in zip(one, other)):
            yield "%d ranks, %d parts: must have losses, norms and samples %s, got %s" % (ranks, parts, expected, got)
    if subprocess.run(["ds-run", "train", "model.onnx", "--config", "ds_config.json", "--data", "data", "--ranks", "2", "-q", "--",
                       "--mesh=tp=2"], cwd=job.folder).returncode != 0:
        yield "a mesh without dp must train"


def main(check, work):
    checks = {"tensors": check_tensors, "equal": check_equal, "folded": check_folded, "names": check_names, "means": check_means,
              "whole": check_whole}
    faults = list(checks[check](pathlib.Path(work)))
    print("\n".join(faults or [check + ": ok"]))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
