// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ConfigKey.h"
#include "KeyValue.h"

#include <algorithm>

namespace ds {

using namespace config;

static constexpr const char *introduction =
    R"(# Configuration

`ds-run` and `ds-compile` read DeepSpeed's `ds_config.json`. The file is strict JSON: duplicate keys, comments, trailing
commas, NaN and Infinity are errors, and so is every key that is not listed here. Integers may be written like `5e8`.
In the sections marked with "auto", the value `"auto"` means the default, as in DeepSpeed.

Status of a key:

* **honoured**: does what it says.
* **no effect**: accepted for compatibility, changes nothing; `ds-run check-config` lists those that a file has.
* **refused**: may have its default, or another value that asks for nothing; all else is refused, with exit code 3.
  While a section is switched off by its key `enabled`, `device` or `deepcompile`, its other keys have no effect.

Exit code 2: the file is wrong. Exit code 3: the file asks for what this version does not do.

**Batch sizes.** Missing ones follow from the others: `gradient_accumulation_steps` is the quotient, or 1. If
`train_micro_batch_size_per_gpu` is given, `train_batch_size` must be its product with `gradient_accumulation_steps` and
the number of data-parallel ranks. If it is not, `gradient_accumulation_steps` must divide `train_batch_size`, and the
samples of each micro-batch are spread over the ranks even where they do not divide.

**Learning rate.** The schedule advances after each update, as DeepSpeed's engine does it: step 0 has the starting value,
and step s the value of the schedule's iteration s - 1.

**Numbers.** Programs compute in 32-bit floats, so a number that is infinite there (above 3.4e38) is an error, and so is a
schedule that grows beyond.

**What an ONNX file does not say of gradients.** A file holds values alone, so some of PyTorch's training is lost when a model is exported:

* `x.detach()`, and what is computed under `torch.no_grad()`: name the values in `model.stop_gradient`, by the names that the file
  gives them (a viewer shows them; `ds-compile MODEL --emit=import` lists the nodes in order). A name that the loss does not depend on is an
  error. The names of inputs and parameters may stand there too.
* A straight-through estimator, `x + (f(x) - x).detach()`: the difference is such a value. If the exporter has simplified it away, write
  the model's forward function so that the difference has a use of its own.
* `nn.Embedding(padding_idx=i)`: the row i has a gradient here. Multiply the embedded tokens by `(ids != i)` in the model; they are zeros
  already, so no value changes, and the row's gradient is zero.
* `nn.Dropout` in a model that was exported in evaluation mode, and hooks on gradients.
* `torch.max(x, dim)` gives the gradient to one of equal elements, `torch.amax` an equal share to each. Both are one operator in the file, and
  it is read as `amax`.

Where a function has no derivative, the gradient is PyTorch's: 0 for ReLU and |x| at 0, the input's at the bound of a clip (of ReLU6, which is a
clip from 0 to 6, none), halves for equal operands of a maximum. The gradient of a square root at 0 is 0, as that of a norm of zeros.

**The loss of a step in parts.** A micro-batch's loss is the mean over its own labels, of all ranks; the step's is the mean
of these means, as DeepSpeed has it. Micro-batches with few labels then weigh as much as those with many, and the number
depends on how the batch is cut. `"mean": "labels"` in `model.loss` takes one mean over all labels of the step, as Hugging
Face's trainer does: the same number for every cut. It needs `logits`, or a loss of the graph that is a mean cross entropy.
A micro-batch without labels has the loss 0.

**What is trained.** An ONNX file has tensors, and seldom tells which of them are parameters. Floats are taken for
parameters, except for running statistics, names of well-known tables (`inv_freq`, `pe`, `attn_mask`, ...), and numbers or
tables that the exporter itself has computed; docs/import.md has the whole list. What could be meant otherwise is listed
in a note when the model is compiled. `model.parameters` and `model.buffers` decide, and silence the note:
`"buffers": ["pos_embed"]` keeps a table of positions as it is, `"parameters": ["logit_scale", "cls_token"]` confirms two
parameters. `model.frozen` is for parameters that PyTorch has, but that shall not move (`requires_grad = False`, which
no ONNX file tells). A parameter that the loss does not depend on is not updated, and not decayed.

`model.tied` makes parameters one: `"tied": [["wte\\.weight", "lm_head\\.weight"]]`. They must begin with equal values, or
as each other's transpose; the first of the file is kept. Without the key, equal values alone tie nothing.

This page is generated from the table that reads the file.
)";

/// Escapes what a table cell cannot hold.
static std::string cell(const std::string &text) {
  std::string result;
  for (const char c : text)
    result += c == '|' ? std::string("\\|") : std::string(1, c);
  return result;
}

static std::string statusText(const ConfigKey &key) {
  if (key.status == KeyStatus::Honoured)
    return "honoured";
  return key.status == KeyStatus::NoEffect ? "no effect" : "refused";
}

static std::string defaultOf(const ConfigKey &key) {
  if (key.isRequired)
    return "required";
  return key.defaultText == "null" ? "none" : "`" + key.defaultText + "`";
}

static std::string meaningOf(const ConfigKey &key) {
  std::string text = key.meaning;
  if (key.status == KeyStatus::Refused && !key.harmless.empty()) {
    text += "; also accepted:";
    for (const std::string &value : key.harmless)
      text += " `" + value + "`";
  }
  if (key.refusedChoices.empty())
    return text;
  text += "; refused:";
  for (const std::string &choice : key.refusedChoices)
    text += " " + choice;
  return text;
}

/// The keys of `section` that are not sections themselves.
static std::string tableOf(const std::string &section) {
  const std::vector<const ConfigKey *> &keys = keysOf(section);
  const auto hasTypes = [](const ConfigKey *key) { return !key->types.empty(); };
  const bool isTyped = std::any_of(keys.begin(), keys.end(), hasTypes);
  std::string text = isTyped ? "| key | for | value | default | status | meaning |\n|---|---|---|---|---|---|\n"
                             : "| key | value | default | status | meaning |\n|---|---|---|---|---|\n";
  for (const ConfigKey *key : keys) {
    if (key->kind == KeyKind::Section)
      continue;
    text += "| `" + key->name + "` | ";
    for (size_t i = 0; i < key->types.size(); ++i)
      text += (i > 0 ? ", " : "") + key->types[i];
    text += (isTyped ? " | " : "") + cell(expectation(*key)) + " | " + cell(defaultOf(*key)) + " | " +
            statusText(*key) + " | " + cell(meaningOf(*key)) + " |\n";
  }
  return text;
}

static bool hasPlainKeys(const std::string &section) {
  for (const ConfigKey *key : keysOf(section))
    if (key->kind != KeyKind::Section)
      return true;
  return false;
}

std::string describeConfigKeys() {
  std::string text = introduction;
  text += "\n## Top level\n\n" + tableOf("");
  bool takesAuto = false;
  for (const ConfigKey &key : configKeys()) {
    if (key.kind != KeyKind::Section)
      continue;
    takesAuto = key.takesAuto || (takesAuto && !key.section.empty());
    text += "\n## " + key.path + "\n\n" + key.meaning + (takesAuto ? " (\"auto\")" : "") + "\n";
    if (hasPlainKeys(key.path))
      text += "\n" + tableOf(key.path);
  }
  return text;
}

} // namespace ds
