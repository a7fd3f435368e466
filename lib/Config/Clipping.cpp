// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Config/TrainingConfig.h"

#include <algorithm>
#include <cmath>

namespace ds {

double clippingFactor(const TrainingConfig &config, double norm) {
  if (config.gradientClipping == 0)
    return 1.0;
  return std::isnan(norm) ? norm : std::min(1.0, config.gradientClipping / (norm + kClippingOffset));
}

} // namespace ds
