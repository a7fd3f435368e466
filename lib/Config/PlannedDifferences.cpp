// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ConfigKey.h"
#include "KeyValue.h"

#include <set>

namespace ds {

using namespace config;

/// What `config` asks for once the batch sizes that it leaves out are filled in, so that two spellings of the same
/// batch are equal.
static absl::StatusOr<TrainingConfig> withWholeBatch(TrainingConfig config, int64_t dataParallelRanks) {
  const absl::StatusOr<Batch> batch = resolveBatch(config, dataParallelRanks);
  if (!batch.ok())
    return batch.status();
  config.batch = {batch->train, std::nullopt, batch->accumulation};
  return config;
}

/// The value of the selector of `section` ("Adam"), or an empty string.
static std::string typeIn(TrainingConfig &config, const ConfigKey &section) {
  for (const ConfigKey *key : keysOf(section.section))
    if (key->name == section.selector && key->field)
      if (const Json value = loadField(key->field(config)); value.is_string())
        return value.get<std::string>();
  return "";
}

static std::string textOf(const Json &value) { return value.is_null() ? "none" : value.dump(); }

absl::StatusOr<std::vector<PlannedDifference>>
plannedDifferences(const TrainingConfig &planned, const TrainingConfig &given, int64_t dataParallelRanks) {
  absl::StatusOr<TrainingConfig> before = withWholeBatch(planned, dataParallelRanks);
  absl::StatusOr<TrainingConfig> after = withWholeBatch(given, dataParallelRanks);
  if (!before.ok() || !after.ok())
    return before.ok() ? after.status() : before.status();
  std::vector<PlannedDifference> differences;
  std::set<std::string> freeSections;
  std::string typeBefore, typeAfter;
  for (const ConfigKey &key : configKeys()) {
    const bool isFree = key.isReadByRuns || freeSections.count(key.section) != 0;
    if (key.kind == KeyKind::Section && isFree)
      freeSections.insert(key.path);
    if (!key.selector.empty()) {
      typeBefore = typeIn(*before, key);
      typeAfter = typeIn(*after, key);
    }
    if (isFree || !key.field || key.status != KeyStatus::Honoured)
      continue;
    // Of two optimizers the difference of the kinds says it all.
    if (!key.existsFor(typeBefore) || !key.existsFor(typeAfter))
      continue;
    const Json old = loadField(key.field(*before)), now = loadField(key.field(*after));
    if (old != now)
      differences.push_back({key.path, textOf(old), textOf(now)});
  }
  return differences;
}

} // namespace ds
