# SPDX-FileCopyrightText: The ds-mlir authors
# SPDX-License-Identifier: Apache-2.0
"""The table of bad_inputs.py: what is broken, the exit code, and what the one line of text must match."""

import json
import os
import shutil

import onnx_model as onnx
import tensors

BAD_INPUT, UNSUPPORTED, INTEGRITY = 2, 3, 8
SIZES, STEPS, SAMPLES = [5, 7, 3], 4, 6
CONFIG = {"train_batch_size": SAMPLES, "optimizer": {"type": "AdamW", "params": {"lr": 0.01}},
          "zero_optimization": {"stage": 2}}
TRAIN = ["ds-run", "train", "model.onnx", "--config", "ds_config.json", "--data", "data"]
QUIET = ["-q", "--threads", "1", "--ranks", "2"]
OUTPUTS = ["--save-model", "out.safetensors", "--plan-out", "out.dsplan", "--log", "out.jsonl", "--report", "out.json"]
RUN_PLAN = ["ds-run", "train", "good.dsplan", "--data", "data", "--model-folder", ".", "-q", "--threads", "1",
            "--save-model", "out.safetensors", "--log", "out.jsonl"]
# Makes the compiler fail when it has done all its work: what is said in spite of it was said before.
NO_MEMORY = ["--memory-budget=100"]
COMPILE = ["ds-compile", "model.onnx", "--config", "ds_config.json", "-o", "out.dsplan"]


class Case:
    """`change` breaks the files of the folder it is given; `command` is what runs there."""

    def __init__(self, name, code, message, change=None, command=None, more=(), flags=(), lines=1):
        self.name, self.code, self.message, self.change, self.lines = name, code, message, change, lines
        self.command = (command or TRAIN + QUIET + OUTPUTS) + list(more) + (["--"] + list(flags) if flags else [])


def rewrite(name, change):
    """A change to the bytes of a file."""
    return lambda folder: (folder / name).write_bytes(change((folder / name).read_bytes()))


def make_pipe(name):
    """A named pipe in the place of a file: whoever opens it as a file waits for ever."""

    def apply(folder):
        (folder / name).unlink(missing_ok=True)
        os.mkfifo(folder / name)

    return apply


def remove(name):
    return lambda folder: shutil.rmtree(folder / name) if (folder / name).is_dir() else (folder / name).unlink()


# --------------------------------------------------------------------------------------------------------- models


def rebuild(change):
    """A change to the lists of nodes, inputs, outputs and initializers, in place, or a new model from them."""

    def apply(folder):
        parts = onnx.classifier_parts(SIZES)
        model = change(*parts)
        (folder / "model.onnx").write_bytes(model or onnx.model(*parts))

    return apply


def nodes_at(index, *new):
    return rebuild(lambda nodes, inputs, outputs, weights: nodes.__setitem__(slice(index, index + 1), new))


def weights_at(index, *new):
    return rebuild(lambda nodes, inputs, outputs, weights: weights.__setitem__(slice(index, index + 1), new))


