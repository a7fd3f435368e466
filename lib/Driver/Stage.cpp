// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Driver/Stage.h"

using namespace ds;

static constexpr llvm::StringLiteral kNames[] = {"import", "program", "placement", "kernels", "schedule", "plan"};
static constexpr size_t kNumStages = std::size(kNames);
static_assert(static_cast<size_t>(Stage::Plan) + 1 == kNumStages, "each stage must have a name");

llvm::StringRef ds::nameOf(Stage stage) { return kNames[static_cast<size_t>(stage)]; }

std::optional<Stage> ds::findStage(llvm::StringRef name) {
  for (size_t i = 0; i < kNumStages; ++i)
    if (kNames[i] == name)
      return static_cast<Stage>(i);
  return std::nullopt;
}

std::string ds::stageNames() {
  std::string names;
  for (size_t i = 0; i < kNumStages; ++i)
    names += (i == 0 ? "" : i + 1 == kNumStages ? " or " : ", ") + kNames[i].str();
  return names;
}
