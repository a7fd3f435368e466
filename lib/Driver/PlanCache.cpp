// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Driver/PlanCache.h"

#include "ds/Files/CacheEntries.h"
#include "ds/Files/Folder.h"

#include "llvm/ADT/StringRef.h"

#include <climits>
#include <unistd.h>

using namespace ds;

static constexpr size_t kMaxPlans = 32;
static constexpr llvm::StringLiteral kExtension = ".dsplan";

PlanCache::PlanCache(std::string given) : folder(std::move(given)) {
  if (!folder.empty())
    if (absl::Status status = makeCacheFolder(folder); !status.ok()) {
      fail(status);
      folder.clear();
    }
}

void PlanCache::fail(const absl::Status &status) {
  if (!firstFault)
    firstFault = std::string(status.message());
}

std::string PlanCache::pathOf(const std::string &key) const { return folder + "/" + key + kExtension.str(); }

std::optional<PlanCache::Kept> PlanCache::find(const std::string &key) {
  if (folder.empty())
    return std::nullopt;
  std::optional<std::string> bytes = readCacheEntry(pathOf(key), INT_MAX);
  if (!bytes)
    return std::nullopt;
  const absl::StatusOr<std::unique_ptr<plan::PlanT>> plan = plan::readPlan(*bytes);
  if (!plan.ok() || (*plan)->key != key || (*plan)->fingerprint != plan::fingerprintOf(**plan))
    return std::nullopt; // made again, and put over it
  return Kept{*std::move(bytes), std::move((*plan)->notes)};
}

void PlanCache::store(const std::string &key, const std::string &bytes) {
  if (folder.empty())
    return;
  if (absl::Status status = writeCacheEntry(pathOf(key), bytes); !status.ok())
    return fail(status);
  trim();
}

void PlanCache::trim() {
  const std::vector<CacheEntry> plans = cacheEntries(folder, kExtension.str());
  for (size_t i = kMaxPlans; i < plans.size(); ++i)
    ::unlink(plans[i].path.c_str());
}
