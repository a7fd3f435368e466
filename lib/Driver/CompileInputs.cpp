// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Driver/CompileInputs.h"

#include "MachineProbe.h"

#include "ds/Codegen/CompilerIdentity.h"
#include "ds/Codegen/Cpu.h"
#include "ds/Config/Machine.h"
#include "ds/Config/TrainingConfig.h"
#include "ds/Files/ContentHash.h"
#include "ds/Import/Onnx.h"
#include "ds/Runtime/StatusMacros.h"

#include "absl/strings/str_cat.h"
#include "llvm/Support/Path.h"

using namespace ds;

static absl::StatusOr<CompileInputs::ModelFile> describe(const File &file, const std::string &path) {
  CompileInputs::ModelFile described;
  described.path = path;
  DS_ASSIGN_OR_RETURN(described.bytes, file.size());
  ContentHash hash;
  DS_RETURN_IF_ERROR(hash.add(file));
  described.hash = hash.hex();
  return described;
}

static absl::StatusOr<std::vector<CompileInputs::ModelFile>> readModelFiles(const std::string &model) {
  const std::string name = llvm::sys::path::filename(model).str();
  const std::string folder = llvm::sys::path::parent_path(model).str();
  std::vector<CompileInputs::ModelFile> files;
  DS_ASSIGN_OR_RETURN(const File file, File::open(model));
  DS_ASSIGN_OR_RETURN(files.emplace_back(), describe(file, name));
  for (const std::string &path : externalFiles(model)) {
    const absl::StatusOr<File> external = File::openBelow(folder, path);
    if (!external.ok())
      continue; // the import refuses it, and names the tensor
    DS_ASSIGN_OR_RETURN(files.emplace_back(), describe(*external, path));
  }
  return files;
}

static absl::Status readUserFiles(const CompileOptions &options, CompileInputs &inputs) {
  if (!options.configPath.empty()) {
    DS_ASSIGN_OR_RETURN(inputs.config, readWholeFile(options.configPath, kMaxConfigBytes));
  }
  DS_ASSIGN_OR_RETURN(inputs.files, readModelFiles(options.modelPath));
  return absl::OkStatus();
}

absl::StatusOr<CompileInputs> ds::readInputs(const CompileOptions &options) {
  CompileInputs inputs;
  inputs.compiler = compilerIdentity();
  DS_ASSIGN_OR_RETURN(const Machine machine, findMachine(options.machine));
  inputs.machine = printMachine(machine);
  std::string error;
  const std::optional<std::string> target = describeCpu(options.cpu, error);
  if (!target)
    return absl::UnimplementedError(absl::StrCat("--cpu ", error));
  inputs.target = *target;
  if (options.isMachineProbe) {
    inputs.config = kMachineProbeConfig;
  } else {
    DS_RETURN_IF_ERROR(readUserFiles(options, inputs));
  }
  inputs.axes = options.axes;
  if (llvm::none_of(inputs.axes, [](llvm::StringRef axis) { return axis.starts_with("dp="); }))
    inputs.axes.insert(inputs.axes.begin(), "dp=1"); // samples need an axis, be it of one rank
  inputs.layouts = options.layouts;
  inputs.dims = options.dims;
  inputs.inputShapes = options.inputShapes;
  inputs.zeroStage = options.zeroStage;
  inputs.isInference = options.isInference;
  inputs.memoryBudget = options.memoryBudget;
  return inputs;
}

//===----------------------------------------------------------------------===//
// The digest
//===----------------------------------------------------------------------===//

static void add(ContentHash &hash, const std::string &text) { hash.add(text); }
static void add(ContentHash &hash, int64_t number) { hash.add(number); }
static void add(ContentHash &hash, uint64_t number) { hash.add(static_cast<int64_t>(number)); }
static void add(ContentHash &hash, bool flag) { hash.add(int64_t(flag)); }
static void add(ContentHash &hash, const CompileInputs::ModelFile &file) {
  const auto &[path, bytes, content] = file;
  add(hash, path);
  add(hash, bytes);
  add(hash, content);
}
template <typename T> static void add(ContentHash &hash, const std::vector<T> &list) {
  hash.add(static_cast<int64_t>(list.size()));
  for (const T &entry : list)
    add(hash, entry);
}

std::string CompileInputs::key() const {
  // All fields by their number: one that is added and forgotten here does not compile.
  const auto &[compilerBuild, cpu, modelFiles, recipe, constants, meshAxes, givenLayouts, givenDims, givenShapes, stage,
               forInference, budget] = *this;
  ContentHash hash;
  std::apply([&](const auto &...field) { (add(hash, field), ...); },
             std::tie(compilerBuild, cpu, modelFiles, recipe, constants, meshAxes, givenLayouts, givenDims, givenShapes,
                      stage, forInference, budget));
  return hash.hex();
}