def model_cases():
    huge = 1 << 62
    cycle = nodes_at(0, onnx.node("MatMul", ["fc0.loop", "fc0.weight"], ["fc0.product"], "fc0"),
                     onnx.node("Gemm", ["fc0.product", "fc0.weight"], ["fc0.loop"], "loop"))
    twin = nodes_at(2, onnx.node("Relu", ["fc0.sum"], ["fc0.relu"], "relu0"), onnx.node("Neg", ["fc0.sum"], ["fc0.relu"], "twin"))
    no_loss = rebuild(lambda nodes, inputs, outputs, weights:
                      onnx.model(nodes[:-1], inputs[:1], [onnx.value("fc1.sum", ["batch", 3])], weights))
    unbound = rebuild(lambda nodes, inputs, outputs, weights: inputs.__setitem__(0, onnx.value("x", ["batch", "width"])))
    outside = rebuild(lambda nodes, inputs, outputs, weights:
                      weights.__setitem__(0, onnx.external_initializer("fc0.weight", [5, 7], "../secret")))
    return [
        Case("truncated", BAD_INPUT, r"model\.onnx: is not an ONNX model: field at byte \d+ is cut off",
             rewrite("model.onnx", lambda data: data[: len(data) // 2])),
        Case("empty", BAD_INPUT, r"model\.onnx: is not an ONNX model", rewrite("model.onnx", lambda data: b"")),
        Case("text", BAD_INPUT, r"model\.onnx: is not an ONNX model", rewrite("model.onnx", lambda data: b"weights\n" * 9)),
        Case("missing", BAD_INPUT, r"model\.onnx: no such plan or model", remove("model.onnx")),
        Case("a folder", BAD_INPUT, r"\bdata: ", command=["ds-run", "train", "data"] + TRAIN[3:] + QUIET + OUTPUTS),
        Case("cyclic graph", BAD_INPUT, r"model\.onnx: node '(fc0|loop)' .*cycle", cycle),
        Case("defined twice", BAD_INPUT, r"model\.onnx: node 'twin' \(Neg\) defines 'fc0\.relu'", twin),
        Case("wrong element type", BAD_INPUT, r"model\.onnx: node 'bias0' \(Add\) must have .* got f32 and i64",
             weights_at(1, onnx.initializer("fc0.bias", [7], [0] * 7, onnx.INT64))),
        Case("shapes that do not fit", BAD_INPUT, r"model\.onnx: node 'fc0' \(MatMul\) must .*\[\d+, 5\] and \[4, 7\]",
             weights_at(0, onnx.initializer("fc0.weight", [4, 7], [0] * 28))),
        Case("shape that overflows", BAD_INPUT, r"model\.onnx: initializer 'fc0\.weight' has a shape that overflows",
             weights_at(0, onnx.initializer("fc0.weight", [huge, huge], [0] * 35))),
        Case("shape larger than the file", BAD_INPUT, r"model\.onnx: initializer 'fc0\.weight' must have \d+ bytes of data, got 140",
             weights_at(0, onnx.initializer("fc0.weight", [1 << 20, 1 << 12], [0] * 35))),
        Case("missing initializer", BAD_INPUT, r"model\.onnx: node 'fc0' \(MatMul\) reads 'fc0\.weight'", weights_at(0)),
        Case("weights outside the folder", BAD_INPUT, r"model\.onnx: initializer 'fc0\.weight' .*\.\./secret", outside),
        Case("unknown op", UNSUPPORTED, r"model\.onnx: .*relu0.*Rleu|model\.onnx: .*Rleu.*relu0",
             nodes_at(2, onnx.node("Rleu", ["fc0.sum"], ["fc0.relu"], "relu0"))),
        Case("old opset", UNSUPPORTED, r"model\.onnx: must have opset 7 to 23, got 6",
             rebuild(lambda *parts: onnx.model(*parts, opset=6))),
        Case("no loss", BAD_INPUT, r"ds_config\.json: \"model\.loss\.output\" must name an output of model\.onnx, got 'loss'; it has 'fc1\.sum'", no_loss),
        Case("unbound dim", BAD_INPUT, r"model\.onnx: .*'width'", unbound, COMPILE),
        Case("input with a name of ours", UNSUPPORTED, r"model\.onnx: input 'ds\.x' must have another name: those that begin with 'ds\.' are",
             rebuild(lambda nodes, inputs, outputs, weights: inputs.append(onnx.value("ds.x", ["batch", 5])))),
        Case("loss of several numbers", BAD_INPUT, r"model\.onnx: output 'loss' must be one float to be the loss, got tensor<6x3xf32>; take its mean .*model\.loss\.logits",
             rebuild(lambda nodes, inputs, outputs, weights:
                     onnx.model(nodes[:-1] + [onnx.node("Neg", ["fc1.sum"], ["loss"])], inputs, [onnx.value("loss", ["batch", 3])], weights))),
    ]


# -------------------------------------------------------------------------------------------------------- configs


def configure(**keys):
    """Adds keys to the config, and removes those that are None."""
    config = {key: value for key, value in dict(CONFIG, **keys).items() if value is not None}
    return rewrite("ds_config.json", lambda data: json.dumps(config).encode())


def adam(**params):
    return {"type": "AdamW", "params": dict({"lr": 0.01}, **params)}


def square_loss(folder):
    nodes_at(5, onnx.node("ReduceMean", ["fc1.sum"], ["loss"], keepdims=0))(folder)
    configure(model={"loss": {"mean": "labels"}})(folder)


def config_cases():
    text = lambda content: rewrite("ds_config.json", lambda data: content)
    offload = {"stage": 2, "offload_optimizer": {"device": "cpu"}}
    return [
        Case("missing", BAD_INPUT, r"ds_config\.json: ", remove("ds_config.json")),
        Case("empty", BAD_INPUT, r"ds_config\.json:1:1: ", text(b"")),
        Case("cut off", BAD_INPUT, r"ds_config\.json:1:24: ", text(b'{"train_batch_size": 6,')),
        Case("no object", BAD_INPUT, r"ds_config\.json: ", text(b"[6]")),
        Case("key given twice", BAD_INPUT, r"ds_config\.json: .*train_batch_size",
             text(b'{"train_batch_size": 6, "train_batch_size": 12}')),
        Case("misspelt key", BAD_INPUT, r'ds_config\.json: .*gradient_acumulation_steps.*did you mean.*gradient_accumulation_steps',
             configure(gradient_acumulation_steps=1)),
        Case("misspelt key in a section", BAD_INPUT, r"ds_config\.json: .*optimizer\.params\.weight_decy.*did you mean.*weight_decay",
             configure(optimizer=adam(weight_decy=0.1))),
        Case("wrong type", BAD_INPUT, r'ds_config\.json: "train_batch_size"', configure(train_batch_size="six")),
        Case("out of range", BAD_INPUT, r'ds_config\.json: "optimizer\.params\.lr".*-1', configure(optimizer=adam(lr=-1.0))),
        Case("number beyond floats", BAD_INPUT, r'ds_config\.json: "optimizer\.params\.lr" must fit a 32-bit float.*1e\+39',
             configure(optimizer=adam(lr=1e39))),
        Case("learning rate that grows beyond floats", BAD_INPUT, r"step 1: the learning rate must fit a 32-bit float, got 1e\+46",
             configure(scheduler={"type": "LRRangeTest", "params": {
                 "lr_range_test_min_lr": 1e9, "lr_range_test_step_size": 1, "lr_range_test_step_rate": 1e37}})),
        Case("no batch size", BAD_INPUT, r"ds_config\.json: .*train_batch_size", configure(train_batch_size=None)),
        Case("batch triple that does not divide", BAD_INPUT, r"ds_config\.json: .*\b6\b.*\b4\b",
             configure(train_micro_batch_size_per_gpu=4, gradient_accumulation_steps=1)),
        Case("stage 7", BAD_INPUT, r'ds_config\.json: "zero_optimization\.stage".*7', configure(zero_optimization={"stage": 7})),
        Case("unknown optimizer", BAD_INPUT, r'ds_config\.json: "optimizer\.type".*Adamm',
             configure(optimizer={"type": "Adamm", "params": {}})),
        Case("half precision", UNSUPPORTED, r'ds_config\.json: "fp16', configure(fp16={"enabled": True})),
        Case("offload", UNSUPPORTED, r"ds_config\.json: .*offload_optimizer", configure(zero_optimization=offload)),
        Case("frozen is no expression", BAD_INPUT, r'ds_config\.json: "model\.frozen".*\(', configure(model={"frozen": ["("]})),
        Case("unknown logits", BAD_INPUT, r"ds_config\.json: \"model\.loss\.logits\".*'no_such_output'", configure(model={"loss": {"logits": "no_such_output"}})),
        Case("unknown loss", BAD_INPUT, r"ds_config\.json: \"model\.loss\.output\".*'no_such_loss'", configure(model={"loss": {"output": "no_such_loss"}})),
        Case("unknown dim", BAD_INPUT, r"no_such_dim", configure(model={"dims": {"no_such_dim": 4}})),
        Case("no optimizer", BAD_INPUT, r"ds_config\.json: \"optimizer\" must be given to train, like \{", configure(optimizer=None)),
        Case("all frozen", BAD_INPUT, r"ds_config\.json: \"model\.frozen\" must leave a parameter to train, got all 4 frozen", configure(model={"frozen": [".*"]})),
        Case("no parameters", BAD_INPUT, r"ds_config\.json: the model has no parameters to train", configure(model={"buffers": [".*"]})),
        Case("frozen that matches nothing", BAD_INPUT, r"ds_config\.json: \"model\.frozen\" must match whole names, got \"fc\", which matches none of the 4 there are like \"fc0\.weight\"", configure(model={"frozen": ["fc"]})),
        Case("buffer that matches nothing", BAD_INPUT, r"ds_config\.json: \"model\.buffers\" must match whole names, got \"fc\"", configure(model={"buffers": ["fc"]})),
        Case("tied that matches nothing", BAD_INPUT, r"ds_config\.json: \"model\.tied\" must match whole names, got \"fc\"", configure(model={"tied": [["fc"]]})),
        Case("tied that differ", BAD_INPUT, r"ds_config\.json: \"model\.tied\": 'fc1\.weight' must begin with the values of 'fc0\.weight', or their transpose", configure(model={"tied": [["fc.\\.weight"]]})),
        Case("mean over labels of another loss", BAD_INPUT, r"ds_config\.json: \"model\.loss\.mean\" must be \"parts\": 'loss' of model\.onnx is no mean cross entropy", square_loss),
    ]


# ----------------------------------------------------------------------------------------------------------- data


def floats(*shape):
    return tensors.Tensor(shape, [0.0] * count(shape))


def labels(values, *shape):
    return tensors.Tensor(shape, (values * count(shape))[: count(shape)], "i64")


def count(shape):
    total = 1
    for size in shape:
        total *= size
    return total


def store(name, tensor):
    return lambda folder: tensors.write_npy(folder / "data" / (name + ".npy"), tensor)


def store_weights(name, tensor, dropped_bytes=0):
    """weights.safetensors with `tensor` for one of the parameters, or without it, and without its last bytes."""

    def apply(folder):
        weights = {"fc0.weight": floats(5, 7), "fc0.bias": floats(7), "fc1.weight": floats(7, 3), "fc1.bias": floats(3)}
        weights[name] = tensor
        path = folder / "weights.safetensors"
        tensors.write_safetensors(path, {key: value for key, value in weights.items() if value})
        data = path.read_bytes()
        path.write_bytes(data[: len(data) - dropped_bytes])

    return apply


def header_of(name, old, new):
    return rewrite("data/%s.npy" % name, lambda data: data[:128].replace(old, new) + data[128:])


def label_at(step, sample, value):
    def change(folder):
        tensor = tensors.read_npy(folder / "data" / "labels.npy")
        tensor.values[step * SAMPLES + sample] = value
        tensors.write_npy(folder / "data" / "labels.npy", tensor)

    return change


def attach_loss(folder):
    """Logits alone in the model, cross entropy in the config, and labels that are floats."""
    rebuild(lambda nodes, inputs, outputs, weights:
            onnx.model(nodes[:-1], inputs[:1], [onnx.value("fc1.sum", ["batch", 3])], weights))(folder)
    configure(model={"loss": {"logits": "fc1.sum"}})(folder)
    store("labels", floats(STEPS, SAMPLES))(folder)


def open_width(data):
    """x has a symbolic dim besides the batch, and `data` is done to its data."""

    def change(folder):
        rebuild(lambda nodes, inputs, outputs, weights: inputs.__setitem__(0, onnx.value("x", ["batch", "width"])))(folder)
        data(folder)

    return change


def language_model(shift, more):
    """Token numbers in, logits out, labels from the config; `more` is done to the folder."""

    def change(folder):
        nodes = [onnx.node("Gather", ["wte.weight", "input_ids"], ["x"]), onnx.node("MatMul", ["x", "head.weight"], ["logits"])]
        weights = [onnx.initializer("wte.weight", [9, 4], onnx.spread(36, 1.0, 1)), onnx.initializer("head.weight", [4, 9], onnx.spread(36, 1.0, 2))]
        model = onnx.model(nodes, [onnx.value("input_ids", ["batch", "sequence"], onnx.INT64)], [onnx.value("logits", ["batch", "sequence", 9])], weights)
        (folder / "model.onnx").write_bytes(model)
        configure(model={"dims": {"sequence": 5}, "loss": {"logits": "logits", "shift": shift}})(folder)
        more(folder)

    return change


def next_tokens(folder):
    tokens = [7 * i % 9 for i in range(2 * SAMPLES * 5 + 1)]
    store("input_ids", tensors.Tensor((2, SAMPLES, 5), tokens[:-1], "i64"))(folder)
    store("labels", tensors.Tensor((2, SAMPLES, 5), tokens[1:], "i64"))(folder)


def data_cases():
    token_file = lambda folder: (folder / "tokens.bin").write_bytes(bytes(2 * (2 * SAMPLES * 5 + 1)))
    no_length = lambda folder: (token_file(folder), configure(model={"loss": {"logits": "logits"}})(folder))
    tokens = TRAIN[:6] + ["tokens.bin"] + QUIET
    labels_error = r"step %d, input 'labels': sample %d: must be in \[0, 3\) or -100, got %d$"
    load = ["--load-model", "weights.safetensors"]
    old_header, new_header = b"(4, 6, 5, ), }" + b" " * 26, b"(4, 6, 4611686018427387904, 4, 5, ), }"
    overflow = lambda data: data.replace(old_header, new_header.ljust(len(old_header)))
    return [
        Case("missing folder", BAD_INPUT, r"data: no such data folder", remove("data"), flags=NO_MEMORY),
        Case("missing file", BAD_INPUT, r"data.*labels", remove("data/labels.npy"), flags=NO_MEMORY),
        Case("no data", BAD_INPUT, r"--data must be given: the model has input 'x'", command=TRAIN[:5] + QUIET + OUTPUTS, flags=NO_MEMORY),
        Case("another file name", BAD_INPUT, r"data/x\.npy: no such file, which must have the data of input 'x' \[batch, width\]; data has labels\.npy, y\.npy$",
             open_width(lambda folder: (folder / "data/x.npy").rename(folder / "data/y.npy"))),
        Case("no dim of steps", BAD_INPUT, r"data/x\.npy: must have the dims \[steps, batch, width\] for input 'x' \[batch, width\], got \[6, 5\]$",
             open_width(store("x", floats(SAMPLES, 5)))),
        Case("tokens without the length of sequences", BAD_INPUT, r"tokens\.bin: a file of tokens does not tell .*\"model\.dims\".* 'input_ids' \[batch, sequence\]",
             language_model(False, no_length), tokens),
        Case("tokens whose labels are shifted again", BAD_INPUT, r"tokens\.bin: \"model\.loss\.shift\" must be false, got true: the labels of a file of tokens",
             language_model(True, token_file), tokens),
        Case("next tokens that are shifted again", BAD_INPUT, r"data/labels\.npy: \"model\.loss\.shift\" must be false, got true: these are the next tokens of 'input_ids'",
             language_model(True, next_tokens)),
        Case("wrong shape", BAD_INPUT, r"x\.npy: shape must be .*\[6, 5\] of input 'x', got \[4, 6, 9\]",
             store("x", floats(STEPS, SAMPLES, 9)), flags=NO_MEMORY),
        Case("too few dims", BAD_INPUT, r"\bx\b", store("x", floats(STEPS, SAMPLES))),
        Case("other batch size", BAD_INPUT, r"\b(x|batch)\b.*\b5\b", store("x", floats(STEPS, 5, 5))),
        Case("wrong type", BAD_INPUT, r"labels\.npy.*I64.*F32", store("labels", floats(STEPS, SAMPLES)), flags=NO_MEMORY),
        Case("wrong type for the compiler alone", BAD_INPUT, r"labels\.npy.*I64.*F32", store("labels", floats(STEPS, SAMPLES)), COMPILE, ["--data", "data"]),
        Case("labels of a loss that the config attaches", BAD_INPUT, r"labels\.npy.*I64.*F32", attach_loss, flags=NO_MEMORY),
        Case("no steps", BAD_INPUT, r"x\.npy", store("x", floats(0, SAMPLES, 5))),
        Case("Fortran order", BAD_INPUT, r"x\.npy: must be in row-major order, got Fortran order", header_of("x", b"False", b"True "), flags=NO_MEMORY),
        Case("big-endian numbers", BAD_INPUT, r"x\.npy: must hold little-endian numbers, got numpy type '>f4'", header_of("x", b"<f4", b">f4"),
             flags=NO_MEMORY),
        Case("without the dim of steps", BAD_INPUT, r"labels\.npy: shape must be \[steps\] \+ \[6\] of input 'labels', got \[6\]",
             store("labels", labels([1], SAMPLES)), flags=NO_MEMORY),
        Case("several faults", BAD_INPUT, r"x\.npy: must be in row-major order|labels\.npy: shape must be",
             lambda folder: (header_of("x", b"False", b"True ")(folder), store("labels", labels([1], SAMPLES))(folder)), flags=NO_MEMORY, lines=2),
        Case("steps that differ", BAD_INPUT, r"(x|labels)\.npy", store("labels", labels([1], STEPS - 1, SAMPLES))),
        Case("label that is no class", BAD_INPUT, labels_error % (2, 4, 3), label_at(2, 4, 3)),
        Case("negative label", BAD_INPUT, labels_error % (0, 0, -1), label_at(0, 0, -1)),
        Case("label whose low bits are a class", BAD_INPUT, labels_error % (3, 5, 2**40 + 1), label_at(3, 5, 2**40 + 1)),
        Case("cut off", BAD_INPUT, r"x\.npy", rewrite("data/x.npy", lambda data: data[:-8])),
        Case("cut off in the header", BAD_INPUT, r"x\.npy", rewrite("data/x.npy", lambda data: data[:40])),
        Case("no numbers", BAD_INPUT, r"x\.npy", rewrite("data/x.npy", lambda data: b"1 2 3\n" * 99)),
        Case("shape that overflows", BAD_INPUT, r"x\.npy", rewrite("data/x.npy", overflow)),
        Case("missing weights", BAD_INPUT, r"weights\.safetensors", more=load),
        Case("weights of another shape", BAD_INPUT, r"weights\.safetensors.*fc0\.weight", store_weights("fc0.weight", floats(7, 5)), more=load),
        Case("weights without one", BAD_INPUT, r"weights\.safetensors.*fc1\.bias", store_weights("fc1.bias", None), more=load),
        Case("weights cut off", BAD_INPUT, r"weights\.safetensors", store_weights("fc0.bias", floats(7), 3), more=load),
    ]


# ---------------------------------------------------------------------------------------------------------- plans


def plan_cases():
    cut = lambda size: rewrite("good.dsplan", lambda data: data[: size(len(data))])
    patch = lambda at, new: rewrite("good.dsplan", lambda data: data[:at] + new + data[at + len(new) :])
    hole = rewrite("good.dsplan", lambda data: data[:64] + bytes(len(data) // 2) + data[64 + len(data) // 2 :])
    return [
        Case("half of it", INTEGRITY, r"invalid plan: file is cut off.*good\.dsplan", cut(lambda size: size // 2), RUN_PLAN),
        Case("ten bytes", BAD_INPUT, r"good\.dsplan", cut(lambda size: 10), RUN_PLAN),
        Case("empty", BAD_INPUT, r"good\.dsplan", cut(lambda size: 0), RUN_PLAN),
        Case("wrong start", BAD_INPUT, r"good\.dsplan", patch(4, b"XXXX"), RUN_PLAN),
        Case("wrong root", INTEGRITY, r"good\.dsplan", patch(0, b"\xff\xff\xff\x7f"), RUN_PLAN),
        Case("zeros inside", INTEGRITY, r"invalid plan: file is damaged.*good\.dsplan", hole, RUN_PLAN),
        Case("inspect half of it", INTEGRITY, r"good\.dsplan", cut(lambda size: size // 2), ["ds-run", "inspect", "good.dsplan"]),
        Case("inspect a model", BAD_INPUT, r"model\.onnx", None, ["ds-run", "inspect", "model.onnx"]),
        Case("for other ranks", BAD_INPUT, r"good\.dsplan: is a plan for 2 ranks, got --ranks 3", None, RUN_PLAN, ["--ranks", "3"]),
        Case("with another recipe", BAD_INPUT, r'ds_config\.json: "optimizer\.params\.weight_decay" must be 0\.0 as in the plan, got 0\.5; .*learning rate',
             configure(optimizer=adam(weight_decay=0.5, lr=0.1), scheduler={"type": "WarmupLR"}), RUN_PLAN, ["--config", "ds_config.json"]),
        Case("with another batch", BAD_INPUT, r'ds_config\.json: "train_batch_size" must be 6 as in the plan, got 12; ',
             configure(train_batch_size=12), RUN_PLAN, ["--config", "ds_config.json"]),
        Case("with compiler flags", BAD_INPUT, r"good\.dsplan: is a plan already", None, RUN_PLAN, flags=["--zero-stage=1"]),
        Case("without its model", BAD_INPUT, r"model\.onnx", remove("model.onnx"), RUN_PLAN),
        Case("with a shorter model", BAD_INPUT, r"model\.onnx", rewrite("model.onnx", lambda data: data[:99]), RUN_PLAN),
    ]


# ---------------------------------------------------------------------------------------------------------- flags


def flag_cases():
    return [
        Case("unknown flag", BAD_INPUT, r"--rank-count", more=["--rank-count", "2"]),
        Case("unknown subcommand", BAD_INPUT, r"trian|subcommand", command=["ds-run", "trian"]),
        Case("no ranks", BAD_INPUT, r"--ranks", command=TRAIN + OUTPUTS, more=["--ranks", "0"]),
        Case("no number", BAD_INPUT, r"--steps", more=["--steps", "many"]),
        Case("unknown role", BAD_INPUT, r"--dump-variables must be ROLE=FILE", more=["--dump-variables", "weight=dump.safetensors"],
             flags=NO_MEMORY),
        Case("output into no folder", BAD_INPUT, r"no/out\.safetensors: cannot write: no is no folder", command=TRAIN + QUIET,
             more=["--save-model", "no/out.safetensors"], flags=NO_MEMORY),
        Case("log into no folder", BAD_INPUT, r"no/out\.jsonl: cannot write", command=TRAIN + QUIET, more=["--log", "no/out.jsonl"], flags=NO_MEMORY),
        Case("report into no folder", BAD_INPUT, r"no/out\.json: cannot write", command=TRAIN + QUIET, more=["--report", "no/out.json"], flags=NO_MEMORY),
        Case("variables into no folder", BAD_INPUT, r"no/out\.st: cannot write", command=TRAIN + QUIET,
             more=["--dump-variables", "gradient=no/out.st"], flags=NO_MEMORY),
        Case("plan into no folder", BAD_INPUT, r"no/out\.dsplan: cannot write: no is no folder$", command=TRAIN + QUIET,
             more=["--plan-out", "no/out.dsplan"], flags=NO_MEMORY),
        Case("plan over a folder", BAD_INPUT, r"data: cannot write: is a folder", command=COMPILE[:4], more=["-o", "data"] + NO_MEMORY),
        Case("program into no folder", BAD_INPUT, r"no/out\.mlir: cannot write", command=COMPILE[:4],
             more=["--emit=schedule", "-o", "no/out.mlir"]),
        Case("too many cores", BAD_INPUT, r"--bind cores needs 4096 cores",
             command=TRAIN + ["-q", "--bind", "cores", "--threads", "4096", "--log", "out.jsonl"]),
        Case("unknown compiler flag", BAD_INPUT, r"zero-stag", flags=["--zero-stag=1"]),
        Case("unknown stage of the compiler", BAD_INPUT, r"--emit must be import, .*got 'object'", command=COMPILE, more=["--emit=object"]),
        Case("stage 7", BAD_INPUT, r"--zero-stage must be 0 to 3, got 7", flags=["--zero-stage=7"]),
        Case("layout for an unknown parameter", BAD_INPUT, r"--layout must name a parameter of the model, got 'fc9\.weight'",
             flags=["--layout=fc9.weight=[{dp}, {}]"]),
        Case("layout of another rank", BAD_INPUT, r"--layout .*fc0\.weight", flags=["--layout=fc0.weight=[{dp}]"]),
        Case("layout that is none", BAD_INPUT, r"--layout .*fc0\.weight", flags=["--layout=fc0.weight=[{dp"]),
        Case("layout over no axis", BAD_INPUT, r"--layout of fc0\.weight refers to unknown axis \"tp\"", flags=["--layout=fc0.weight=[{tp}, {}]"]),
        Case("mesh that is none", BAD_INPUT, r"--mesh must be NAME=SIZE", command=COMPILE, more=["--mesh=dp"]),
        Case("axis given twice", BAD_INPUT, r"--mesh must have each axis once .*'dp=2,dp=2'", command=COMPILE, more=["--mesh=dp=2,dp=2"]),
        Case("dim that is none", BAD_INPUT, r"--dim must be NAME=SIZE", flags=["--dim=batch=none"]),
        Case("dim that is not there", BAD_INPUT, r"no_such_dim", flags=["--dim=no_such_dim=4"]),
        Case("dim against the batch size", BAD_INPUT,
             r"dim 'batch' must be 6, \"train_batch_size\" 6 / \"gradient_accumulation_steps\" 1 of ds_config\.json, got 5$",
             flags=["--dim=batch=5"] + NO_MEMORY),
        Case("dim of the config against its batch size", BAD_INPUT, r"dim 'batch' must be 6, .*got 5$",
             configure(model={"dims": {"batch": 5}}), flags=NO_MEMORY),
        Case("batch of the model against the batch size", BAD_INPUT,
             r"ds_config\.json: \"train_batch_size\" 6 in 1 part needs an input with dim 0 of 6, got 5 of 'x', 5 of 'labels'",
             rebuild(lambda nodes, inputs, outputs, weights:
                     inputs.__setitem__(slice(0, 2), [onnx.value("x", [5, 5]), onnx.value("labels", [5], onnx.INT64)])), flags=NO_MEMORY),
        Case("unknown processor", UNSUPPORTED, r"pentium9", flags=["--cpu=pentium9"]),
        Case("memory that does not suffice", UNSUPPORTED, r"\d+ bytes more than the budget of 100; the peak is at ", flags=["--memory-budget=100"]),
        Case("no config", BAD_INPUT, r"--config", command=["ds-run", "train", "model.onnx", "--data", "data"] + QUIET + OUTPUTS),
        Case("no output", BAD_INPUT, r"-o FILE must be given", command=COMPILE[:4]),
    ]


# --------------------------------------------------------------------------------------------------------- files


def link(name, target):
    return lambda folder: (folder / name).symlink_to(target)


def file_cases():
    train = TRAIN + QUIET
    long_name = "x" * 300
    return [
        Case("model is a pipe", BAD_INPUT, r"model\.onnx: must be a regular file", make_pipe("model.onnx")),
        Case("config is a pipe", BAD_INPUT, r"ds_config\.json: must be a regular file", make_pipe("ds_config.json")),
        Case("data are a pipe", BAD_INPUT, r"data/x\.npy: must be a regular file", make_pipe("data/x.npy"), flags=["--dim=batch=6"]),
        Case("weights are a pipe", BAD_INPUT, r"pipe: must be a regular file", make_pipe("pipe"), more=["--load-model", "pipe"]),
        Case("machine is a pipe", BAD_INPUT, r"\"pipe\": pipe: must be a regular file", make_pipe("pipe"), flags=["--machine=pipe"]),
        Case("machine is a device", BAD_INPUT, r"/dev/zero: must be a regular file", flags=["--machine=/dev/zero"]),
        Case("config is a device", BAD_INPUT, r"/dev/zero: must be a regular file",
             command=["ds-run", "train", "model.onnx", "--config", "/dev/zero", "--data", "data"] + QUIET),
        Case("link that leads to itself", BAD_INPUT, r"model\.onnx: (no such plan or model|cannot open)",
             lambda folder: (remove("model.onnx")(folder), link("model.onnx", "model.onnx")(folder))),
        Case("name that is too long", BAD_INPUT, r"x: no such data folder", command=train[:6] + [long_name] + QUIET),
        Case("config with a name that is too long", BAD_INPUT, r"x: cannot open: File name too long", command=COMPILE[:3] + [long_name] + COMPILE[4:]),
        Case("output with a name that is too long", BAD_INPUT, r"--log x+: cannot write: File name too long", command=train + ["--log", long_name]),
        Case("one file for two outputs", BAD_INPUT, r"--report .*out: is the file of --log as well", command=train + ["--log", "out", "--report", "data/../out"]),
        Case("log over the data", BAD_INPUT, r"--log data/labels\.npy: would be written over", command=train + ["--log", "data/labels.npy"]),
        Case("weights over the model", BAD_INPUT, r"--save-model model\.onnx: would be written over", command=train + ["--save-model", "model.onnx"]),
        Case("report over the config", BAD_INPUT, r"--report ds_config\.json: would be written over", command=train + ["--report", "ds_config.json"]),
        Case("weights over a device", BAD_INPUT, r"--save-model /dev/null: cannot write: is a device", command=train + ["--save-model", "/dev/null"]),
        Case("weights over a link", BAD_INPUT, r"--save-model link: cannot write: is a symbolic link", link("link", "nowhere"), train + ["--save-model", "link"]),
        Case("log into a pipe", BAD_INPUT, r"--log pipe: cannot write: is a named pipe", make_pipe("pipe"), train + ["--log", "pipe"]),
        Case("plan over the model", BAD_INPUT, r"-o model\.onnx: would be written over", command=COMPILE[:4] + ["-o", "model.onnx"]),
        Case("plan over the config", BAD_INPUT, r"-o ds_config\.json: would be written over", command=COMPILE[:4] + ["-o", "ds_config.json"]),
        Case("plan over a link", BAD_INPUT, r"-o link: cannot write: is a symbolic link", link("link", "nowhere"), COMPILE[:4] + ["-o", "link"]),
        Case("outputs of inference over the data", BAD_INPUT, r"--output data/y\.npy: would be written over", write_echo,
             ["ds-run", "infer", "echo.onnx", "--data", "data", "--output", "data"] + QUIET),
        Case("model saved again", BAD_INPUT, r"model\.onnx: must be the file that the plan was compiled from \(other bytes of the same number\)",
             rewrite("model.onnx", lambda data: data.replace(b"relu0", b"relu9")), RUN_PLAN),
    ]


def write_echo(folder):
    """A model with an output of which there is a file among the data."""
    nodes = [onnx.node("Relu", ["x"], ["y"], "relu")]
    (folder / "echo.onnx").write_bytes(onnx.model(nodes, [onnx.value("x", [SAMPLES, SIZES[0]])], [onnx.value("y", [SAMPLES, SIZES[0]])]))
    (folder / "data" / "y.npy").write_bytes((folder / "data" / "x.npy").read_bytes())


GROUPS = {"model": model_cases, "config": config_cases, "data": data_cases, "plan": plan_cases, "flags": flag_cases, "files": file_cases}
