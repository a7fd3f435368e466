// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "TrainedTensors.h"

#include "ds/Dialect/Names.h"

#include "absl/strings/str_cat.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace ds;
using Kind = TensorDoubt::Kind;

//===----------------------------------------------------------------------===//
// What the config says
//===----------------------------------------------------------------------===//

static bool isMatched(const std::vector<std::string> &expressions, const std::string &name) {
  return llvm::any_of(expressions,
                      [&](const std::string &expression) { return matchNames("", {expression}, {name}).ok(); });
}

std::function<std::optional<TensorRole>(StringRef)> ds::findRoleBy(const ModelConfig &model) {
  return [&model](StringRef name) -> std::optional<TensorRole> {
    if (isMatched(model.parameters, name.str()))
      return TensorRole::Parameter;
    if (isMatched(model.buffers, name.str()))
      return TensorRole::Buffer;
    return std::nullopt;
  };
}

absl::Status ds::checkRoles(const ModelConfig &model, const std::vector<std::string> &tensors) {
  absl::StatusOr<std::vector<bool>> areParameters = matchNames("model.parameters", model.parameters, tensors);
  if (!areParameters.ok())
    return areParameters.status();
  absl::StatusOr<std::vector<bool>> areBuffers = matchNames("model.buffers", model.buffers, tensors);
  if (!areBuffers.ok())
    return areBuffers.status();
  for (size_t i = 0; i < tensors.size(); ++i)
    if ((*areParameters)[i] && (*areBuffers)[i])
      return absl::InvalidArgumentError(absl::StrCat(
          "\"model.parameters\" and \"model.buffers\" must not match the same tensor, got \"", tensors[i], "\""));
  return absl::OkStatus();
}

std::vector<std::string> ds::parameterNames(ModuleOp module) {
  std::vector<std::string> names;
  for (VariableOp variable : module.getOps<VariableOp>())
    if (variable.getRole() == VariableRole::Parameter)
      names.push_back(nameOf(variable).str());
  return names;
}

absl::StatusOr<Ties> ds::tieParameters(ModuleOp module, const ModelConfig &model, StringRef modelFolder) {
  if (!model.tied)
    return findTies(module, modelFolder);
  std::vector<std::vector<std::string>> groups;
  const std::vector<std::string> names = parameterNames(module);
  for (const std::vector<std::string> &expressions : *model.tied) {
    absl::StatusOr<std::vector<bool>> isMember = matchNames("model.tied", expressions, names);
    if (!isMember.ok())
      return isMember.status();
    groups.emplace_back();
    for (size_t i = 0; i < names.size(); ++i)
      if ((*isMember)[i])
        groups.back().push_back(names[i]);
  }
  if (const std::string problem = tieGroups(module, modelFolder, groups); !problem.empty())
    return absl::InvalidArgumentError("\"model.tied\": " + problem);
  return Ties();
}

//===----------------------------------------------------------------------===//
// What to tell the user
//===----------------------------------------------------------------------===//

/// A name with its numbers written as N, so that equal layers are one entry of a list.
static std::string withoutNumbers(StringRef name) {
  SmallVector<StringRef> parts;
  name.split(parts, '.');
  for (StringRef &part : parts)
    if (!part.empty() && llvm::all_of(part, llvm::isDigit))
      part = "N";
  return llvm::join(parts, ".");
}

/// Names, each form of a name once: cls_token, layers.N.mlp.gate (12).
static std::string listOf(const std::vector<std::string> &names) {
  std::vector<std::string> forms, texts;
  llvm::StringMap<std::vector<std::string>> members;
  for (const std::string &name : names) {
    std::vector<std::string> &group = members[withoutNumbers(name)];
    if (group.empty())
      forms.push_back(withoutNumbers(name));
    group.push_back(name);
  }
  for (const std::string &form : forms)
    texts.push_back(members[form].size() == 1 ? members[form].front()
                                              : absl::StrCat(form, " (", members[form].size(), ")"));
  return llvm::join(texts, ", ");
}

static std::vector<std::string> namesOf(const ImportedModel &model, Kind kind) {
  std::vector<std::string> names;
  for (const TensorDoubt &doubt : model.doubts)
    if (doubt.kind == kind)
      names.push_back(doubt.name);
  return names;
}

std::string ds::warnOfExporter(const ImportedModel &model) {
  const std::vector<std::string> shared = namesOf(model, Kind::Shared), renamed = namesOf(model, Kind::Renamed);
  std::string text;
  if (!shared.empty())
    absl::StrAppend(&text, "\n  merged, it seems, and trained as one: ", listOf(shared),
                    " (all elements equal, and the weight of several norms)");
  const auto isOfOptimizer = [](const std::string &name) { return StringRef(name).starts_with("val_"); };
  if (llvm::any_of(renamed, isOfOptimizer) || (!shared.empty() && !renamed.empty()))
    absl::StrAppend(&text, "\n  renamed, and transposed as a rule: ", listOf(renamed));
  if (text.empty())
    return "";
  return "warning: the exporter's optimizer has changed parameters, so that training differs from PyTorch's:" + text +
         "\n  export with dynamo=False, do_constant_folding=False and training=torch.onnx.TrainingMode.TRAINING "
         "(README.md), or with dynamo=True, optimize=False";
}

/// A line of the note: a heading, then names.
static void addLine(std::string &text, const char *heading, const std::vector<std::string> &names) {
  if (!names.empty())
    absl::StrAppend(&text, "\n  ", heading, ": ", listOf(names));
}

std::string ds::noteAssumptions(const ImportedModel &model, const Ties &ties) {
  std::string text;
  addLine(text, "trained, or a buffer? (\"buffers\" keeps it as it is)", namesOf(model, Kind::Parameter));
  addLine(text, "not trained, by its name (\"parameters\" trains it)", namesOf(model, Kind::Buffer));
  addLine(text, "neither trained nor saved (\"parameters\" trains it)", namesOf(model, Kind::Constant));
  if (warnOfExporter(model).empty())
    addLine(text, "trained under a name that the exporter's constant folding made", namesOf(model, Kind::Renamed));
  for (const TiedParameter &tied : ties.tied)
    absl::StrAppend(&text, "\n  trained as one: ", tied.kept, " and its folded transpose ", tied.copy,
                    " (\"tied\": [] parts them)");
  llvm::StringSet<> groups;
  for (const std::vector<std::string> &group : ties.apart)
    if (groups.insert(listOf(group)).second)
      absl::StrAppend(&text, "\n  trained apart, though they begin equal: ", listOf(group),
                      " (\"tied\" makes them one)");
  if (text.empty())
    return "";
  return "note: the model file does not tell for sure what is trained; keys of \"model\" in ds_config.json do "
         "(docs/config.md):" +
         text;
}
