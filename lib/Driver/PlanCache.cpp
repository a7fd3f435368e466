// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Driver/PlanCache.h"

#include "ds/Files/Folder.h"
#include "ds/Files/PendingFile.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

#include <climits>
#include <sys/stat.h>
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
  const absl::StatusOr<File> file = File::open(pathOf(key));
  if (!file.ok() || !file->isOwn())
    return std::nullopt;
  absl::StatusOr<std::string> bytes = file->readAll(INT_MAX);
  if (!bytes.ok())
    return std::nullopt;
  const absl::StatusOr<std::unique_ptr<plan::PlanT>> plan = plan::readPlan(*bytes);
  if (!plan.ok() || (*plan)->key != key || (*plan)->fingerprint != plan::fingerprintOf(**plan))
    return std::nullopt;                   // made again, and put over it
  ::futimens(file->descriptor(), nullptr); // used now
  return Kept{*std::move(bytes), std::move((*plan)->notes)};
}

void PlanCache::store(const std::string &key, const std::string &bytes) {
  if (folder.empty())
    return;
  absl::StatusOr<PendingFile> file = PendingFile::create(pathOf(key));
  absl::Status status = file.status();
  if (status.ok())
    status = file->file().writeAt(0, bytes.data(), static_cast<int64_t>(bytes.size()));
  if (status.ok())
    status = file->commitToCache();
  if (!status.ok())
    return fail(status);
  trim();
}

void PlanCache::trim() {
  std::vector<std::pair<int64_t, std::string>> plans; // when used last, in nanoseconds
  for (const std::string &name : namesIn(folder)) {
    const std::string path = folder + "/" + name;
    struct stat status;
    // Also what a compiler that was killed left half-written.
    if (llvm::StringRef(name).contains(kExtension) && ::stat(path.c_str(), &status) == 0)
      plans.emplace_back(status.st_mtim.tv_sec * 1000000000 + status.st_mtim.tv_nsec, path);
  }
  llvm::sort(plans, std::greater<>());
  for (size_t i = kMaxPlans; i < plans.size(); ++i)
    ::unlink(plans[i].second.c_str());
}
