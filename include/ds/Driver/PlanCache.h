// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Plans, kept from one compilation to the next.

#ifndef DS_DRIVER_PLANCACHE_H
#define DS_DRIVER_PLANCACHE_H

#include "ds/Plan/Plan.h"

#include <optional>

namespace ds {

/// A folder of plans by the keys of what they were made from, 32 at most. As a plan is a program, only the user's own
/// ones are taken (File::isOwn), out of a folder that is the user's own, and only if their bytes are those that were
/// put there for that key.
class PlanCache {
public:
  /// Makes the folder where it is missing; see fault(). Empty: nothing is kept.
  explicit PlanCache(std::string folder);

  /// A plan of the cache.
  struct Kept {
    std::string bytes;              ///< of its file
    std::vector<std::string> notes; ///< Plan.notes
  };
  std::optional<Kept> find(const std::string &key);
  /// Keeps a plan, and removes those used longest ago.
  void store(const std::string &key, const std::string &bytes);
  /// Why plans are not kept, if so.
  const std::optional<std::string> &fault() const { return firstFault; }

private:
  std::string pathOf(const std::string &key) const;
  void trim();
  void fail(const absl::Status &status);

  std::string folder; ///< empty: there is none
  std::optional<std::string> firstFault;
};

} // namespace ds

#endif // DS_DRIVER_PLANCACHE_H
